// The compiled mathematical functions of the registry, compared with references in a wider format.
#include <doctest/doctest.h>

#include <cstring>

#include "bitale/core/text.hpp"
#include "bitale/runtime/functions.hpp"
#include "program/interpret.hpp"
#include "support/math_reference.hpp"

using namespace bitale;
using namespace bitale::test;

namespace {

// Native means arithmetic only, except for calls that handle rare arguments.
struct Expansion {
  program::ExprPool pool;
  std::vector<program::Expr> variables;
  program::Expr root;

  Expansion(const ScalarOp& op, DType dtype) {
    for (int i = 0; i < op.arity; ++i) variables.push_back(pool.var(i, dtype));
    root = op.expand(variables, dtype);
  }
  bool is_native() {
    bool calls = false;
    program::ExprWalk()(root, [&](program::Expr expr) { calls |= expr.code() == program::Code::call; });
    return !calls;
  }
};

template <class T>
bool same_bits(T a, T b) {
  return std::isnan(a) ? std::isnan(b) : std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T>
void check_accuracy(const ScalarOp& op, const MathReference& reference) {
  constexpr DType dtype = dtype_of<T>::value;
  constexpr std::int64_t count = 6000, interpreted = 200;
  Expansion expansion(op, dtype);
  if (!expansion.is_native()) return;
  INFO(cat(op.name, " ", dtype_name(dtype)));
  MathPoints<T> points(op, reference);
  std::vector<Array> inputs;
  for (int i = 0; i < op.arity; ++i) inputs.push_back(Array::empty(dtype, {count}));
  T point[2] = {};
  for (std::int64_t k = 0; k < count; ++k) {
    points.next(std::span(point, std::size_t(op.arity)));
    for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i].mutable_data_as<T>()[k] = point[i];
  }
  const Array values = CompiledMath(op, dtype)(inputs);
  const T *x = inputs[0].data_as<T>(), *y = inputs.back().data_as<T>(), *got = values.data_as<T>();
  const program::Interpreter interpreter(expansion.root, expansion.variables, runtime::find_symbol);
  double worst = 0;
  std::int64_t at = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    const double error = reference.error(got[k], x[k], y[k]);
    if (error > worst) worst = error, at = k;
    if (k >= interpreted) continue;
    const double arguments[] = {double(x[k]), double(y[k])};
    const T expected = T(interpreter(std::span(arguments, inputs.size())));
    CHECK_MESSAGE(same_bits(got[k], expected), cat("compiled and interpreted differ at ", x[k], ", ", y[k]));
  }
  CHECK_MESSAGE(worst <= reference.allowed, cat(worst, " ulp at ", x[at], ", ", y[at]));
}

}  // namespace

TEST_CASE("every mathematical scalar op has a reference") {
  for (auto* op : mathematical_ops()) {
    const bool known = math_reference(op->name) != nullptr;
    CHECK_MESSAGE(known, cat(op->name, ": add it to tests/cpp/support/math_reference.cpp"));
  }
}

TEST_CASE("errors are measured in units in the last place") {
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(error_in_ulps(1.0, 1.0L) == 0);
  CHECK(error_in_ulps(1.0f, 1.0 + 0x1p-23) == 1);
  CHECK(error_in_ulps(1.0f, 1.0 - 0x1p-25) == 0.5);
  CHECK(error_in_ulps(0.0f, 0x1p-150) == 0.5);
  CHECK(error_in_ulps(std::numeric_limits<float>::infinity(), double(std::numeric_limits<float>::max())) == 1);
  CHECK(error_in_ulps(std::numeric_limits<float>::max(), 1e300) == 1);
  CHECK(error_in_ulps(std::numeric_limits<float>::max(), inf) == inf);
  CHECK(error_in_ulps(0.75f, 0.75 + 0x1p-23, 4) == 0.25);
  CHECK(error_in_ulps(-0.0f, 0.0) == inf);
  CHECK(error_in_ulps(0.0f, std::nan("")) == inf);
  CHECK(error_in_ulps(std::nanf(""), std::nan("")) == 0);
}

TEST_CASE("native functions are within their error bounds, and compiled code agrees with the interpreter") {
  for (auto* op : mathematical_ops()) {
    const MathReference* reference = math_reference(op->name);
    if (!reference) continue;
    check_accuracy<float>(*op, *reference);
    check_accuracy<double>(*op, *reference);
  }
}
