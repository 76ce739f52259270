// PageRank: by iteration, where a step is one loop over the links, and by a sparse system, whose transposed solution
// says how much the rank of a page owes to each page's own weight. With the shares P of the links on a page, the ranks
// are r = damping P r + (1 - damping) w.
#include <bitale/sparse/lu.hpp>
#include <cmath>
#include <cstdio>
#include <random>

#include "table.hpp"
#include "triplets.hpp"

namespace bt = bitale;
namespace sparse = bitale::sparse;

int main() {
  const std::int64_t pages = quick() ? 200 : 3000;
  std::mt19937_64 random(0);
  std::uniform_real_distribution<double> uniform(0, 1);

  // New pages link mostly to older ones, and to the one before; the first one links to the newest.
  std::vector<std::vector<std::int64_t>> links(std::size_t(pages), std::vector<std::int64_t>{});
  links[0] = {pages - 1};
  for (std::int64_t page = 1; page < pages; ++page)
    links[std::size_t(page)] = {page - 1, std::int64_t(double(page) * std::pow(uniform(random), 2)),
                                std::int64_t(double(page) * std::pow(uniform(random), 2))};
  Triplets shares(pages, pages);
  for (std::int64_t page = 0; page < pages; ++page)
    for (const std::int64_t target : links[std::size_t(page)])
      shares.add(target, page, 1.0 / double(links[std::size_t(page)].size()));
  const sparse::Matrix P = shares.matrix();

  const auto damping = bt::dscalar("damping"), weights = bt::dvector("weights"), ranks = bt::dvector("ranks");
  const auto step = damping * sparse::dot(P, ranks) + (1.0 - damping) * weights;
  const auto iterate = bt::function({damping, weights, ranks}, {step, bt::sum(bt::abs(step - ranks))});
  const bt::Array given(std::vector<double>(std::size_t(pages), 1.0 / double(pages)));
  bt::Array found = given;
  int steps = 0;
  for (double change = 1; change > 1e-12; ++steps) {
    const auto out = iterate({0.85, given, found});
    found = out[0];
    change = out[1].item();
  }
  std::printf("%d steps\n", steps);

  const sparse::Lu system(sparse::sub(scaled_identity(pages), sparse::mul(P, damping)));
  const auto solution = system.solve((1.0 - damping) * weights), newest = bt::subtensor(solution, {-1});
  const auto solve = bt::function({damping, weights}, {solution, bt::grad(newest, damping), bt::grad(newest, weights)});
  const auto out = solve({0.85, given});
  const double *exact = out[0].mutable_data_as<double>(), *by_weights = out[2].mutable_data_as<double>();
  double error = 0, total = 0, parts = 0;
  std::int64_t highest = 0;
  for (std::int64_t page = 0; page < pages; ++page) {
    error = std::max(error, std::abs(exact[page] - found.data_as<double>()[page]));
    total += exact[page];
    parts += by_weights[page] / double(pages);
    if (exact[page] > exact[highest]) highest = page;
  }
  std::printf("highest rank: page %lld, %.4f\n", static_cast<long long>(highest), exact[highest]);
  std::printf("the rank of the newest page changes by %.2e per damping; it is %.2e, the sum of its parts by weights\n",
              out[1].item(), parts);
  const bool good = error < 1e-10 && std::abs(total - 1) < 1e-9 && std::abs(parts / exact[pages - 1] - 1) < 1e-9;
  return good ? 0 : 1;
}
