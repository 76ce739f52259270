// The means of the points that are nearest to each centroid, and how far the centroids are from them.
#include <limits>

#include "functions.hpp"

namespace by_hand {

Values kmeans(std::int64_t dimensions, const Values& points, const Values& centroids) {
  const auto d = std::size_t(dimensions), n = points.size() / d, k = centroids.size() / d;
  Values counts(k, 0.), sums(centroids.size(), 0.), direction(centroids.size());
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t nearest = 0;
    double least = std::numeric_limits<double>::max();
    for (std::size_t j = 0; j < k; ++j) {
      double distance = 0;
      for (std::size_t c = 0; c < d; ++c) {
        const double difference = points[i * d + c] - centroids[j * d + c];
        distance += difference * difference;
      }
      if (distance < least) {
        least = distance;
        nearest = j;
      }
    }
    ++counts[nearest];
    for (std::size_t c = 0; c < d; ++c) sums[nearest * d + c] += points[i * d + c];
  }
  for (std::size_t i = 0; i < direction.size(); ++i) direction[i] = centroids[i] - sums[i] / counts[i / d];
  return direction;
}

}  // namespace by_hand
