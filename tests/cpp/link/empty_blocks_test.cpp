// A product that is added up block by block of rows is zero where there are no rows.
#include <doctest/doctest.h>

#include "bitale/compile/function.hpp"
#include "bitale/ops/ops.hpp"

using namespace bitale;

TEST_CASE("a sum of products over no rows is written") {
  const Variable g = dmatrix("g"), h = dmatrix("h"), v = dmatrix("v");
  auto f = function({g, h, v}, {dot(transpose(g), switch_(eq(dot(g, h), v), v, 1.))});
  for (int again = 0; again < 3; ++again) {
    const Array out = f({Array::full(DType::Float64, {0, 2}, 1.), Array::full(DType::Float64, {2, 3}, 1.),
                         Array::full(DType::Float64, {0, 3}, 1.)});
    REQUIRE(out.shape(0) == 2);
    REQUIRE(out.shape(1) == 3);
    const Array values = out.contiguous();
    for (int k = 0; k < 6; ++k) CHECK(values.data_as<double>()[k] == 0.);
  }
}
