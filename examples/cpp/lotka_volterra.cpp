// Loops: the Lotka-Volterra equations, solved by the Runge-Kutta method of order 4 and fitted to the pelts of hares
// and lynxes that the Hudson's Bay Company bought from 1900 to 1920 (Howard 2009), on the scale of logarithms, by
// Levenberg and Marquardt's method with forward derivatives. The path is held against a loop written out. Carpenter,
// Predator-Prey Population Dynamics (Stan case studies, 2018), has rates of 0.55, 0.028, 0.80, 0.024 as means.
#include <bitale/bitale.hpp>
#include <bitale/ops/scan.hpp>
#include <cmath>
#include <iostream>
#include <vector>

#include "table.hpp"

namespace bt = bitale;

namespace {

constexpr std::int64_t years = 21, per_year = 20, parameter_count = 6, residual_count = 2 * years;
constexpr double dt = 1.0 / per_year;
constexpr double pelts[2][years] = {{30.0, 47.2, 70.2, 77.4, 36.3, 20.6, 18.1, 21.4, 22.0, 25.4, 27.1,
                                     40.3, 57.0, 76.6, 52.3, 19.5, 11.2, 7.6,  14.6, 16.2, 24.7},
                                    {4.0, 6.1,  9.8,  35.2, 59.4, 41.7, 19.0, 13.0, 8.3,  9.1, 7.4,
                                     8.0, 12.3, 19.5, 45.7, 51.1, 29.7, 15.8, 9.7,  10.1, 8.6}};

// The two rates of change, of numbers and of expressions alike.
template <class T>
struct Pair {
  T hares, lynxes;
};
template <class T>
Pair<T> change(const std::vector<T>& p, const Pair<T>& s) {
  const T meetings = s.hares * s.lynxes;
  return {p[0] * s.hares - p[1] * meetings, p[3] * meetings - p[2] * s.lynxes};
}
template <class T>
Pair<T> moved(const Pair<T>& s, double by, const Pair<T>& along) {
  return {s.hares + by * along.hares, s.lynxes + by * along.lynxes};
}
template <class T>
Pair<T> runge_kutta(const std::vector<T>& p, const Pair<T>& s) {
  const Pair<T> k1 = change(p, s), k2 = change(p, moved(s, 0.5 * dt, k1)), k3 = change(p, moved(s, 0.5 * dt, k2)),
                k4 = change(p, moved(s, dt, k3));
  return {s.hares + dt / 6 * (k1.hares + 2.0 * k2.hares + 2.0 * k3.hares + k4.hares),
          s.lynxes + dt / 6 * (k1.lynxes + 2.0 * k2.lynxes + 2.0 * k3.lynxes + k4.lynxes)};
}

// Residuals of the logarithms: all years of hares, then all of lynxes.
std::vector<double> written_out(const std::vector<double>& log_parameters) {
  std::vector<double> p, out(residual_count, 0.0);
  for (const double each : log_parameters) p.push_back(std::exp(each));
  Pair<double> state{p[4], p[5]};
  for (std::int64_t year = 0; year < years; ++year) {
    out[std::size_t(year)] = std::log(state.hares) - std::log(pelts[0][year]);
    out[std::size_t(years + year)] = std::log(state.lynxes) - std::log(pelts[1][year]);
    for (std::int64_t k = 0; k < per_year; ++k) state = runge_kutta(p, state);
  }
  return out;
}

// x of a x = b, by elimination with pivots.
std::vector<double> solved(std::vector<std::vector<double>> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; ++i)
      if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
    std::swap(a[k], a[pivot]), std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j < n; ++j) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0; b[k] /= a[k][k])
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= a[k][j] * b[j];
  return b;
}

double square(const bt::Array& values) {
  double total = 0;
  for (std::int64_t i = 0; i < values.size(); ++i) total += values.data_as<double>()[i] * values.data_as<double>()[i];
  return total;
}

}  // namespace

