#include "jacobian_sample.hpp"

#include <algorithm>

namespace gradbench {

Json jacobian_sample(const double* block, double last, std::int64_t n, std::int64_t m, std::int64_t p) {
  constexpr std::int64_t camera_length = 11, row_length = camera_length + 3 + 1, length = 2 * row_length;
  const std::int64_t of_points = camera_length * n, of_weights = of_points + 3 * m;
  Json rows = Json::array(), columns = Json::array(), values = Json::array();
  for (std::int64_t i = 0; i < std::min(length, 3 * p + 1); ++i)
    rows.push_back(i <= 2 * p ? i * row_length : 2 * p * row_length + i - 2 * p);
  rows.push_back(2 * p * row_length + p);
  for (std::int64_t i = 0; i < length; ++i) {
    const std::int64_t j = i % row_length;
    columns.push_back(j < camera_length ? j : j + 1 < row_length ? of_points + j - camera_length : of_weights);
    values.push_back(block[i]);
  }
  columns.push_back(of_weights + p - 1);
  values.push_back(last);
  return {{"rows", rows}, {"cols", columns}, {"vals", values}};
}

}  // namespace gradbench
