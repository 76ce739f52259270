// Hand tracking: the distances of measured points from the skin of a posed skeleton.
#include "../compiled.hpp"
#include "../evals.hpp"
#include "../geometry.hpp"

namespace gradbench {

namespace bt = bitale;

namespace {

constexpr std::int64_t pose_length = 26;

struct Hand {
  std::vector<std::int64_t> parents;
  bt::Variable relatives, inverses, base, weights, mirror;
  std::int64_t vertices;
};

Hand hand_of(const Json& model) {
  const std::int64_t bones = count_field(model, "bone_count");
  const auto parents = positions_field(model, "parents", 1, bones, -1);
  require_shape("parents", parents.shape, {bones});
  for (std::int64_t bone = 0; bone < bones; ++bone)
    if (parents.values[std::size_t(bone)] >= bone) throw InputError("`parents` must come before their children");
  const auto of_shape = [&](const char* name, const std::vector<std::int64_t>& shape) {
    const auto numbers = numbers_field(model, name, shape.size());
    require_shape(name, numbers.shape, shape);
    return bt::constant(array_of(numbers));
  };
  const std::int64_t vertices = numbers_field(model, "base_positions", 2).shape[0];
  const bool is_mirrored = bool_field(model, "is_mirrored");
  return {parents.values,
          of_shape("base_relatives", {bones, 4, 4}),
          of_shape("inverse_base_absolutes", {bones, 4, 4}),
          of_shape("base_positions", {vertices, 4}),
          of_shape("weights", {vertices, bones}),
          bt::constant(bt::Array{is_mirrored ? -1. : 1., 1., 1.}),
          vertices};
}

// Angles of each bone: wrist and fingertips have none, the first joint of a finger has two.
bt::Variable pose(const bt::Variable& theta, std::int64_t bones) {
  std::vector<std::int64_t> rows, columns;
  for (std::int64_t finger = 0; finger < 5; ++finger) {
    const std::int64_t first = 2 + 4 * finger;
    rows.insert(rows.end(), {first, first, first + 1, first + 2});
    columns.insert(columns.end(), {0, 1, 0, 0});
  }
  return bt::set_subtensor(bt::zeros({bones, 3}), {bt::constant(bt::Array(rows)), bt::constant(bt::Array(columns))},
                           bt::subtensor(theta, {bt::Slice{6}}));
}

bt::Variable skin(const Hand& hand, const bt::Variable& theta) {
  const auto bones = std::int64_t(hand.parents.size());
  const bt::Variable relatives = bt::matmul(hand.relatives, euler_rotations(pose(theta, bones)));
  bt::Variables absolutes;
  for (std::size_t bone = 0; bone < hand.parents.size(); ++bone) {
    const bt::Variable relative = bt::subtensor(relatives, {int(bone)});
    const std::int64_t parent = hand.parents[bone];
    absolutes.push_back(parent < 0 ? relative : bt::matmul(absolutes[std::size_t(parent)], relative));
  }
  const bt::Variable transforms = bt::matmul(bt::stack(absolutes), hand.inverses);
  const bt::Variable upper = bt::subtensor(transforms, {bt::Slice{}, bt::Slice{{}, 3}});
  const bt::Variable positions = bt::einsum("vb,bij,vj->vi", {hand.weights, upper, hand.base}) * hand.mirror;
  const auto part = [&](int from, int to) { return bt::subtensor(theta, {bt::Slice{from, to}}); };
  return bt::dot(positions, bt::transpose(rotation(part(0, 3)))) + part(3, 6);
}

// Errors of a point depend on its own coordinates in the triangle only, so that two tangents give all derivatives by
// them.
bt::Variable by_coordinates(const bt::Variable& errors, const bt::Variable& us) {
  bt::Variables columns;
  for (int i = 0; i < 2; ++i) {
    const bt::Variable tangent = bt::set_subtensor(bt::zeros_like(us), {bt::Slice{}, i}, 1.);
    columns.push_back(bt::pushforward({errors}, {us}, {tangent})[0]);
  }
  return bt::stack(columns, 1);
}

Prepared prepare(const Json& input, bool is_derivative) {
  const Json &data = object_field(input, "data"), &model = object_field(data, "model");
  const Hand hand = hand_of(model);
  const auto measured = numbers_field(data, "points", 2), pose_numbers = numbers_field(input, "theta", 1);
  const std::int64_t count = measured.shape[0];
  require_shape("points", measured.shape, {count, 3});
  require_shape("theta", pose_numbers.shape, {pose_length});
  const bt::Variable points = bt::constant(array_of(measured));
  Arguments arguments;
  const bt::Variable theta = arguments("theta", pose_numbers), vertices = skin(hand, theta);
  if (!input.contains("us") || input["us"].empty()) {
    const auto at = positions_field(data, "correspondences", 1, hand.vertices);
    require_shape("correspondences", at.shape, {count});
    const bt::Variable errors = bt::flatten(points - bt::take(vertices, bt::constant(bt::Array(at.values))));
    return compiled(arguments, is_derivative ? bt::jacfwd(errors, theta) : errors);
  }
  const auto triangles = positions_field(model, "triangles", 2, hand.vertices);
  require_shape("triangles", triangles.shape, {triangles.shape[0], 3});
  const auto at = positions_field(data, "correspondences", 1, triangles.shape[0]);
  require_shape("correspondences", at.shape, {count});
  const auto coordinates = numbers_field(input, "us", 2);
  require_shape("us", coordinates.shape, {count, 2});
  const bt::Variable us = arguments("us", coordinates);
  const bt::Variable corners = bt::take(bt::constant(array_of(triangles)), bt::constant(bt::Array(at.values)));
  const auto corner = [&](int i) { return bt::take(vertices, bt::subtensor(corners, {bt::Slice{}, i})); };
  const auto coordinate = [&](int i) { return bt::subtensor(us, {bt::Slice{}, bt::Slice{i, i + 1}}); };
  const bt::Variable u = coordinate(0), v = coordinate(1);
  const bt::Variable errors = bt::flatten(points - (u * corner(0) + v * corner(1) + (1. - u - v) * corner(2)));
  if (!is_derivative) return compiled(arguments, errors);
  return compiled(arguments, bt::concatenate({by_coordinates(errors, us), bt::jacfwd(errors, theta)}, 1));
}

}  // namespace

Eval ht() {
  return {"ht",
          {{"objective", [](const Json& input) { return prepare(input, false); }},
           {"jacobian", [](const Json& input) { return prepare(input, true); }}}};
}

}  // namespace gradbench
