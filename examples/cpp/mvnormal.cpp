// The log density of a multivariate normal distribution with an exponential covariance, and its gradient: the value
// against plain loops, the gradient against finite differences. One native function factors the covariance once.
#include <bitale/bitale.hpp>
#include <cmath>
#include <cstdio>
#include <vector>

namespace bt = bitale;

namespace {

constexpr int n = 40;

struct Data {
  std::vector<double> y, distance;
};

Data make_data() {
  Data data;
  std::vector<double> place;
  for (int i = 0; i < n; ++i) place.push_back(10.0 * i / n + 0.1 * std::sin(7.0 * i));
  for (int i = 0; i < n; ++i) {
    data.y.push_back(std::sin(place[std::size_t(i)]) + 0.1 * std::cos(13.0 * i));
    for (int j = 0; j < n; ++j) data.distance.push_back(std::fabs(place[std::size_t(i)] - place[std::size_t(j)]));
  }
  return data;
}

// At theta = (mean, log scale, log range, log noise).
bt::Variable log_density(const bt::Variable& theta, const Data& data) {
  const auto at = [&](int k) { return bt::subtensor(theta, {k}); };
  const auto distance = bt::constant(bt::Array(data.distance).reshape({n, n}));
  const auto covariance = bt::exp(2.0 * at(1) - distance / bt::exp(at(2))) + bt::exp(2.0 * at(3)) * bt::eye(n);
  const auto factor = bt::cholesky(covariance);
  const auto z = bt::solve_triangular(factor, bt::constant(bt::Array(data.y)) - at(0), {.lower = true});
  return -0.5 * bt::sum(bt::sqr(z)) - bt::sum(bt::log(bt::diagonal(factor))) - 0.5 * n * std::log(2 * std::acos(-1.0));
}

// The same in plain loops: Cholesky's factor, and forward substitution along with it.
double plain_log_density(const std::vector<double>& theta, const Data& data) {
  double out = -0.5 * n * std::log(2 * std::acos(-1.0));
  std::vector<double> factor(n * n), z(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = std::exp(2 * theta[1] - data.distance[i * n + j] / std::exp(theta[2]));
      if (i == j) sum += std::exp(2 * theta[3]);
      for (std::size_t k = 0; k < j; ++k) sum -= factor[i * n + k] * factor[j * n + k];
      factor[i * n + j] = i == j ? std::sqrt(sum) : sum / factor[j * n + j];
    }
  for (std::size_t i = 0; i < n; ++i) {
    double rest = data.y[i] - theta[0];
    for (std::size_t k = 0; k < i; ++k) rest -= factor[i * n + k] * z[k];
    z[i] = rest / factor[i * n + i];
    out -= 0.5 * z[i] * z[i] + std::log(factor[i * n + i]);
  }
  return out;
}

}  // namespace

int main() {
  const Data data = make_data();
  const auto theta = bt::dvector("theta");
  const auto logp = log_density(theta, data);
  const auto f = bt::function({theta}, {logp, bt::grad(logp, theta)});

  const std::vector<double> at{0.1, 0.2, 0.7, -1.5};
  const auto out = f({bt::Array(at)});
  const double value = out[0].item(), wanted = plain_log_density(at, data);
  std::printf("log density %.10f, by plain loops %.10f\n", value, wanted);
  bool good = std::fabs(value - wanted) < 1e-9 * std::fabs(wanted);
  const char* names[] = {"mean", "log scale", "log range", "log noise"};
  for (std::size_t k = 0; k < 4; ++k) {
    auto up = at, down = at;
    up[k] += 1e-6, down[k] -= 1e-6;
    const double numeric = (plain_log_density(up, data) - plain_log_density(down, data)) / 2e-6;
    const double gradient = out[1].mutable_data_as<double>()[k];
    std::printf("  d / d %-10s %12.6f, by differences %12.6f\n", names[k], gradient, numeric);
    good &= std::fabs(gradient - numeric) < 1e-5 * (1 + std::fabs(numeric));
  }
  try {
    f({bt::Array{0.0, 0.0, 69.0, -800.0}});  // all elements of the covariance are 1
    good = false;
  } catch (const bt::LinAlgError& error) {
    std::printf("\nA covariance that is singular: %s\n", error.what());
  }
  return good ? 0 : 1;
}
