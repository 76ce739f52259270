// The logarithm of a sum of exponentials, by the largest.
#pragma once

#include <cmath>

#include "tapes.hpp"

namespace gradbench {

template <class Scalar>
Scalar log_sum_exp(const std::vector<Scalar>& x) {
  using std::exp, std::fmax, std::log;
  Scalar largest = x[0], total = 0.;
  for (std::size_t i = 1; i < x.size(); ++i) largest = fmax(largest, x[i]);
  for (const Scalar& each : x) total += exp(each - largest);
  return largest + log(total);
}

template <class Tape>
Prepared lse(const Json& input) {
  const auto x = numbers_field(input, "x", 1);
  if (x.values.empty()) throw InputError("`x` must have an element, of which there is a max");
  return gradient_of<Tape>([](const auto& s) { return log_sum_exp(s); }, x.values, x.shape);
}

}  // namespace gradbench
