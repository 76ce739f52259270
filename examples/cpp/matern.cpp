// A Matérn field on a grid, observed with noise: its scales by maximum marginal likelihood, and the field itself. The
// field solves a stochastic differential equation, so that its precision is sparse: with the Laplacian G of the grid,
// Q = tau^2 (kappa^2 + G)^2 (Lindgren, Rue and Lindstroem 2011). The observations are integrated out by factors of Q
// and of Q + A.T A / sigma^2; gradients are by their selected inverses.
#include <algorithm>
#include <array>
#include <bitale/sparse/cholesky.hpp>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <random>

#include "table.hpp"
#include "triplets.hpp"

namespace bt = bitale;
namespace sparse = bitale::sparse;

int main() {
  const std::int64_t side = quick() ? 12 : 48, points = side * side, seen = points / 2;
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::vector<std::int64_t> observed(std::size_t(points), 0);
  std::iota(observed.begin(), observed.end(), 0);
  std::shuffle(observed.begin(), observed.end(), random);
  observed.resize(std::size_t(seen));
  Triplets at(seen, points), information(points, points);
  for (std::int64_t k = 0; k < seen; ++k) {
    at.add(k, observed[std::size_t(k)], 1);
    information.add(observed[std::size_t(k)], observed[std::size_t(k)], 1);
  }

  // The model: matrices are constants, and what the parameters scale are their elements.
  const auto log_kappa = bt::dscalar("log_kappa"), log_tau = bt::dscalar("log_tau"),
             log_sigma = bt::dscalar("log_sigma"), y = bt::dvector("y"), z = bt::dvector("z");
  const sparse::Matrix A = at.matrix();
  const sparse::Matrix op =
      sparse::add(grid_laplacian(side, true), sparse::mul(scaled_identity(points), bt::exp(2.0 * log_kappa)));
  const sparse::Matrix Q = sparse::mul(sparse::dot(op, op), bt::exp(2.0 * log_tau));
  const auto noise = bt::exp(-2.0 * log_sigma);
  const sparse::Cholesky prior(Q), given(sparse::add(Q, sparse::mul(information.matrix(), noise)));
  const auto mean = given.solve(noise * sparse::dot(A.transpose(), y));
  const auto likelihood =
      0.5 * (prior.logdet() - given.logdet() - double(seen) * (2.0 * log_sigma + std::log(2 * std::acos(-1.0))) -
             noise * bt::sum(bt::sqr(y - sparse::dot(A, mean))) - bt::sum(sparse::dot(Q, mean) * mean));
  const auto f = bt::function({log_kappa, log_tau, log_sigma, y},
                              bt::Variables{-likelihood, -bt::grad(likelihood, log_kappa),
                                            -bt::grad(likelihood, log_tau), -bt::grad(likelihood, log_sigma), mean});
  const auto sample = bt::function({log_kappa, log_tau, z}, {prior.sample(z)});

  const std::array<double, 3> truth{std::log(0.5), std::log(0.6), std::log(0.3)};
  std::vector<double> draws(std::size_t(points), 0.0), data(std::size_t(seen), 0.0);
  for (double& each : draws) each = normal(random);
  const bt::Array field = sample({truth[0], truth[1], bt::Array(draws)})[0];
  for (std::size_t k = 0; k < data.size(); ++k)
    data[k] = field.data_as<double>()[observed[k]] + std::exp(truth[2]) * normal(random);
  const bt::Array values(data);

  // BFGS: the inverse of the Hessian is learned from the gradients' changes.
  std::array<double, 3> x{};
  double inverse[3][3] = {{0.01, 0, 0}, {0, 0.01, 0}, {0, 0, 0.01}};
  auto out = f({x[0], x[1], x[2], values});
  int evaluations = 1;
  const auto slope = [&](std::size_t k) { return out[k + 1].item(); };
  for (int step = 0; step < 60; ++step) {
    std::array<double, 3> before = x, g{}, direction{};
    double largest = 0, descent = 0;
    for (std::size_t k = 0; k < 3; ++k) g[k] = slope(k), largest = std::max(largest, std::abs(g[k]));
    if (largest < 1e-4) break;
    for (std::size_t k = 0; k < 3; ++k) {
      for (std::size_t l = 0; l < 3; ++l) direction[k] -= inverse[k][l] * g[l];
      descent += direction[k] * g[k];
    }
    const double value = out[0].item();
    for (double length = 1; length > 1e-10; length /= 2) {
      for (std::size_t k = 0; k < 3; ++k) x[k] = before[k] + length * direction[k];
      out = f({x[0], x[1], x[2], values});
      ++evaluations;
      if (out[0].item() <= value + 1e-4 * length * descent) break;
    }
    double s[3], t[3], product = 0, inner = 0, scaled[3] = {};
    for (std::size_t k = 0; k < 3; ++k) s[k] = x[k] - before[k], t[k] = slope(k) - g[k], product += s[k] * t[k];
    if (product <= 0) continue;
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t l = 0; l < 3; ++l) scaled[k] += inverse[k][l] * t[l];
    for (std::size_t k = 0; k < 3; ++k) inner += t[k] * scaled[k];
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t l = 0; l < 3; ++l)
        inverse[k][l] +=
            (1 + inner / product) * s[k] * s[l] / product - (scaled[k] * s[l] + s[k] * scaled[l]) / product;
  }
  std::printf("%d evaluations\n", evaluations);
  const char* names[] = {"kappa", "tau", "sigma"};
  double steepest = 0, error = 0, sum = 0, squares = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    std::printf("%-6s %6.3f   true %.3f\n", names[k], std::exp(x[k]), std::exp(truth[k]));
    steepest = std::max(steepest, std::abs(slope(k)));
  }
  for (std::int64_t k = 0; k < points; ++k) {
    const double own = field.data_as<double>()[k];
    error += std::pow(out[4].mutable_data_as<double>()[k] - own, 2);
    sum += own, squares += own * own;
  }
  const double n = double(points), deviation = std::sqrt(squares / n - sum * sum / n / n);
  std::printf("root mean square error of the field %.3f, its standard deviation %.3f\n", std::sqrt(error / n),
              deviation);
  return steepest < 0.05 && std::sqrt(error / n) < 0.9 * deviation ? 0 : 1;
}
