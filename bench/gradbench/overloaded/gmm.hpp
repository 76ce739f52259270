// The log posterior of a mixture of normal distributions whose inverse covariances are Q'Q: Q has exp(q) on its
// diagonal and `l`, column by column, below. Terms without parameters are left out.
#pragma once

#include <cmath>

#include "lse.hpp"

namespace gradbench {

struct MixtureData {
  std::size_t d, k;
  double gamma, m;
  Values x;
};

// Parameters: alpha, then mu, q and l row by row.
template <class Scalar>
Scalar log_posterior(const MixtureData& g, const std::vector<Scalar>& parameters) {
  using std::exp;
  const std::size_t d = g.d, k = g.k, n = g.x.size() / d, below = d * (d - 1) / 2;
  const Scalar *alpha = parameters.data(), *mu = alpha + k, *q = mu + k * d, *lower = q + k * d;
  std::vector<Scalar> scales(k * d), sums(k, Scalar(0.)), terms(k), centred(d), white(d);
  Scalar posterior = 0., squares = 0., sum = 0.;
  for (std::size_t i = 0; i < k * d; ++i) {
    scales[i] = exp(q[i]);
    sums[i / d] += q[i];
    squares += scales[i] * scales[i];
  }
  for (std::size_t i = 0; i < k * below; ++i) squares += lower[i] * lower[i];
  for (std::size_t c = 0; c < k; ++c) sum += sums[c];
  for (std::size_t point = 0; point < n; ++point) {
    for (std::size_t c = 0; c < k; ++c) {
      for (std::size_t i = 0; i < d; ++i) {
        centred[i] = g.x[point * d + i] - mu[c * d + i];
        white[i] = scales[c * d + i] * centred[i];
      }
      const Scalar* l = lower + c * below;
      for (std::size_t j = 0; j < d; ++j)
        for (std::size_t i = j + 1; i < d; ++i) white[i] += *l++ * centred[j];
      Scalar square = 0.;
      for (std::size_t i = 0; i < d; ++i) square += white[i] * white[i];
      terms[c] = alpha[c] + sums[c] - 0.5 * square;
    }
    posterior += log_sum_exp(terms);
  }
  posterior -= double(n) * log_sum_exp(std::vector<Scalar>(alpha, alpha + k));
  return posterior - 0.5 * g.gamma * g.gamma * squares + g.m * sum;
}

template <class Tape>
Prepared gmm(const Json& input) {
  using Scalars = std::vector<typename Tape::Scalar>;
  const std::int64_t d = count_field(input, "d"), k = count_field(input, "k"), n = count_field(input, "n");
  const std::int64_t below = d * (d - 1) / 2;
  Values parameters;
  const auto append = [&](const char* name, const std::vector<std::int64_t>& shape) {
    const auto numbers = numbers_field(input, name, shape.size());
    require_shape(name, numbers.shape, shape);
    parameters.insert(parameters.end(), numbers.values.begin(), numbers.values.end());
  };
  append("alpha", {k});
  append("mu", {k, d});
  append("q", {k, d});
  append("l", {k, below});
  const auto x = numbers_field(input, "x", 2);
  require_shape("x", x.shape, {n, d});
  const MixtureData data{std::size_t(d), std::size_t(k), number_field(input, "gamma"), number_field(input, "m"),
                         x.values};
  const auto tape =
      std::make_shared<Tape>([&](const Scalars& s) { return Scalars{log_posterior(data, s)}; }, parameters);
  const auto slopes = std::make_shared<Values>(parameters.size());
  const auto output = [=] {
    const double* next = slopes->data();
    const auto lists = [&](std::int64_t width) {
      const double* first = next;
      next += k * width;
      return nested(first, std::vector<std::int64_t>{k, width});
    };
    const Json alpha = std::vector<double>(next, next + k);
    next += k;
    const Json mu = lists(d), q = lists(d), l = lists(below);
    return Json{{"alpha", alpha}, {"mu", mu}, {"q", q}, {"l", l}};
  };
  return {[=] { tape->gradient(parameters, *slopes); }, output};
}

}  // namespace gradbench
