// Loops and branches in one native function: the log density of an AR(1) process with its gradient, a square root by
// Newton's method until it no longer changes, and an `ifelse` that computes only one branch.
#include <bitale/bitale.hpp>
#include <bitale/ops/scan.hpp>
#include <chrono>
#include <cmath>
#include <iostream>
#include <random>

namespace bt = bitale;

namespace {

constexpr std::int64_t steps = 10'000;

double density_written_out(const bt::Array& data, double mu, double phi, double log_sigma) {
  double total = 0, before = mu;
  for (std::int64_t t = 0; t < steps; ++t) {
    const double z = (data.data_as<double>()[t] - mu - phi * (before - mu)) * std::exp(-log_sigma);
    total += -0.5 * z * z - log_sigma - 0.5 * std::log(2 * M_PI);
    before = data.data_as<double>()[t];
  }
  return total;
}

}  // namespace

int main() {
  // ---- a loop over a sequence, with a state; its gradient is a loop, too ----
  auto y = bt::dvector("y");
  auto mu = bt::dscalar("mu"), phi = bt::dscalar("phi"), log_sigma = bt::dscalar("log_sigma");
  auto ar = bt::scan({.sequences = {y}, .initial = {mu, {}}}, [&](bt::Variable y_t, bt::Variable before) {
    auto z = (y_t - mu - phi * (before - mu)) * bt::exp(-log_sigma);
    return bt::Variables{y_t, -0.5 * bt::sqr(z) - log_sigma - 0.5 * std::log(2 * M_PI)};
  });
  auto log_density = bt::sum(ar.traces[1]);
  bt::Variables outputs{log_density};
  for (auto& each : bt::grad(log_density, {mu, phi, log_sigma})) outputs.push_back(each);
  auto density = bt::function({y, mu, phi, log_sigma}, outputs);

  std::mt19937_64 generator(1);
  std::normal_distribution<double> noise;
  bt::Array data = bt::Array::full(bt::DType::Float64, {steps}, 0);
  for (std::int64_t t = 1; t < steps; ++t)
    data.mutable_data_as<double>()[t] = 0.7 * data.data_as<double>()[t - 1] + noise(generator);
  const auto found = density({data, bt::Array(0.1), bt::Array(0.6), bt::Array(0.05)});
  const double expected = density_written_out(data, 0.1, 0.6, 0.05);
  const double by_phi =
      (density_written_out(data, 0.1, 0.6 + 1e-5, 0.05) - density_written_out(data, 0.1, 0.6 - 1e-5, 0.05)) / 2e-5;
  const auto start = std::chrono::steady_clock::now();
  density({data, bt::Array(0.1), bt::Array(0.6), bt::Array(0.05)});
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  std::cout << "AR(1), " << steps << " steps: log density " << found[0].item() << ", with gradient in " << took.count()
            << " us\n";
  bool right = std::abs(found[0].item() - expected) < 1e-8 * std::abs(expected) &&
               std::abs(found[2].item() - by_phi) < 1e-4 * std::abs(by_phi);

  // ---- a loop that ends by itself ----
  auto x = bt::dscalar("x");
  auto newton = bt::scan({.initial = {x}, .n_steps = 100}, [&](bt::Variable root) {
    auto next = 0.5 * (root + x / root);
    return bt::ScanStep({next}, bt::abs(next - root) <= 1e-15 * next);
  });
  auto root = bt::function({x}, {newton.finals[0], newton.steps});
  const auto of_two = root({bt::Array(2.0)});
  std::cout << "the square root of 2 after " << of_two[1].int_item() << " steps: " << of_two[0].item() << "\n";
  right &= std::abs(of_two[0].item() - std::sqrt(2.0)) < 1e-15 && of_two[1].int_item() < 10;

  // ---- a branch: the other side may be wrong for these values, or take long ----
  auto v = bt::dvector("v");
  auto spread = bt::ifelse(bt::size(v) > 1, bt::sum(bt::sqr(v - bt::mean(v))) / (bt::size(v) - 1), bt::constant(0.0));
  auto variance = bt::function({v}, spread);
  const bt::Array several = variance({bt::Array{1., 2., 6.}}), single = variance({bt::Array{5.}});
  std::cout << "variances: " << several << " and " << single << "\n" << variance.dprint("program");
  right &= several.item() == 7 && single.item() == 0;
  return right ? 0 : 1;
}
