// Lengths that checks make equal: lowering terminates, whichever of them is known first, and unifies all of them.
#include <doctest/doctest.h>

#include "bitale/bitale.hpp"
#include "bitale/graph/function_graph.hpp"
#include "lowering/lower.hpp"

using namespace bitale;

TEST_CASE("a cycle of equal lengths") {
  // x % parts fixes the number of rows of x at 3, and thereby the number of columns; the length of the sum was inferred
  // before.
  const Variable x = matrix("x"), parts = reshape(x, {3, -1});
  const Variable rest = mod(x, parts), total = sum(parts, std::vector<int>{0}) + argmin(x, 0);
  for (const Variables& outputs : {Variables{parts, rest, total}, {total, rest, parts}, {rest, total}})
    CHECK_NOTHROW(lowering::lower(FunctionGraph({x}, outputs)));
  FunctionOptions options;
  options.mode = Mode("jit", "None");
  const std::vector<Array> given{Array::full(DType::Float64, Dims{3, 2}, 1)};
  const Results results = function({x}, {parts, rest, total}, options).call(given);
  CHECK(results[1].shape() == Dims{3, 2});
  CHECK(results[2].shape() == Dims{2});
}
