// Special functions at points where formulas lose digits, or need unbounded time or memory. Expected values were
// computed with 60 digits.
#include "runtime/special.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

bool close(double got, double expected, double relative = 4e-16) {
  return std::fabs(got - expected) <= relative * std::fabs(expected);
}

}  // namespace

TEST_CASE("digamma next to its poles") {
  CHECK(close(bt_digamma(-1e-10), 9999999999.42278397));
  CHECK(close(bt_digamma(-1.0000000000009095), 1099511627776.42278));
  CHECK(close(bt_digamma(-1.9999999999999716), -35184372088831.0772));
  CHECK(close(bt_digamma(-0.999999999), -1000000027.85914793));
  CHECK(close(bt_digamma(-1000.0000001), 10000010.3441087518));
  CHECK(close(bt_digamma(-0.25), 2.91413912021352783));
  CHECK(close(bt_digamma(-7.5), 2.08009081757942012));
  CHECK(std::isnan(bt_digamma(-3)));
  CHECK(std::isnan(bt_digamma(-0x1p60)));
  CHECK(bt_digamma(-0.0) == inf);
}

TEST_CASE("polygamma of large orders") {
  CHECK(close(bt_polygamma(21, -0.3), 1.62808213675243675e+31, 1e-13));
  CHECK(close(bt_polygamma(30, -2.75), -1.22326290494375949e+51, 1e-13));
  CHECK(close(bt_polygamma(60, -100.125), 1.02015005167029661e+137, 1e-13));
  CHECK(close(bt_polygamma(100, -3.0625), 3.85586573523899766e+279, 1e-13));
  CHECK(close(bt_polygamma(25, -0.0078125), 9.50834408993557069e+79, 1e-13));
  CHECK(close(bt_polygamma(150, 3.5), -4.00514933791833357e+180, 1e-13));
  CHECK(close(bt_polygamma(40, -999999.75), -3.94552421014626834e+72, 1e-13));
  // SciPy's factorial is infinite beyond 170.
  CHECK(bt_polygamma(171, -0.5) == inf);
  CHECK(bt_polygamma(1e5, -1000.3) == inf);
  CHECK(bt_polygamma(1e5, -1000.75) == -inf);
  CHECK(bt_polygamma(1e9 + 1, 0.5) == inf);
  CHECK(bt_polygamma(1e9, 0.5) == -inf);
  CHECK(std::isnan(bt_polygamma(1e9, 2)));
}

TEST_CASE("the normal distribution function in its tails") {
  CHECK(close(bt_ndtr(-1.0), 0.158655253931457051));
  CHECK(close(bt_log_ndtr(-1.0), -1.84102164500926351));
  CHECK(close(bt_ndtr(-10.0), 7.61985302416052607e-24));
  CHECK(close(bt_log_ndtr(-10.0), -53.2312851505124706));
  CHECK(close(bt_ndtr(-37.5), 4.60535300958195484e-308));
  CHECK(close(bt_log_ndtr(-37.5), -707.668989317507191));
  CHECK(close(bt_ndtr(-38.4), 6.60159985432676802e-323, 1e-3));
  CHECK(close(bt_log_ndtr(-38.4), -741.847673015248313));
  CHECK(close(bt_ndtr(5.0), 0.999999713348428121));
  CHECK(close(bt_log_ndtr(5.0), -2.86651612963763593e-7));
  CHECK(close(bt_log_ndtr(-1e10), -5.0e+19));
}
