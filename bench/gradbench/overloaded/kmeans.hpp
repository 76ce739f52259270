// The sum of squared distances of points from the nearest centroid, and Newton's direction.
#pragma once

#include <cmath>

#include "tapes.hpp"

namespace gradbench {

template <class Scalar>
Scalar least_distances(std::size_t d, const Values& points, const std::vector<Scalar>& centroids) {
  using std::fmin;
  Scalar total = 0.;
  for (std::size_t i = 0; i < points.size(); i += d) {
    Scalar least;
    for (std::size_t j = 0; j < centroids.size(); j += d) {
      Scalar distance = 0.;
      for (std::size_t c = 0; c < d; ++c) {
        const Scalar difference = points[i + c] - centroids[j + c];
        distance += difference * difference;
      }
      least = j == 0 ? distance : Scalar(fmin(least, distance));
    }
    total += least;
  }
  return total;
}

// The Hessian is diagonal, so its product with ones is its diagonal.
template <class Tape>
Prepared kmeans(const Json& input) {
  using Scalars = std::vector<typename Tape::Scalar>;
  const auto points = numbers_field(input, "points", 2), centroids = numbers_field(input, "centroids", 2);
  if (!points.shape[0] || !centroids.shape[0]) throw InputError("there must be points and centroids");
  require_shape("centroids", centroids.shape, {centroids.shape[0], points.shape[1]});
  const auto cost = [&](const Scalars& s) {
    return Scalars{least_distances(std::size_t(points.shape[1]), points.values, s)};
  };
  const std::size_t n = centroids.values.size();
  const auto tape = std::make_shared<Tape>(cost, centroids.values);
  const auto slopes = std::make_shared<Values>(n), curvatures = std::make_shared<Values>(n),
             direction = std::make_shared<Values>(n);
  const auto run = [=, x = centroids.values, ones = Values(n, 1.)] {
    tape->curvature(x, ones, *slopes, *curvatures);
    for (std::size_t i = 0; i < n; ++i) (*direction)[i] = (*slopes)[i] / (*curvatures)[i];
  };
  return {run, [=, shape = centroids.shape] { return nested(direction->data(), shape); }};
}

}  // namespace gradbench
