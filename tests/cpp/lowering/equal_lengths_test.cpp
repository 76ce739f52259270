// Lengths that checks make equal: whichever becomes known first, lowering ends, and all of them are one length then.
#include <doctest/doctest.h>

#include "bitale/bitale.hpp"
#include "bitale/graph/function_graph.hpp"
#include "lowering/lower.hpp"

using namespace bitale;

TEST_CASE("lengths that are known to be equal in a circle") {
  // x % parts says that x has 3 rows, and with that what the number of columns is; the sum's length was inferred
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
