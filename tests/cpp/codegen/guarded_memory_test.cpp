// Generated code with every array at the end of a page, behind which nothing may be touched: loads that are there only
// when a loop has iterations are not made when it has none.
#include <doctest/doctest.h>

#include "bitale/bitale.hpp"
#include "support/rerun.hpp"

using namespace bitale;

TEST_CASE("inner: an index of an empty array that does not depend on the loop" * doctest::skip()) {
  const Variable x = vector("x"), y = vector("y");
  const Array none = Array::zeros(DType::Float64, Dims{0});
  const std::vector<Array> given{none, none};
  for (const char* linker : {"jit", "c"}) {
    FunctionOptions options;
    options.mode = Mode(linker, "fast_run");
    const Results results = function({x, y}, {take(x, cast(y > y, DType::Int64))}, options).call(given);
    CHECK(results[0].shape() == Dims{0});
  }
}

TEST_CASE("guarded memory: an empty array is not read before a loop without iterations") {
  CHECK(testing::run_with("inner: an index of an empty array that does not depend on the loop",
                          "memory__guard=True,cache=False") == 0);
}
