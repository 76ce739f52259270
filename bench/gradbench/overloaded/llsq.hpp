// Least squares: how far a polynomial with the coefficients x is from the sign, at n points from -1 to 1.
#pragma once

#include "tapes.hpp"

namespace gradbench {

template <class Scalar>
Scalar half_square_error(const std::vector<Scalar>& x, std::int64_t n) {
  Scalar total = 0.;
  for (std::int64_t i = 0; i < n; ++i) {
    const double t = -1 + double(i) * 2 / double(n - 1);
    Scalar residual = double(t > 0) - double(t < 0);
    double power = 1;
    for (const Scalar& coefficient : x) {
      residual -= coefficient * power;
      power *= t;
    }
    total += residual * residual;
  }
  return 0.5 * total;
}

template <class Tape>
Prepared llsq(const Json& input) {
  const auto x = numbers_field(input, "x", 1);
  const std::int64_t n = count_field(input, "n");
  return gradient_of<Tape>([=](const auto& s) { return half_square_error(s, n); }, x.values, x.shape);
}

}  // namespace gradbench