int main() {
  const auto log_parameters = bt::vector("log_parameters");
  std::vector<bt::Variable> p;
  for (std::int64_t k = 0; k < parameter_count; ++k)
    p.push_back(bt::exp(bt::subtensor(log_parameters, {bt::IndexItem(k)})));
  const auto path = bt::scan({.initial = {p[4], p[5]}, .n_steps = bt::Operand((years - 1) * per_year)},
                             [&](const bt::Variable& hares, const bt::Variable& lynxes) {
                               const auto after = runge_kutta<bt::Variable>(p, {hares, lynxes});
                               return bt::Variables{after.hares, after.lynxes};
                             });
  bt::Variables parts;
  for (std::size_t kind = 0; kind < 2; ++kind) {
    const auto yearly = bt::subtensor(path.traces[kind],
                                      {bt::IndexItem(bt::Slice{bt::Operand(per_year - 1), {}, bt::Operand(per_year)})});
    const auto known = bt::constant(bt::Array(std::vector<double>(pelts[kind], pelts[kind] + years)));
    parts.push_back(bt::log(bt::concatenate({bt::expand_dims(p[4 + kind], 0), yearly})) - bt::log(known));
  }
  const auto residuals = bt::concatenate(parts);
  // Each residual depends on six numbers: six forward derivatives.
  bt::Variables outputs{residuals};
  for (std::int64_t k = 0; k < parameter_count; ++k) {
    bt::Array direction = bt::Array::zeros(bt::DType::Float64, {parameter_count});
    direction.mutable_data_as<double>()[k] = 1;
    outputs.push_back(bt::pushforward({residuals}, {log_parameters}, {bt::constant(direction)})[0]);
  }
  const auto f = bt::function({log_parameters}, outputs);

  std::vector<double> at;
  for (const double start : {0.5, 0.025, 0.8, 0.025, 30.0, 4.0}) at.push_back(std::log(start));
  double damping = 1e-2, difference = 0, cost = 0;
  for (int step = 0; step < (quick() ? 5 : 100); ++step) {
    const auto got = f({bt::Array(at)});
    const auto expected = written_out(at);
    for (std::size_t i = 0; i < expected.size(); ++i)
      difference = std::max(difference, std::abs(got[0].data_as<double>()[i] - expected[i]));
    std::vector<std::vector<double>> products(parameter_count, std::vector<double>(parameter_count, 0.0));
    std::vector<double> slope(parameter_count, 0.0), next = at;
    for (std::size_t i = 0; i < slope.size(); ++i) {
      const double* column = got[1 + i].data_as<double>();
      for (std::size_t j = 0; j < slope.size(); ++j)
        for (std::int64_t r = 0; r < residual_count; ++r) products[i][j] += column[r] * got[1 + j].data_as<double>()[r];
      for (std::int64_t r = 0; r < residual_count; ++r) slope[i] += column[r] * got[0].data_as<double>()[r];
      products[i][i] *= 1 + damping;
    }
    const auto move = solved(products, slope);
    for (std::size_t i = 0; i < next.size(); ++i) next[i] -= move[i];
    const bool is_better = square(f({bt::Array(next)})[0]) < square(got[0]);
    damping = is_better ? damping / 5 : damping * 5;
    if (is_better) at = next;
  }
  cost = square(f({bt::Array(at)})[0]) / double(residual_count);
  const double means[] = {0.55, 0.028, 0.80, 0.024};
  bool agrees = difference < 1e-8 && cost < 0.08;
  std::cout << "hares and lynxes: rates";
  for (std::size_t k = 0; k < 4; ++k) {
    std::cout << " " << std::exp(at[k]);
    agrees &= std::abs(std::exp(at[k]) / means[k] - 1) < 0.15;
  }
  std::cout << " and a standard deviation of logarithms of " << std::sqrt(cost) << "\n";
  return agrees ? 0 : 1;
}
