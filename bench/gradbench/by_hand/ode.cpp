// The states of all stages of all steps are kept, and read backwards by the adjoints.
#include <algorithm>

#include "functions.hpp"

namespace by_hand {

namespace {

void slope(std::size_t n, const double* x, const double* y, double* k) {
  k[0] = x[0];
  for (std::size_t i = 1; i < n; ++i) k[i] = x[i] * y[i - 1];
}

// Adds to the adjoints of x and of y (which is written) those of slope(x, y), which are ck.
void slope_adjoint(std::size_t n, const double* x, const double* y, const double* ck, double* cx, double* cy) {
  cx[0] += ck[0];
  for (std::size_t i = 1; i < n; ++i) cx[i] += ck[i] * y[i - 1];
  for (std::size_t i = 1; i < n; ++i) cy[i - 1] = x[i] * ck[i];
  cy[n - 1] = 0;
}

}  // namespace

Values ode(const Values& x, std::int64_t steps) {
  const std::size_t n = x.size();
  const double h = 2. / double(steps), shares[4] = {0.5, 0.5, 1, 0}, weights[4] = {h / 6, h / 3, h / 3, h / 6};
  Values y(n, 0.), k(n), next(n), stages(n * 4 * std::size_t(steps));
  for (std::int64_t step = 0; step < steps; ++step) {
    double* stage = &stages[std::size_t(step) * 4 * n];
    std::copy(y.begin(), y.end(), stage);
    next = y;
    for (int s = 0; s < 4; ++s, stage += n) {
      slope(n, x.data(), stage, k.data());
      for (std::size_t i = 0; i < n; ++i) next[i] += weights[s] * k[i];
      if (s < 3)
        for (std::size_t i = 0; i < n; ++i) stage[n + i] = y[i] + h * shares[s] * k[i];
    }
    y.swap(next);
  }
  Values slopes(n, 0.), cy(n, 0.), ck(n), of_stage(n), sum(n);
  cy[n - 1] = 1;
  for (std::int64_t step = steps; step-- > 0;) {
    sum = cy;
    for (int s = 3; s >= 0; --s) {
      for (std::size_t i = 0; i < n; ++i) ck[i] = weights[s] * cy[i] + (s < 3 ? h * shares[s] * of_stage[i] : 0.);
      slope_adjoint(n, x.data(), &stages[(std::size_t(step) * 4 + std::size_t(s)) * n], ck.data(), slopes.data(),
                    of_stage.data());
      for (std::size_t i = 0; i < n; ++i) sum[i] += of_stage[i];
    }
    cy.swap(sum);
  }
  return slopes;
}

}  // namespace by_hand
