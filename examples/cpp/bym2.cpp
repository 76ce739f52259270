// Counts in the areas of a lattice, with similar rates in neighbouring areas (BYM2): the log density and its
// gradient as one function, against differences. The effect of an area is sigma (sqrt(rho) phi / s + sqrt(1 - rho)
// theta), where phi is an intrinsic autoregression over the map, and theta is not smooth. s scales phi so that its
// elements have a geometric mean of variances of 1 (Riebler and others 2016); the variances are elements of an inverse,
// of which only those at the positions of the precision are computed.
#include <algorithm>
#include <bitale/sparse/cholesky.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>

#include "table.hpp"
#include "triplets.hpp"

namespace bt = bitale;
namespace sparse = bitale::sparse;

int main() {
  const std::int64_t side = quick() ? 8 : 40, areas = side * side, count = 3 + 2 * areas;
  std::mt19937_64 random(0);
  std::normal_distribution<double> normal;
  const sparse::Matrix precision = grid_laplacian(side, false);

  // A sum of 0 makes the precision invertible: variances are those of the inverse, less its part along the ones.
  const sparse::Cholesky factor(sparse::add(precision, scaled_identity(areas, 1e-6)));
  const auto along = factor.solve(bt::ones({areas}));
  const auto variances = sparse::diag(factor.selected_inverse()) - bt::sqr(along) / bt::sum(along);
  const double scale = bt::function({}, {bt::exp(bt::mean(bt::log(variances)) / 2.0)})({})[0].item();

  // The data: rates are higher in the middle of the map.
  std::vector<double> exposure, truth, counts;
  std::uniform_real_distribution<double> exposures(20, 60);
  for (std::int64_t k = 0; k < areas; ++k) {
    exposure.push_back(exposures(random));
    truth.push_back(0.8 * std::sin(double(k / side) / double(side) * 3.14159265358979) + 0.1 * normal(random));
    counts.push_back(double(std::poisson_distribution<int>(exposure.back() * std::exp(-1 + truth.back()))(random)));
  }
  const auto y = bt::constant(bt::Array(counts)), exposed = bt::constant(bt::Array(exposure));

  const auto vector = bt::dvector("parameters");
  const auto at = [&](int k) { return bt::subtensor(vector, {k}); };
  const auto part = [&](std::int64_t from, std::int64_t to) {
    return bt::subtensor(vector, {bt::Slice{from, to, {}}});
  };
  const auto alpha = at(0), log_sigma = at(1), rho = bt::sigmoid(at(2)), sigma = bt::exp(log_sigma);
  const auto phi = part(3, 3 + areas), theta = part(3 + areas, count);
  const auto effect = sigma * (bt::sqrt(rho) * phi / scale + bt::sqrt(1.0 - rho) * theta);
  const auto log_rate = alpha + effect + bt::log(exposed);
  const auto smooth = -0.5 * bt::sum(sparse::dot(precision, phi) * phi) -
                      0.5 * bt::sqr(bt::sum(phi)) / std::pow(1e-3 * double(areas), 2);
  const auto prior = -0.5 * bt::sum(bt::sqr(theta)) - bt::sqr(alpha) / 50.0 - 0.5 * bt::sqr(sigma) + log_sigma +
                     0.5 * bt::log(rho * (1.0 - rho));
  const auto density = bt::sum(y * log_rate - bt::exp(log_rate)) + smooth + prior;
  const auto f = bt::function({vector}, {density, bt::grad(density, vector)});

  std::vector<double> point(std::size_t(count), 0.0);
  point[1] = std::log(0.5), point[2] = 1;
  const auto start = std::chrono::steady_clock::now();
  for (int k = 0; k < 100; ++k) f({bt::Array(point)});
  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
  std::printf("%lld parameters, log density and gradient: %.0f us\n", static_cast<long long>(count),
              time.count() / 100);

  bool good = true;
  const auto gradient_at = [&](const std::vector<double>& x) {
    const bt::Array all = f({bt::Array(x)})[1];
    return std::vector<double>(all.data_as<double>(), all.data_as<double>() + count);
  };
  std::vector<double> gradient = gradient_at(point);
  for (const std::size_t k : {std::size_t(0), std::size_t(1), std::size_t(2), std::size_t(5), std::size_t(count - 1)}) {
    auto up = point, down = point;
    up[k] += 1e-5, down[k] -= 1e-5;
    const double numeric = (f({bt::Array(up)})[0].item() - f({bt::Array(down)})[0].item()) / 2e-5;
    good &= std::abs(numeric - gradient[k]) < 1e-4 * (1 + std::abs(numeric));
  }

  // With the scales given the density has one maximum, to which steps of Barzilai and Borwein (1988) lead; the density
  // may fall, but not below the last ten values (Raydan 1997).
  gradient[1] = gradient[2] = 0;
  std::vector<double> values{f({bt::Array(point)})[0].item()};
  double length = 1e-5;
  for (int step = 0; step < 3000; ++step) {
    const double worst = *std::min_element(values.size() > 10 ? values.end() - 10 : values.begin(), values.end());
    auto next = point;
    bt::Array slopes;
    for (int halvings = 0; halvings < 60; ++halvings, length /= 2) {
      for (std::size_t k = 0; k < next.size(); ++k) next[k] = point[k] + length * gradient[k];
      const auto out = f({bt::Array(next)});
      slopes = out[1];
      if (out[0].item() < worst || std::isnan(out[0].item())) continue;
      values.push_back(out[0].item());
      break;
    }
    std::vector<double> slope(slopes.data_as<double>(), slopes.data_as<double>() + count);
    slope[1] = slope[2] = 0;
    double moved = 0, turned = 0;
    for (std::size_t k = 0; k < next.size(); ++k) {
      moved += std::pow(next[k] - point[k], 2);
      turned += (next[k] - point[k]) * (gradient[k] - slope[k]);
    }
    point = next;
    gradient = slope;
    if (moved < 1e-14) break;
    length = turned > 0 ? moved / turned : 1e-5;
  }
  const bt::Array found = bt::function({vector}, {effect})({bt::Array(point)})[0];
  const auto spread = [&](auto&& error) {
    double sum = 0, squares = 0;
    for (std::size_t k = 0; k < truth.size(); ++k) sum += error(k), squares += std::pow(error(k), 2);
    return std::sqrt(squares / double(areas) - std::pow(sum / double(areas), 2));
  };
  const double own = spread([&](std::size_t k) { return found.data_as<double>()[k] - truth[k]; });
  const double raw = spread([&](std::size_t k) { return std::log((counts[k] + 0.5) / exposure[k]) - truth[k]; });
  std::printf("error of the effects: %.3f; of the raw rates: %.3f\n", own, raw);
  return good && own < raw ? 0 : 1;
}
