// Bundle adjustment: the error of each observation of a point by a camera, and the sparse matrix of its derivatives.
#include "../compiled.hpp"
#include "../evals.hpp"
#include "../geometry.hpp"
#include "../jacobian_sample.hpp"

namespace gradbench {

namespace bt = bitale;

namespace {

constexpr std::int64_t camera_length = 11, row_length = camera_length + 3 + 1;

// Of one observation. Parameters: the camera's rotation, centre, focal length, principal point and distortion; the
// point; the weight.
bt::Variable reprojection_error(const bt::Variable& parameters, const bt::Variable& feature) {
  const auto at = [&](int i) { return bt::subtensor(parameters, {i}); };
  const auto part = [&](int from, int to) { return bt::subtensor(parameters, {bt::Slice{from, to}}); };
  const bt::Variable seen = rotated(part(0, 3), part(11, 14) - part(3, 6));
  const bt::Variable flat = bt::subtensor(seen, {bt::Slice{{}, 2}}) / bt::subtensor(seen, {2});
  const bt::Variable square = bt::sum(bt::sqr(flat));
  const bt::Variable distorted = flat * (1. + at(9) * square + at(10) * bt::sqr(square));
  return at(14) * (distorted * at(6) + part(7, 9) - feature);
}

struct Scene {
  Arguments arguments;
  bt::Variable parameters, features, weights;  // of each observation
  std::int64_t cameras, points, observations;
};

// The same camera, point, weight and feature for all, as inputs have them; cameras and points are observed in turns.
Scene scene_of(const Json& input) {
  Scene out;
  out.cameras = count_field(input, "n");
  out.points = count_field(input, "m");
  out.observations = count_field(input, "p");
  const auto repeated = [&](const char* name, std::int64_t length, std::int64_t times) {
    const auto one = numbers_field(input, name, 1);
    require_shape(name, one.shape, {length});
    return out.arguments(name, bt::Array(one.values).broadcast_to({times, length}).copy());
  };
  const bt::Variable cameras = repeated("cam", camera_length, out.cameras), points = repeated("x", 3, out.points);
  out.features = repeated("feat", 2, out.observations);
  out.weights = out.arguments("w", bt::Array::full(bt::DType::Float64, {out.observations}, number_field(input, "w")));
  const bt::Variable turn = bt::arange(out.observations);
  out.parameters = bt::concatenate(
      {bt::take(cameras, turn % out.cameras), bt::take(points, turn % out.points), bt::expand_dims(out.weights, 1)}, 1);
  return out;
}

bt::Variable for_each_observation(const Scene& scene, bool is_derivative) {
  const bt::Variable parameters = bt::tensor("parameters", bt::DType::Float64, {row_length});
  const bt::Variable feature = bt::tensor("feature", bt::DType::Float64, {2});
  bt::Variable one = reprojection_error(parameters, feature);
  if (is_derivative) one = bt::jacobian(one, parameters);
  return bt::vectorize_graph({one}, {{parameters, scene.parameters}, {feature, scene.features}})[0];
}

Json errors_of(const std::vector<bt::Array>& results) {
  const bt::Array errors = results[0], weights = results[1];
  return {{"reproj_error", {{"elements", json_of(errors.take_index(0, 0))}, {"repeated", errors.shape(0)}}},
          {"w_err", {{"element", weights.data_as<double>()[0]}, {"repeated", weights.shape(0)}}}};
}

}  // namespace

Eval ba() {
  const auto objective = [](const Json& input) {
    const Scene scene = scene_of(input);
    return compiled(scene.arguments, {for_each_observation(scene, false), 1. - bt::sqr(scene.weights)}, errors_of);
  };
  const auto jacobian = [](const Json& input) {
    const Scene scene = scene_of(input);
    const bt::Variable of_weights = bt::grad(bt::sum(1. - bt::sqr(scene.weights)), scene.weights);
    return compiled(
        scene.arguments, {for_each_observation(scene, true), of_weights},
        [n = scene.cameras, m = scene.points, p = scene.observations](const std::vector<bt::Array>& results) {
          const bt::Array blocks = results[0].contiguous(), last = results[1].contiguous();
          return jacobian_sample(blocks.data_as<double>(), last.data_as<double>()[p - 1], n, m, p);
        });
  };
  return {"ba", {{"objective", objective}, {"jacobian", jacobian}}};
}

}  // namespace gradbench
