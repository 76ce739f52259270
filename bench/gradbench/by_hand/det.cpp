// Minors of the last rows by their set of columns, a bit for each; then their adjoints from the largest on.
#include <bit>

#include "functions.hpp"

namespace by_hand {

Values det(std::int64_t size, const Values& a) {
  const std::uint32_t all = (1u << size) - 1;
  Values minors(all + 1, 0.), adjoints(all + 1, 0.), slopes(a.size(), 0.);
  const auto row_of = [&](std::uint32_t columns) { return (size - std::popcount(columns)) * size; };
  minors[0] = 1;
  for (std::uint32_t columns = 1; columns <= all; ++columns) {
    double total = 0, sign = 1;
    for (std::uint32_t left = columns; left; left &= left - 1, sign = -sign)
      total += sign * a[std::size_t(row_of(columns) + std::countr_zero(left))] * minors[columns & ~(left & -left)];
    minors[columns] = total;
  }
  adjoints[all] = 1;
  for (std::uint32_t columns = all; columns; --columns) {
    double sign = 1;
    for (std::uint32_t left = columns; left; left &= left - 1, sign = -sign) {
      const auto at = std::size_t(row_of(columns) + std::countr_zero(left));
      const std::uint32_t rest = columns & ~(left & -left);
      slopes[at] += sign * adjoints[columns] * minors[rest];
      adjoints[rest] += sign * adjoints[columns] * a[at];
    }
  }
  return slopes;
}

}  // namespace by_hand
