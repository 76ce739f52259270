// Rodrigues' rotation of a point in space by a vector, whose direction is the axis and whose length the angle.
#pragma once

#include <array>
#include <cmath>

namespace gradbench {

template <class Scalar>
using Point = std::array<Scalar, 3>;

template <class Scalar>
Point<Scalar> cross(const Point<Scalar>& a, const Point<Scalar>& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

// Up to a square of the angle of `least` there is none: its linear part remains where `least` is 0. Which of the two is
// known where the tape is recorded.
template <class Scalar>
Point<Scalar> rotated(const Point<Scalar>& axis, const Point<Scalar>& x, double least = 0) {
  using std::cos, std::sin, std::sqrt;
  const Scalar square = axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2];
  if (square <= least && least > 0) return x;
  Point<Scalar> out = cross(axis, x);
  if (square <= least) {
    for (std::size_t i = 0; i < 3; ++i) out[i] += x[i];
    return out;
  }
  const Scalar angle = sqrt(square), s = sin(angle), c = cos(angle);
  Point<Scalar> unit;
  for (std::size_t i = 0; i < 3; ++i) unit[i] = axis[i] / angle;
  const Scalar along = (unit[0] * x[0] + unit[1] * x[1] + unit[2] * x[2]) * (1. - c);
  out = cross(unit, x);
  for (std::size_t i = 0; i < 3; ++i) out[i] = x[i] * c + out[i] * s + unit[i] * along;
  return out;
}

}  // namespace gradbench
