// Bundle adjustment: one observation of a point by a camera is recorded, and its derivatives taken for each.
#pragma once

#include "../cpp/jacobian_sample.hpp"
#include "rotated.hpp"
#include "tapes.hpp"

namespace gradbench {

// Parameters: the camera's rotation, centre, focal length, principal point and distortion; the point; the weight.
template <class Scalar>
std::vector<Scalar> reprojection_error(const std::vector<Scalar>& p, const Values& feature) {
  const Point<Scalar> axis{p[0], p[1], p[2]}, centred{p[11] - p[3], p[12] - p[4], p[13] - p[5]};
  const Point<Scalar> seen = rotated(axis, centred);
  const Scalar flat[2] = {seen[0] / seen[2], seen[1] / seen[2]};
  const Scalar square = flat[0] * flat[0] + flat[1] * flat[1];
  const Scalar factor = (1. + p[9] * square + p[10] * square * square) * p[6];
  return {p[14] * (flat[0] * factor + p[7] - feature[0]), p[14] * (flat[1] * factor + p[8] - feature[1])};
}

// Inputs have the same camera, point, weight and feature for all.
template <class Tape>
Prepared ba(const Json& input) {
  using Scalars = std::vector<typename Tape::Scalar>;
  const std::int64_t n = count_field(input, "n"), m = count_field(input, "m"), p = count_field(input, "p");
  const auto repeated = [&](const char* name, std::int64_t length, std::int64_t times) {
    const auto one = numbers_field(input, name, 1);
    require_shape(name, one.shape, {length});
    Values out;
    for (std::int64_t i = 0; i < times; ++i) out.insert(out.end(), one.values.begin(), one.values.end());
    return out;
  };
  const Values cameras = repeated("cam", 11, n), points = repeated("x", 3, m), feature = repeated("feat", 2, 1);
  const Values weights(std::size_t(p), number_field(input, "w"));
  const auto parameters = [=](std::int64_t i, Values& out) {
    std::copy_n(&cameras[std::size_t(i % n) * 11], 11, out.begin());
    std::copy_n(&points[std::size_t(i % m) * 3], 3, out.begin() + 11);
    out[14] = weights[std::size_t(i)];
  };
  Values x(15);
  parameters(0, x);
  const auto error = std::make_shared<Tape>([&](const Scalars& s) { return reprojection_error(s, feature); }, x);
  const auto weight_error =
      std::make_shared<Tape>([](const Scalars& s) { return Scalars{1. - s[0] * s[0]}; }, Values{weights[0]});
  const auto blocks = std::make_shared<Values>(30 * p), of_weights = std::make_shared<Values>(p);
  const auto run = [=, row = x, block = Values(30), w = Values(1), slope = Values(1)]() mutable {
    for (std::int64_t i = 0; i < p; ++i) {
      parameters(i, row);
      error->jacobian(row, block);
      std::copy(block.begin(), block.end(), blocks->begin() + 30 * i);
    }
    for (std::int64_t i = 0; i < p; ++i) {
      w[0] = weights[std::size_t(i)];
      weight_error->gradient(w, slope);
      (*of_weights)[std::size_t(i)] = slope[0];
    }
  };
  return {run, [=] { return jacobian_sample(blocks->data(), of_weights->back(), n, m, p); }};
}

}  // namespace gradbench
