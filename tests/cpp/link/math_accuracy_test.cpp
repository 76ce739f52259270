// The mathematical functions of the registry, compiled, against references in a wider format.
#include <doctest/doctest.h>

#include "bitale/core/text.hpp"
#include "support/math_reference.hpp"

using namespace bitale;
using namespace bitale::test;

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
  CHECK(error_in_ulps(-0.0f, 0.0) == inf);
  CHECK(error_in_ulps(0.0f, std::nan("")) == inf);
  CHECK(error_in_ulps(std::nanf(""), std::nan("")) == 0);
}
