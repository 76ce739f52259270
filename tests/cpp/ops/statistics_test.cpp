// First and second derivatives of the composed statistics, compared with closed forms and finite differences.
#include <doctest/doctest.h>

#include <cmath>

#include "bitale/autodiff/gradient.hpp"
#include "bitale/ops/ops.hpp"
#include "graph/evaluate.hpp"

using namespace bitale;

namespace {

const Array point{0.3, -1.2, 2.0, 0.3};
const Array matrix_2x3{{1.0, 5.0, 3.0}, {4.0, 2.0, 6.5}};

Array at(const Variable& output, const Variable& x, const Array& value) {
  return evaluate(output, {&x, 1}, {&value, 1});
}

}  // namespace

TEST_CASE("logsumexp: the gradient is softmax, the Hessian diag(p) - p p'") {
  const Variable x = dvector("x"), y = logsumexp(x);
  const Array p = at(softmax(x), x, point);
  CHECK(allclose(at(grad(y, x), x, point), p, 1e-14));
  const Array h = at(hessian(y, x), x, point);
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t k = 0; k < 4; ++k) {
      const double a = p.data_as<double>()[i], b = p.data_as<double>()[k];
      const std::int64_t position[] = {i, k};
      CHECK(h.at(position) == doctest::Approx((i == k ? a : 0) - a * b));
    }
}

TEST_CASE("logaddexp: equal operands have half of the gradient each") {
  const Variable x = dscalar("x"), y = dscalar("y"), z = logaddexp(x, y);
  const Variable inputs[] = {x, y};
  const Array equal_values[] = {Array(2.0), Array(2.0)}, infinite[] = {Array(-HUGE_VAL), Array(3.0)};
  for (auto& gradient : grad(z, Variables{x, y})) CHECK(evaluate(gradient, inputs, equal_values).item() == 0.5);
  const Variable second = grad(grad(z, x), x);
  CHECK(evaluate(second, inputs, equal_values).item() == doctest::Approx(0.25));
  CHECK(evaluate(grad(z, x), inputs, infinite).item() == 0);
  CHECK(evaluate(grad(z, y), inputs, infinite).item() == 1);
}

TEST_CASE("gradients agree with finite differences") {
  using Function = Variable (*)(const Variables&);
  const Function functions[] = {
      [](const Variables& v) { return mean(v[0], std::vector{1}); },
      [](const Variables& v) { return var(v[0], std::vector{0}, 1); },
      [](const Variables& v) { return std_(v[0]); },
      [](const Variables& v) { return logsumexp(v[0], std::vector{1}, KeepDims::Yes); },
      [](const Variables& v) { return softmax(v[0], std::vector{1}); },
      [](const Variables& v) { return log_softmax(v[0], std::vector{0}); },
      [](const Variables& v) { return prod(v[0], std::vector{1}); },
      [](const Variables& v) { return max(v[0], std::vector{0}); },
      // Second derivatives.
      [](const Variables& v) { return grad(sum(sqr(softmax(v[0], std::vector{1}))), v[0]); },
      [](const Variables& v) { return grad(sum(sqr(log_softmax(v[0], std::vector{1}))), v[0]); },
      [](const Variables& v) { return grad(std_(v[0]), v[0]); },
      [](const Variables& v) { return grad(sum(prod(v[0], std::vector{1})), v[0]); },
      [](const Variables& v) { return grad(sum(gammaln(v[0])), v[0]); },
      [](const Variables& v) { return grad(sum(psi(v[0])), v[0]); },
  };
  for (auto& f : functions) CHECK_NOTHROW(verify_grad(f, {matrix_2x3}));
}
