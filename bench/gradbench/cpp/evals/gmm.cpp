// The log posterior of a mixture of normal distributions, whose inverse covariances are Q'Q: Q has exp(q) on its
// diagonal and l below, column by column.
#include <cmath>
#include <numbers>

#include "../compiled.hpp"
#include "../evals.hpp"

namespace gradbench {

namespace bt = bitale;

namespace {

struct Mixture {
  bt::Variable alpha, mu, q, l, x, gamma, m;
};

bt::Variable roots(const Mixture& g, std::int64_t k, std::int64_t d) {
  std::vector<std::int64_t> rows, columns, diagonal;
  for (std::int64_t j = 0; j < d; ++j) {
    diagonal.push_back(j);
    for (std::int64_t i = j + 1; i < d; ++i) {
      rows.push_back(i);
      columns.push_back(j);
    }
  }
  const auto at = [](const std::vector<std::int64_t>& i, const std::vector<std::int64_t>& j) {
    return std::vector<bt::IndexItem>{bt::Slice{}, bt::constant(bt::Array(i)), bt::constant(bt::Array(j))};
  };
  const bt::Variable scales = bt::set_subtensor(bt::zeros({k, d, d}), at(diagonal, diagonal), bt::exp(g.q));
  return bt::set_subtensor(scales, at(rows, columns), g.l);
}

bt::Variable log_multigamma(const bt::Variable& a, std::int64_t d) {
  std::vector<double> halves;
  for (std::int64_t j = 0; j < d; ++j) halves.push_back(0.5 * double(j));
  return 0.25 * double(d * (d - 1)) * std::log(std::numbers::pi) +
         bt::sum(bt::gammaln(a - bt::constant(bt::Array(halves))));
}

bt::Variable log_posterior(const Mixture& g, std::int64_t k, std::int64_t d, std::int64_t n) {
  const bt::Variable root = roots(g, k, d);
  const bt::Variable whitened = bt::einsum("kij,nkj->nki", {root, bt::expand_dims(g.x, 1) - bt::expand_dims(g.mu, 0)});
  const bt::Variable terms = g.alpha + bt::sum(g.q, {{1}}) - 0.5 * bt::sum(bt::sqr(whitened), {{2}});
  const bt::Variable likelihood = -0.5 * double(n * d) * std::log(2 * std::numbers::pi) +
                                  bt::sum(bt::logsumexp(terms, {{1}})) - double(n) * bt::logsumexp(g.alpha);
  const bt::Variable prior = -0.5 * bt::sqr(g.gamma) * bt::sum(bt::sqr(root)) + g.m * bt::sum(g.q);
  const bt::Variable degrees = double(d + 1) + g.m;
  const bt::Variable normaliser =
      degrees * double(d) * (bt::log(g.gamma) - 0.5 * std::numbers::ln2) - log_multigamma(0.5 * degrees, d);
  return likelihood + prior + double(k) * normaliser;
}

}  // namespace

Eval gmm() {
  const auto prepare = [](const Json& input, bool is_derivative) {
    const std::int64_t d = count_field(input, "d"), k = count_field(input, "k"), n = count_field(input, "n");
    Arguments arguments;
    const auto of_shape = [&](const char* name, const std::vector<std::int64_t>& shape) {
      const auto numbers = numbers_field(input, name, shape.size());
      require_shape(name, numbers.shape, shape);
      return arguments(name, numbers);
    };
    const auto number = [&](const char* name) { return arguments(name, bt::Array(number_field(input, name))); };
    const Mixture g{of_shape("alpha", {k}),
                    of_shape("mu", {k, d}),
                    of_shape("q", {k, d}),
                    of_shape("l", {k, d * (d - 1) / 2}),
                    of_shape("x", {n, d}),
                    number("gamma"),
                    number("m")};
    const bt::Variable value = log_posterior(g, k, d, n);
    if (!is_derivative) return compiled(arguments, value);
    return compiled(arguments, bt::grad(value, {g.alpha, g.mu, g.q, g.l}), [](const std::vector<bt::Array>& slopes) {
      return Json{{"alpha", json_of(slopes[0])},
                  {"mu", json_of(slopes[1])},
                  {"q", json_of(slopes[2])},
                  {"l", json_of(slopes[3])}};
    });
  };
  return {"gmm",
          {{"objective", [=](const Json& input) { return prepare(input, false); }},
           {"jacobian", [=](const Json& input) { return prepare(input, true); }}}};
}

}  // namespace gradbench
