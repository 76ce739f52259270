// Ranks, norms, pseudo-inverses by a tolerance, and other functions with the array-API standard's arguments: values and
// refused input.
#include "bitale/ops/matrix_rank.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "bitale/core/error.hpp"
#include "bitale/ops/calculus.hpp"
#include "bitale/ops/creation.hpp"
#include "bitale/ops/norms.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/sorting.hpp"
#include "bitale/ops/statistics.hpp"
#include "graph/evaluate.hpp"

using namespace bitale;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
Array value(const Variable& v) { return evaluate(v); }
const Array deficient{{1.0, 2.0}, {2.0, 4.0}};
const Array graded{{1.0, 0.0}, {0.0, 1e-6}};

}  // namespace

TEST_CASE("the rank is the number of singular values that count") {
  CHECK(value(matrix_rank(constant(deficient))).int_item() == 1);
  CHECK(value(matrix_rank(constant(graded))).int_item() == 2);
  CHECK(value(matrix_rank(constant(graded), {.rtol = 1e-3})).int_item() == 1);
  CHECK(value(matrix_rank(constant(graded), {.tol = 2.0})).int_item() == 0);
  CHECK(value(matrix_rank(stack({constant(deficient), constant(graded)}))).str() == Array{1, 2}.str());
  CHECK(value(matrix_rank(constant(Array{0.0, 3.0}))).int_item() == 1);
  CHECK(matrix_rank(matrix("x", DType::Float32)).dtype() == DType::Int64);
  CHECK_THROWS_AS(matrix_rank(matrix("x"), {.tol = 1.0, .rtol = 1.0}), ValueError);
}

TEST_CASE("a pseudo-inverse takes small singular values as 0") {
  CHECK(allclose(value(pinv(constant(graded), Operand(1e-3))), Array{{1.0, 0.0}, {0.0, 0.0}}, 1e-12, 1e-15));
  CHECK(allclose(value(pinv(constant(graded), Operand(1e-9))), Array{{1.0, 0.0}, {0.0, 1e6}}, 1e-9, 1e-9));
}

TEST_CASE("norms along axes, and of matrices") {
  const Variable x = constant(Array{{3.0, -4.0}, {0.0, 12.0}});
  CHECK(value(vector_norm(x)).item() == 13);
  CHECK(value(vector_norm(x, 1, {{1}})).str() == Array{7.0, 12.0}.str());
  CHECK(value(vector_norm(x, 0, {{0}}, KeepDims::Yes)).str() == Array{{1.0, 2.0}}.str());
  CHECK(value(vector_norm(x, inf)).item() == 12);
  CHECK(value(vector_norm(x, -inf)).item() == 0);
  CHECK(value(vector_norm(constant(Array{1.0, 2.0}), 3)).item() == doctest::Approx(2.080083823051904));
  CHECK(value(matrix_norm(x)).item() == 13);
  CHECK(value(matrix_norm(x, 1.0)).item() == 16);
  CHECK_THROWS_AS(matrix_norm(vector("v")), ValueError);
}

TEST_CASE("a symbolic diagonal, corrections that are fractions, and differences with ends") {
  const Variable k = constant(Array(std::int64_t(-1)));
  CHECK(value(eye(2, 3, k)).str() == Array{{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}}.str());
  CHECK_THROWS_AS(eye(2, {}, scalar("k")), TypeError);
  const Variable x = constant(Array{1.0, 2.0, 4.0});
  CHECK(value(var(x, all_axes, 0.5)).item() == doctest::Approx(14.0 / 3 / 2.5));
  CHECK(value(std_(x, all_axes, 1)).item() == doctest::Approx(std::sqrt(7.0 / 3)));
  CHECK(value(diff(x, {.prepend = 0.0, .append = x})).str() == Array{1.0, 1.0, 2.0, -3.0, 1.0, 2.0}.str());
  CHECK(value(sort(x, -1, SortOrder::Decreasing)).str() == Array{4.0, 2.0, 1.0}.str());
}
