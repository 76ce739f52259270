// Log densities that several programs measure, with the gradients that a sampler needs.
#pragma once

#include <array>
#include <bitale/bitale.hpp>

namespace bench {

struct Model {
  bitale::Variables inputs;
  bitale::Variable value;
  bitale::Variables gradients;

  bitale::Variables outputs() const {
    bitale::Variables all{value};
    all.insert(all.end(), gradients.begin(), gradients.end());
    return all;
  }
};

inline constexpr std::array<double, 8> effects{28, 8, -3, 7, -1, 1, 18, 12}, errors{15, 10, 16, 11, 9, 11, 10, 18};

// A function of q = (mu, log tau, z); the data are constants.
inline Model eight_schools() {
  using namespace bitale;
  const Variable q = vector("q");
  const auto numbers = [](const auto& values) {
    return constant(Array::from(values.data(), DType::Float64, {std::int64_t(values.size())}));
  };
  const Variable y = numbers(effects), s = numbers(errors);
  const Variable mu = subtensor(q, {0}), log_tau = subtensor(q, {1}), z = subtensor(q, {Slice{2, {}, {}}}),
                 tau = exp(log_tau);
  const Variable r = (y - (mu + tau * z)) / s;
  const Variable value =
      -0.5 * sqr(mu / 5.0) - 0.5 * sqr(tau / 5.0) + log_tau - 0.5 * sum(sqr(z)) + sum(-0.5 * sqr(r) - log(s));
  return {{q}, value, {grad(value, q)}};
}

// Rows of groups: y ~ normal(mu[index] + x b, exp(log_sigma)), up to a constant.
inline Model group_model() {
  using namespace bitale;
  const Variable y = vector("y"), x = vector("x"), index = lvector("index"), mu = vector("mu"), b = scalar("b"),
                 log_sigma = scalar("log_sigma");
  const Variable r = (y - subtensor(mu, {index}) - x * b) / exp(log_sigma);
  const Variable value = sum(-0.5 * sqr(r) - log_sigma);
  return {{y, x, index, mu, b, log_sigma}, value, grad(value, {mu, b, log_sigma})};
}

}  // namespace bench
