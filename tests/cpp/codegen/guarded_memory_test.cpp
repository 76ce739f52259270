// Generated code with every array at the end of a page, followed by an inaccessible one: loads hoisted out of a loop
// are not executed if the loop has no iterations.
#include <doctest/doctest.h>

#include "bitale/bitale.hpp"
#include "support/rerun.hpp"

using namespace bitale;

TEST_CASE("inner: a loop-invariant index into an empty array" * doctest::skip()) {
  const Variable x = vector("x"), y = vector("y");
  const Array empty = Array::zeros(DType::Float64, Dims{0});
  const std::vector<Array> inputs{empty, empty};
  for (const char* linker : {"jit", "c"}) {
    FunctionOptions options;
    options.mode = Mode(linker, "fast_run");
    const Results results = function({x, y}, {take(x, cast(y > y, DType::Int64))}, options).call(inputs);
    CHECK(results[0].shape() == Dims{0});
  }
}

TEST_CASE("guarded memory: an empty array is not read before a loop without iterations") {
  CHECK(testing::run_with("inner: a loop-invariant index into an empty array", "memory__guard=True,cache=False") == 0);
}
