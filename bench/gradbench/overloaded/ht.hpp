// Hand tracking: the distances of measured points from the skin of a posed skeleton.
#pragma once

#include "rotated.hpp"
#include "tapes.hpp"

namespace gradbench {

struct HandData {
  std::vector<std::int64_t> parents, triangles, at;
  Values relatives, inverses, base, weights, points;
  bool is_mirrored;
};

template <class Scalar>
using Matrix = std::array<Scalar, 16>;  // 4 by 4, row by row

template <class Scalar, class A, class B>
Matrix<Scalar> product(const A* a, const B* b) {
  Matrix<Scalar> out;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j)
      out[4 * i + j] = a[4 * i] * b[j] + a[4 * i + 1] * b[4 + j] + a[4 * i + 2] * b[8 + j] + a[4 * i + 3] * b[12 + j];
  return out;
}

// The rotation by angles about x, z and y, with a fourth row and column of the identity.
template <class Scalar>
Matrix<Scalar> euler_rotation(const Scalar& x, const Scalar& z, const Scalar& y) {
  using std::cos, std::sin;
  const Scalar cx = cos(x), sx = sin(x), cy = cos(y), sy = sin(y), cz = cos(z), sz = sin(z);
  return {cz * cy,
          cz * sy * sx - sz * cx,
          cz * sy * cx + sz * sx,
          0.,
          sz * cy,
          sz * sy * sx + cz * cx,
          sz * sy * cx - cz * sx,
          0.,
          -sy,
          cy * sx,
          cy * cx,
          0.,
          0.,
          0.,
          0.,
          1.};
}

template <class Scalar>
std::vector<Point<Scalar>> skin(const HandData& hand, const Scalar* theta) {
  const std::size_t bones = hand.parents.size(), vertices = hand.base.size() / 4;
  std::vector<Point<Scalar>> pose(bones, Point<Scalar>{0., 0., 0.});
  for (std::size_t finger = 0; finger < 5; ++finger) {  // the first joint of a finger has two angles
    const Scalar* angles = theta + 6 + 4 * finger;
    const std::size_t first = 2 + 4 * finger;
    pose[first] = {angles[0], angles[1], 0.};
    pose[first + 1][0] = angles[2];
    pose[first + 2][0] = angles[3];
  }
  std::vector<Matrix<Scalar>> absolutes(bones), transforms(bones);
  for (std::size_t bone = 0; bone < bones; ++bone) {
    const Matrix<Scalar> turn = euler_rotation(pose[bone][0], pose[bone][1], pose[bone][2]);
    const Matrix<Scalar> relative = product<Scalar>(&hand.relatives[16 * bone], turn.data());
    const std::int64_t parent = hand.parents[bone];
    absolutes[bone] = parent < 0 ? relative : product<Scalar>(absolutes[std::size_t(parent)].data(), relative.data());
    transforms[bone] = product<Scalar>(absolutes[bone].data(), &hand.inverses[16 * bone]);
  }
  const Point<Scalar> axis{theta[0], theta[1], theta[2]};
  Point<Scalar> columns[3];
  for (std::size_t i = 0; i < 3; ++i) {
    Point<Scalar> unit{0., 0., 0.};
    unit[i] = 1.;
    columns[i] = rotated(axis, unit, 1e-8);
  }
  std::vector<Point<Scalar>> out(vertices);
  for (std::size_t v = 0; v < vertices; ++v) {
    Point<Scalar> at{0., 0., 0.};
    const double* base = &hand.base[4 * v];
    for (std::size_t bone = 0; bone < bones; ++bone) {
      const double weight = hand.weights[bones * v + bone];
      if (weight == 0) continue;
      const Matrix<Scalar>& t = transforms[bone];
      for (std::size_t i = 0; i < 3; ++i)
        at[i] +=
            weight * (t[4 * i] * base[0] + t[4 * i + 1] * base[1] + t[4 * i + 2] * base[2] + t[4 * i + 3] * base[3]);
    }
    if (hand.is_mirrored) at[0] = -at[0];
    for (std::size_t i = 0; i < 3; ++i)
      out[v][i] = columns[0][i] * at[0] + columns[1][i] * at[1] + columns[2][i] * at[2] + theta[3 + i];
  }
  return out;
}

