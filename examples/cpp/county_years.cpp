// Levels of counties and years from measurements in houses: a hierarchical model with named dimensions, and the same
// without names. Both give the same numbers and the same code.
#include <bitale/bitale.hpp>
#include <bitale/xtensor/calculus.hpp>
#include <bitale/xtensor/functions.hpp>
#include <bitale/xtensor/indexing.hpp>
#include <bitale/xtensor/selection.hpp>
#include <bitale/xtensor/windows.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace bt = bitale;
namespace xt = bitale::xtensor;

int main() {
  const bool quick = std::getenv("BITALE_EXAMPLE_QUICK") != nullptr;
  const int counties = 12, years = 10, houses = quick ? 300 : 1500, steps = quick ? 100 : 400;
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  const auto below = [&](int n) { return std::int64_t(random() % std::uint64_t(n)); };

  // Data: true levels, and houses that measure them with noise.
  std::vector<double> county_effect(counties), year_effect(years), radon(houses);
  for (double& each : county_effect) each = 1.3 + 0.4 * normal(random);
  for (std::size_t k = 1; k < year_effect.size(); ++k)
    year_effect[k] = year_effect[k - 1] - 0.05 + 0.05 * normal(random);
  std::vector<std::int64_t> county_of(houses), year_of(houses);
  for (std::size_t i = 0; i < radon.size(); ++i) {
    county_of[i] = below(counties), year_of[i] = below(years);
    radon[i] = county_effect[std::size_t(county_of[i])] + year_effect[std::size_t(year_of[i])] + 0.5 * normal(random);
  }

  // Dimensions with the names of their positions.
  std::vector<xt::Label> names, numbers;
  for (int k = 0; k < counties; ++k) names.push_back(std::string("county ") + char('A' + k));
  for (int k = 0; k < years; ++k) numbers.push_back(std::int64_t(1985 + k));
  const xt::Dim county("county", {}, xt::coordinates(names)), year("year", {}, xt::coordinates(numbers)),
      house("house", houses);

  // The model with names: a table over (county, year), from which houses select.
  const xt::XVariable by_county = xt::xtensor("by_county", {county}), by_year = xt::xtensor("by_year", {year});
  const xt::XVariable data(bt::Array(radon), {house});
  const xt::XVariable level = by_county + by_year;
  const xt::XVariable expected = xt::isel(level, {{"county", xt::XVariable(bt::Array(county_of), {house})},
                                                  {"year", xt::XVariable(bt::Array(year_of), {house})}});
  const xt::XVariable loss = 2.0 * xt::sum(xt::sqr(data - expected)) + 3.0 * xt::sum(xt::sqr(by_county - 1.3)) +
                             50.0 * xt::sum(xt::sqr(xt::diff(by_year, "year"))) +
                             0.5 * xt::sqr(xt::isel(by_year, {{"year", 0}}));
  const xt::XVariables slopes = xt::grad(loss, xt::XVariables{by_county, by_year});
  const auto objective =
      bt::function({by_county.values(), by_year.values()}, {loss.values(), slopes[0].values(), slopes[1].values()});

  // The same without names: axes are numbers, and new ones have to be put in place.
  const bt::Variable c = by_county.values(), y = by_year.values(), d = data.values();
  const bt::Variable plain_level = bt::add(bt::dimshuffle(c, {0, bt::new_axis}), y);
  const bt::Variable at =
      bt::subtensor(plain_level, {bt::constant(bt::Array(county_of)), bt::constant(bt::Array(year_of))});
  const bt::Variable change =
      bt::sub(bt::subtensor(y, {bt::Slice{1, {}, {}}}), bt::subtensor(y, {bt::Slice{{}, -1, {}}}));
  const bt::Variable plain = 2.0 * bt::sum(bt::sqr(d - at)) + 3.0 * bt::sum(bt::sqr(c - 1.3)) +
                             50.0 * bt::sum(bt::sqr(change)) + 0.5 * bt::sqr(bt::subtensor(y, {0}));
  const bt::Variables plain_slopes = bt::grad(plain, bt::Variables{c, y});
  const auto plain_objective = bt::function({c, y}, {plain, plain_slopes[0], plain_slopes[1]});

  // Down the gradient, with momentum.
  const auto descended = [&](const bt::Function& f, double& value) {
    std::vector<double> at[2] = {std::vector<double>(counties, 0.0), std::vector<double>(years, 0.0)};
    std::vector<double> speed[2] = {at[0], at[1]};
    for (int step = 0; step < steps; ++step) {
      const bt::Results found = f({bt::Array(at[0]), bt::Array(at[1])});
      value = found[0].item();
      for (std::size_t k = 0; k < 2; ++k) {
        const bt::Array slope = found[k + 1].contiguous();
        for (std::size_t i = 0; i < at[k].size(); ++i) {
          speed[k][i] = 0.9 * speed[k][i] - (quick ? 1.5e-3 : 4e-4) * slope.data_as<double>()[i];
          at[k][i] += speed[k][i];
        }
      }
    }
    return std::pair(at[0], at[1]);
  };
  double value = 0, plain_value = 0;
  const auto [counties_found, years_found] = descended(objective, value);
  descended(plain_objective, plain_value);

  double error = 0;
  for (std::size_t i = 0; i < county_effect.size(); ++i)
    for (std::size_t k = 0; k < year_effect.size(); ++k)
      error += std::abs(counties_found[i] + years_found[k] - county_effect[i] - year_effect[k]) / (counties * years);
  const xt::XVariable of_c = xt::sel(level, {{"county", "county C"}, {"year", xt::between(std::int64_t(1990), {})}});
  const bt::Array shown = bt::function({c, y}, of_c.values())({bt::Array(counties_found), bt::Array(years_found)});
  std::printf("loss %.6f with names, %.6f without; mean error of a level %.3f\ncounty C from 1990 on:", value,
              plain_value, error);
  for (std::int64_t k = 0; k < shown.size(); ++k) std::printf(" %.2f", shown.contiguous().data_as<double>()[k]);
  std::printf("\n");
  return std::abs(value - plain_value) < 1e-9 * std::abs(value) && error < (quick ? 0.2 : 0.12) ? 0 : 1;
}
