// Bounds of values, inferred from expressions: never tighter than the values.
#include "ops/analysis/range.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "bitale/ops/ops.hpp"

using namespace bitale;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

bool lies_in(const Variable& v, double low, double high) {
  const Range range = range_of(v);
  const auto near = [](double a, double b) { return a == b || std::abs(a - b) < 1e-12; };
  return near(range.low, low) && near(range.high, high);
}
bool always(const Variable& condition) { return range_of(condition).is_always(1); }

}  // namespace

TEST_CASE("bounds of functions") {
  const Variable x = vector("x"), n = lvector("n");
  CHECK(lies_in(x, -inf, inf));
  CHECK(lies_in(exp(x), 0, inf));
  CHECK(range_of(exp(x)).is_positive());
  CHECK_FALSE(range_of(abs(x)).is_positive());
  CHECK(lies_in(sigmoid(x), 0, 1));
  CHECK(lies_in(1 - 2 * sigmoid(x), -1, 1));
  CHECK(lies_in(tanh(abs(x)), 0, 1));
  CHECK(lies_in(clip(x, 0.01, 100), 0.01, 100));
  CHECK(lies_in(log(clip(x, 1, 100)), 0, std::log(100)));
  CHECK(lies_in(log(x), -inf, inf));
  CHECK(lies_in(sqr(x - 3) + 2, 2, inf));
  CHECK(lies_in(-exp(x) / (1 + sqr(x)), -inf, 0));
  CHECK(range_of(-exp(x)).is_negative());
  CHECK(lies_in(floor(sigmoid(x)), 0, 1));
  CHECK_FALSE(range_of(floor(sigmoid(x))).is_positive());
  CHECK(lies_in(switch_(gt(x, 0), 2, constant(Array{-1.0, 3.0})), -1, 3));
  CHECK(lies_in(constant(Array{1.0, std::nan("")}), -inf, inf));
  CHECK(lies_in(reciprocal(1 + abs(x)), 0, 1));
  CHECK(range_of(reciprocal(1 + abs(x))).is_positive());
  CHECK(lies_in(cast(n, DType::Int8), -128, 127));
  CHECK(lies_in(tensor("u", DType::UInt8, {3}) + tensor("u", DType::UInt8, {3}), 0, 255));
}

TEST_CASE("bounds of other ops") {
  const Variable m = matrix("m");
  CHECK(lies_in(sum(exp(m)), 0, inf));
  CHECK_FALSE(range_of(sum(exp(m))).is_positive());  // 0 if it is empty
  CHECK(range_of(prod(exp(m))).is_positive());
  CHECK(lies_in(max(sigmoid(m), std::vector<int>{0}), 0, 1));
  CHECK(range_of(transpose(exp(m))).is_positive());
  CHECK(range_of(subtensor(exp(m), {IndexItem(1)})).is_positive());
  CHECK(range_of(shape_i(m, 0)).low == 0);
  CHECK(lies_in(join(0, {sigmoid(m), 1 + sigmoid(m)}), 0, 2));
  CHECK(lies_in(std_(m), 0, inf));
}

TEST_CASE("conditions that always hold") {
  const Variable x = vector("x");
  CHECK(always(gt(exp(x), 0)));
  CHECK(always(ge(abs(x), 0)));
  CHECK_FALSE(always(gt(abs(x), 0)));
  CHECK(always(and_(gt(sigmoid(x), 0), lt(sigmoid(x), 1))));
  CHECK(always(gt(clip(x, 0.5, 2), 0.4)));
  CHECK(always(neq(exp(x), -1)));
  CHECK_FALSE(always(lt(exp(x), inf)));
  CHECK_FALSE(always(gt(x, 0)));
  CHECK(range_of(lt(exp(x), 0)).is_always(0));
}

TEST_CASE("the search for bounds ends in deep and wide expressions") {
  Variable x = exp(vector("x"));
  for (int i = 0; i < 1000; ++i) x = x + exp(x * 0.5);
  CHECK(range_of(x).high == inf);
}
