// A pass over the points: the terms of all components, their shares, and what each adds to the derivatives.
#include <algorithm>
#include <cmath>

#include "functions.hpp"

namespace by_hand {

MixtureSlopes gmm(const Mixture& g) {
  const auto d = std::size_t(g.d), k = std::size_t(g.k), n = g.x.size() / d, below = d * (d - 1) / 2;
  MixtureSlopes out{Values(k, 0.), Values(k * d, 0.), Values(k * d, 0.), Values(k * below, 0.)};
  Values scales(k * d), sums(k, 0.), terms(k), centred(k * d), whitened(k * d), back(d);
  for (std::size_t i = 0; i < k * d; ++i) {
    scales[i] = std::exp(g.q[i]);
    sums[i / d] += g.q[i];
  }
  for (std::size_t point = 0; point < n; ++point) {
    for (std::size_t c = 0; c < k; ++c) {
      double *difference = &centred[c * d], *white = &whitened[c * d];
      for (std::size_t i = 0; i < d; ++i) difference[i] = g.x[point * d + i] - g.mu[c * d + i];
      for (std::size_t i = 0; i < d; ++i) white[i] = scales[c * d + i] * difference[i];
      const double* l = &g.l[c * below];
      for (std::size_t j = 0; j < d; ++j, l += d - j)
        for (std::size_t i = j + 1; i < d; ++i) white[i] += l[i - j - 1] * difference[j];
      double square = 0;
      for (std::size_t i = 0; i < d; ++i) square += white[i] * white[i];
      terms[c] = g.alpha[c] + sums[c] - 0.5 * square;
    }
    const double largest = *std::max_element(terms.begin(), terms.end());
    double total = 0;
    for (double& term : terms) total += term = std::exp(term - largest);
    for (std::size_t c = 0; c < k; ++c) {
      const double share = terms[c] / total, *difference = &centred[c * d], *white = &whitened[c * d];
      out.alpha[c] += share;
      for (std::size_t i = 0; i < d; ++i) {
        out.q[c * d + i] += share * (1 - white[i] * scales[c * d + i] * difference[i]);
        back[i] = scales[c * d + i] * white[i];
      }
      const double* l = &g.l[c * below];
      double* slope = &out.l[c * below];
      for (std::size_t j = 0; j < d; ++j, l += d - j, slope += d - j)
        for (std::size_t i = j + 1; i < d; ++i) {
          slope[i - j - 1] -= share * white[i] * difference[j];
          back[j] += l[i - j - 1] * white[i];
        }
      for (std::size_t i = 0; i < d; ++i) out.mu[c * d + i] += share * back[i];
    }
  }
  const double largest = *std::max_element(g.alpha.begin(), g.alpha.end());
  double total = 0;
  for (double alpha : g.alpha) total += std::exp(alpha - largest);
  for (std::size_t c = 0; c < k; ++c) out.alpha[c] -= double(n) * std::exp(g.alpha[c] - largest) / total;
  const double square = g.gamma * g.gamma;
  for (std::size_t i = 0; i < k * d; ++i) out.q[i] += g.m - square * scales[i] * scales[i];
  for (std::size_t i = 0; i < k * below; ++i) out.l[i] -= square * g.l[i];
  return out;
}

}  // namespace by_hand
