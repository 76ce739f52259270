// The hypergeometric function where transformations meet, and where digits cancel. Expected values were computed by
// mpmath with 50 digits.
#include "runtime/hypergeometric.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace {

bool agrees(double got, double expected) { return std::fabs(got - expected) <= 4e-15 * std::fabs(expected); }

}  // namespace

TEST_CASE("the hypergeometric function") {
  CHECK(agrees(bt_hyp2f1(0.5, 0.75, 1.25, 0.3), 1.11010646541777706));
  CHECK(agrees(bt_hyp2f1(1, 1, 2, -1), 0.693147180559945309));
  CHECK(agrees(bt_hyp2f1(2.5, -1.5, 0.5, 0.76), -0.937338074905029428));
  CHECK(agrees(bt_hyp2f1(1, 2, 3, 0.99), 7.3771455687952057));
  CHECK(agrees(bt_hyp2f1(0.3, 0.7, 1, 1 - 0x1p-30), 6.27379309789829679));
  CHECK(agrees(bt_hyp2f1(1.5, 2, 1, -10000000000), -4.99999999775e-16));
  CHECK(agrees(bt_hyp2f1(100, 75.5, 30, -0.9), -2.10761754664868485e-44));
  CHECK(agrees(bt_hyp2f1(20.5, -30.25, 4, 0.95), -4.69294861483775324e-13));
  CHECK(agrees(bt_hyp2f1(-7, 2.5, 1.5, 8), -5215772.33333333333));
  CHECK(agrees(bt_hyp2f1(50, 60, 2, 0.7), 6.11292326094159091e+81));
}

TEST_CASE("its derivatives with respect to parameters") {
  CHECK(agrees(bt_hyp2f1_derivative(0.5, 0.75, 1.25, 0.3), 0.235723949447324002));
  CHECK(agrees(bt_hyp2f1_derivative_by_c(0.5, 0.75, 1.25, 0.3), -0.0986645067201200136));
  CHECK(agrees(bt_hyp2f1_derivative(1.0, 1.0, 2.0, -1.0), -0.240226506959100712));
  CHECK(agrees(bt_hyp2f1_derivative_by_c(1.0, 1.0, 2.0, -1.0), 0.110906654094932804));
  CHECK(agrees(bt_hyp2f1_derivative(2.5, -1.5, 0.5, 0.76), 0.847477058474249138));
  CHECK(agrees(bt_hyp2f1_derivative_by_c(2.5, -1.5, 0.5, 0.76), 0.476336064736570507));
  CHECK(agrees(bt_hyp2f1_derivative(1.0, 2.0, 3.0, 0.99), 19.7119639277964964));
  CHECK(agrees(bt_hyp2f1_derivative_by_c(1.0, 2.0, 3.0, 0.99), -11.7940340578533448));
}

TEST_CASE("where it is undefined or infinite") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CHECK(std::isnan(bt_hyp2f1(1, 1, 2, 1.5)));
  CHECK(std::isnan(bt_hyp2f1(1, infinity, 2, 0.5)));
  CHECK(std::isnan(bt_hyp2f1_derivative(1, 1, 2, 1.5)));
  CHECK(std::isnan(bt_hyp2f1_derivative(1, 1, -2, 0.5)));
  CHECK(bt_hyp2f1(1, 1, 2, 1) == infinity);
  CHECK(bt_hyp2f1(1, 2, -3, 0.5) == infinity);
  CHECK(bt_hyp2f1_derivative_by_c(0, 1, 2, 0.5) == 0);
}