// Parameters: coordinates in triangles, two for each point, or none; then the pose.
template <class Scalar>
std::vector<Scalar> distances_of_points(const HandData& hand, const std::vector<Scalar>& parameters) {
  const std::size_t pose_length = 26, count = hand.at.size();
  const bool has_us = parameters.size() > pose_length;
  const std::vector<Point<Scalar>> vertices = skin(hand, &parameters[parameters.size() - pose_length]);
  std::vector<Scalar> out;
  for (std::size_t p = 0; p < count; ++p) {
    const auto at = std::size_t(hand.at[p]);
    for (std::size_t i = 0; i < 3; ++i)
      if (has_us) {
        const Scalar &u = parameters[2 * p], &v = parameters[2 * p + 1];
        const auto corner = [&](std::size_t c) -> const Scalar& {
          return vertices[std::size_t(hand.triangles[3 * at + c])][i];
        };
        out.push_back(hand.points[3 * p + i] - (u * corner(0) + v * corner(1) + (1. - u - v) * corner(2)));
      } else {
        out.push_back(hand.points[3 * p + i] - vertices[at][i]);
      }
  }
  return out;
}

inline HandData hand_of(const Json& data) {
  const Json& model = object_field(data, "model");
  HandData out;
  const std::int64_t bones = count_field(model, "bone_count");
  const auto parents = positions_field(model, "parents", 1, bones, -1);
  require_shape("parents", parents.shape, {bones});
  out.parents = parents.values;
  const auto of_shape = [&](const char* name, const std::vector<std::int64_t>& shape) {
    const auto numbers = numbers_field(model, name, shape.size());
    require_shape(name, numbers.shape, shape);
    return numbers.values;
  };
  const std::int64_t vertices = numbers_field(model, "base_positions", 2).shape[0];
  out.relatives = of_shape("base_relatives", {bones, 4, 4});
  out.inverses = of_shape("inverse_base_absolutes", {bones, 4, 4});
  out.base = of_shape("base_positions", {vertices, 4});
  out.weights = of_shape("weights", {vertices, bones});
  out.is_mirrored = bool_field(model, "is_mirrored");
  const auto triangles = positions_field(model, "triangles", 2, vertices);
  require_shape("triangles", triangles.shape, {triangles.shape[0], 3});
  out.triangles = triangles.values;
  const auto points = numbers_field(data, "points", 2);
  require_shape("points", points.shape, {points.shape[0], 3});
  out.points = points.values;
  return out;
}

// Errors of a point depend on its own coordinates in the triangle only, so that two tangents give all derivatives by
// them; by the pose there are 26.
template <class Tape>
Prepared ht(const Json& input) {
  using Scalars = std::vector<typename Tape::Scalar>;
  const Json& data = object_field(input, "data");
  HandData hand = hand_of(data);
  const auto pose = numbers_field(input, "theta", 1);
  require_shape("theta", pose.shape, {26});
  const auto count = std::int64_t(hand.points.size() / 3);
  const bool has_us = input.contains("us") && !input["us"].empty();
  const auto vertices = std::int64_t(hand.base.size() / 4), triangles = std::int64_t(hand.triangles.size() / 3);
  const auto at = positions_field(data, "correspondences", 1, has_us ? triangles : vertices);
  require_shape("correspondences", at.shape, {count});
  hand.at = at.values;
  Values x;
  if (has_us) {
    const auto us = numbers_field(input, "us", 2);
    require_shape("us", us.shape, {count, 2});
    x = us.values;
  }
  const std::size_t of_us = x.size(), width = (has_us ? 2 : 0) + 26;
  x.insert(x.end(), pose.values.begin(), pose.values.end());
  Values tangents(x.size() * width, 0.);
  for (std::size_t i = 0; i < x.size(); ++i) tangents[i * width + (i < of_us ? i % 2 : width - x.size() + i)] = 1;
  const auto tape = std::make_shared<Tape>([&](const Scalars& s) { return distances_of_points(hand, s); }, x);
  const auto derivatives = std::make_shared<Values>(std::size_t(3 * count) * width);
  return {[=] { tape->pushforward(x, tangents, width, *derivatives); },
          [=] {
            return nested(derivatives->data(), std::vector<std::int64_t>{3 * count, std::int64_t(width)});
          }};
}

}  // namespace gradbench
