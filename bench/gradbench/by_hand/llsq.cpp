// A pass over the points: the residual by a running power, then its share of each coefficient's derivative.
#include "functions.hpp"

namespace by_hand {

Values llsq(const Values& x, std::int64_t n) {
  Values slopes(x.size(), 0.), powers(x.size());
  for (std::int64_t i = 0; i < n; ++i) {
    const double t = -1 + double(i) * 2 / double(n - 1);
    double residual = double(t > 0) - double(t < 0), power = 1;
    for (std::size_t j = 0; j < x.size(); ++j, power *= t) {
      powers[j] = power;
      residual -= x[j] * power;
    }
    for (std::size_t j = 0; j < x.size(); ++j) slopes[j] -= residual * powers[j];
  }
  return slopes;
}

}  // namespace by_hand
