// Runge and Kutta's method of order 4 for y0' = x0, yi' = xi y(i-1), from 0 to 2; the last element at the end.
#pragma once

#include "tapes.hpp"

namespace gradbench {

template <class Scalar>
Scalar last_of_solution(const std::vector<Scalar>& x, std::int64_t steps) {
  const std::size_t n = x.size();
  const double h = 2. / double(steps), shares[4] = {0, h / 2, h / 2, h}, weights[4] = {h / 6, h / 3, h / 3, h / 6};
  std::vector<Scalar> y(n, Scalar(0.)), stage(n), k(n), next(n);
  for (std::int64_t step = 0; step < steps; ++step) {
    stage = next = y;
    for (int s = 0; s < 4; ++s) {
      if (s > 0)
        for (std::size_t i = 0; i < n; ++i) stage[i] = y[i] + shares[s] * k[i];
      k[0] = x[0];
      for (std::size_t i = 1; i < n; ++i) k[i] = x[i] * stage[i - 1];
      for (std::size_t i = 0; i < n; ++i) next[i] += weights[s] * k[i];
    }
    y.swap(next);
  }
  return y[n - 1];
}

template <class Tape>
Prepared ode(const Json& input) {
  const auto x = numbers_field(input, "x", 1);
  if (x.values.empty()) throw InputError("`x` must have an element");
  const std::int64_t steps = count_field(input, "s");
  return gradient_of<Tape>([=](const auto& s) { return last_of_solution(s, steps); }, x.values, x.shape);
}

}  // namespace gradbench
