// The shares of the terms in the sum of exponentials.
#include <algorithm>
#include <cmath>

#include "functions.hpp"

namespace by_hand {

Values lse(const Values& x) {
  const double largest = *std::max_element(x.begin(), x.end());
  Values shares(x.size());
  double total = 0;
  for (std::size_t i = 0; i < x.size(); ++i) total += shares[i] = std::exp(x[i] - largest);
  for (double& share : shares) share /= total;
  return shares;
}

}  // namespace by_hand
