#include "geometry.hpp"

namespace gradbench {

namespace bt = bitale;

using V = const bt::Variable&;

namespace {

// The angle of a vector's rotation, or 1 where `turns` does not hold.
bt::Variable angle_of(V square, V turns) { return bt::sqrt(bt::where(turns, square, 1.)); }

}  // namespace

bt::Variable cross(V a, V b) {
  const auto term = [&](int i, int j) {
    return bt::subtensor(a, {i}) * bt::subtensor(b, {j}) - bt::subtensor(a, {j}) * bt::subtensor(b, {i});
  };
  return bt::stack({term(1, 2), term(2, 0), term(0, 1)});
}

bt::Variable rotated(V axis, V x) {
  const bt::Variable square = bt::sum(bt::sqr(axis)), turns = square > 0, angle = angle_of(square, turns);
  const bt::Variable unit = axis / angle, c = bt::cos(angle);
  const bt::Variable turned = x * c + cross(unit, x) * bt::sin(angle) + unit * (bt::sum(unit * x) * (1. - c));
  return bt::where(turns, turned, x + cross(axis, x));
}

bt::Variable rotation(V axis) {
  const bt::Variable square = bt::sum(bt::sqr(axis)), turns = square >= 1e-8, angle = angle_of(square, turns);
  const bt::Variable unit = axis / angle, s = bt::sin(angle), c = bt::cos(angle);
  const bt::Variable x = bt::subtensor(unit, {0}), y = bt::subtensor(unit, {1}), z = bt::subtensor(unit, {2});
  const bt::Variable turned =
      bt::stack({bt::stack({x * x + (1. - x * x) * c, x * y * (1. - c) - z * s, x * z * (1. - c) + y * s}),
                 bt::stack({x * y * (1. - c) + z * s, y * y + (1. - y * y) * c, y * z * (1. - c) - x * s}),
                 bt::stack({x * z * (1. - c) - y * s, z * y * (1. - c) + x * s, z * z + (1. - z * z) * c})});
  return bt::where(turns, turned, bt::eye(3));
}

bt::Variable euler_rotations(V angles) {
  const auto column = [&](int i) { return bt::subtensor(angles, {bt::Slice{}, i}); };
  const bt::Variable x = column(0), z = column(1), y = column(2), one = bt::ones_like(x), zero = bt::zeros_like(x);
  const auto matrices = [](std::initializer_list<bt::Variables> rows) {
    bt::Variables stacked;
    for (const bt::Variables& row : rows) stacked.push_back(bt::stack(row, 1));
    return bt::stack(stacked, 1);
  };
  const bt::Variables last{zero, zero, zero, one};
  const bt::Variable about_x = matrices(
      {{one, zero, zero, zero}, {zero, bt::cos(x), -bt::sin(x), zero}, {zero, bt::sin(x), bt::cos(x), zero}, last});
  const bt::Variable about_y = matrices(
      {{bt::cos(y), zero, bt::sin(y), zero}, {zero, one, zero, zero}, {-bt::sin(y), zero, bt::cos(y), zero}, last});
  const bt::Variable about_z = matrices(
      {{bt::cos(z), -bt::sin(z), zero, zero}, {bt::sin(z), bt::cos(z), zero, zero}, {zero, zero, one, zero}, last});
  return bt::matmul(bt::matmul(about_z, about_y), about_x);
}

}  // namespace gradbench
