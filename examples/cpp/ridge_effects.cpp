// Ridge regression on two categories with many levels each, and on a number: the penalty by the smallest error of
// predictions for rows left out, whose derivative comes from the same factor. The design has three elements a row, and
// its cross product is sparse, with the positions of the levels that occur together.
#include <bitale/sparse/cholesky.hpp>
#include <cmath>
#include <cstdio>
#include <random>

#include "table.hpp"
#include "triplets.hpp"

namespace bt = bitale;
namespace sparse = bitale::sparse;

int main() {
  const std::int64_t rows = quick() ? 2000 : 300'000, shops = quick() ? 40 : 2000, items = quick() ? 60 : 400;
  const std::int64_t coefficients = shops + items + 1, held_out = rows / 5;
  std::mt19937_64 random(0);
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<std::int64_t> shop(0, shops - 1), item(0, items - 1);

  std::vector<double> truth;
  for (std::int64_t k = 0; k < coefficients; ++k) truth.push_back((k < shops ? 0.5 : 0.3) * normal(random));
  truth.back() = -1;
  Triplets gram(coefficients, coefficients), other(held_out, coefficients);
  std::vector<double> right(std::size_t(coefficients), 0.0), y_other;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t columns[] = {shop(random), shops + item(random), shops + items};
    const double values[] = {1, 1, normal(random)};
    double y = normal(random);
    for (std::size_t k = 0; k < 3; ++k) y += values[k] * truth[std::size_t(columns[k])];
    for (std::size_t k = 0; k < 3; ++k)
      if (row < held_out)
        other.add(row, columns[k], values[k]);
      else {
        right[std::size_t(columns[k])] += values[k] * y;
        for (std::size_t l = 0; l < 3; ++l) gram.add(columns[k], columns[l], values[k] * values[l]);
      }
    if (row < held_out) y_other.push_back(y);
  }

  const auto log_penalty = bt::dscalar("log_penalty");
  const auto system = sparse::add(gram.matrix(), sparse::mul(scaled_identity(coefficients), bt::exp(log_penalty)));
  const auto estimate = sparse::Cholesky(system).solve(bt::constant(bt::Array(right)));
  const auto error = bt::mean(bt::sqr(sparse::dot(other.matrix(), estimate) - bt::constant(bt::Array(y_other))));
  const auto f = bt::function({log_penalty}, {error, bt::grad(error, log_penalty), bt::subtensor(estimate, {-1})});

  // The derivative changes its sign at the best penalty.
  double low = -5, high = 10;
  for (int step = 0; step < 40; ++step) {
    const double middle = (low + high) / 2;
    (f({middle})[1].item() < 0 ? low : high) = middle;
  }
  const auto best = f({low}), smaller = f({low - 0.5}), larger = f({low + 0.5});
  std::printf("penalty %.2f, error %.4f; price %.3f, true %.1f\n", std::exp(low), best[0].item(), best[2].item(), -1.0);
  const bool good =
      best[0].item() <= smaller[0].item() && best[0].item() <= larger[0].item() && std::abs(best[2].item() + 1) < 0.1;
  return good ? 0 : 1;
}
