// Loops: the Kalman filter of the local level model on the Nile series (100 years), whose two variances Newton's method
// finds; each likelihood is compared with a loop written out. Durbin and Koopman (2012), section 2.10, have 15099 and
// 1469.1.
#include <bitale/bitale.hpp>
#include <bitale/ops/scan.hpp>
#include <cmath>
#include <iostream>
#include <iterator>

namespace bt = bitale;

namespace {

constexpr double nile[] = {1120, 1160, 963, 1210, 1160, 1160, 813,  1230, 1370, 1140, 995,  935,  1110, 994,  1020,
                           960,  1180, 799, 958,  1140, 1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774,  840,
                           874,  694,  940, 833,  701,  916,  692,  1020, 1050, 969,  831,  726,  456,  824,  702,
                           1120, 1100, 832, 764,  821,  768,  845,  864,  862,  698,  845,  744,  796,  1040, 759,
                           781,  865,  845, 944,  984,  897,  822,  1010, 771,  676,  649,  846,  812,  742,  801,
                           1040, 860,  874, 848,  890,  744,  749,  838,  1050, 918,  986,  797,  923,  975,  815,
                           1020, 906,  901, 1170, 912,  746,  919,  718,  714,  740};
constexpr double log_of_two_pi = 1.8378770664093454836;

double written_out(double noise, double walk) {
  double level = nile[0], variance = noise + walk, total = 0;
  for (std::size_t t = 1; t < std::size(nile); ++t) {
    const double error = nile[t] - level, spread = variance + noise, gain = variance / spread;
    total -= 0.5 * (log_of_two_pi + std::log(spread) + error * error / spread);
    level += gain * error;
    variance = variance * (1 - gain) + walk;
  }
  return total;
}

}  // namespace

int main() {
  const auto y = bt::vector("y"), a = bt::scalar("log_noise"), b = bt::scalar("log_walk"), first = bt::scalar("first");
  const auto noise = bt::exp(a), walk = bt::exp(b);
  const auto filter = bt::scan(
      {.sequences = {y}, .initial = {bt::ScanInitial(first), bt::ScanInitial(noise + walk), bt::ScanInitial()}},
      [&](const bt::Variable& y_t, const bt::Variable& level, const bt::Variable& variance) {
        const auto error = y_t - level, spread = variance + noise, gain = variance / spread;
        const auto term = -0.5 * (log_of_two_pi + bt::log(spread) + error * error / spread);
        return bt::Variables{level + gain * error, variance * (1.0 - gain) + walk, term};
      });
  const auto likelihood = bt::sum(filter.traces[2]);
  const auto by_a = bt::grad(likelihood, a), by_b = bt::grad(likelihood, b);
  const auto f = bt::function(
      {y, first, a, b}, bt::Variables{likelihood, by_a, by_b, bt::grad(by_a, a), bt::grad(by_a, b), bt::grad(by_b, b)});

  bt::Array rest = bt::Array::empty(bt::DType::Float64, {std::int64_t(std::size(nile)) - 1});
  std::copy(std::begin(nile) + 1, std::end(nile), rest.mutable_data_as<double>());
  double at[2] = {std::log(10000.0), std::log(1000.0)};
  bool agrees = true;
  for (int step = 0; step < 20; ++step) {
    const auto got = f({rest, nile[0], at[0], at[1]});
    const double g0 = got[1].item(), g1 = got[2].item(), h00 = got[3].item(), h01 = got[4].item(), h11 = got[5].item();
    agrees &= std::abs(got[0].item() - written_out(std::exp(at[0]), std::exp(at[1]))) < 1e-8;
    const double determinant = h00 * h11 - h01 * h01;
    at[0] -= (h11 * g0 - h01 * g1) / determinant;
    at[1] -= (h00 * g1 - h01 * g0) / determinant;
  }
  const double found[] = {std::exp(at[0]), std::exp(at[1])};
  std::cout << "Nile: variances " << found[0] << " and " << found[1] << "\n";
  return agrees && std::abs(found[0] - 15099) < 15 && std::abs(found[1] - 1469.1) < 1.5 ? 0 : 1;
}
