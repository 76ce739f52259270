// Random variables. A generator is a Variable of RandomType (graph/random_type.hpp); a draw returns the generator's
// next state together with the drawn value, so that the graph determines the order of draws:
//
//   auto rng = shared_of(random_type(), random_state(42), "rng");
//   auto [next, x] = random::normal(rng, 0.0, 1.0, {{1000}});
//   auto f = function({}, x, {.updates = {{rng, next}}});
//
// Draws from the states of NumPy's generators are numpy.random.Generator's, bit for bit; draws from a counter-based
// stream are element rules. Parameters broadcast against each other, and to `size` where it is given. Names and
// parameters are PyTensor's. ValueError for parameters outside their domain, when the function is called.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bitale/graph/random_type.hpp"
#include "bitale/ops/operand.hpp"

namespace bitale::random {

struct Draw {
  Variable next_rng, value;
};

using Size = std::optional<Operands>;  // none: the shape that the parameters broadcast to

// A symbolic generator.
Variable rng(std::string name = {}, BitGenerator generator = BitGenerator::PCG64);

// Any distribution of the table, by NumPy's name (runtime/random/draws). NotImplementedError for others.
Draw draw(std::string_view distribution, const Operand& rng, const Operands& parameters = {}, const Size& size = {});

// Draws of rows: "dirichlet" (alpha), "multinomial" (n, pvals), "permutation" of the positions below `length`, "choice"
// of `length` of the positions below `population`, "weighted_choice" with probabilities (p). `batch` is the shape in
// which rows are drawn; parameters broadcast to it. One state draws all of them consecutively.
Draw rows(std::string_view distribution, const Operand& rng, const Operands& batch, const Operand& length,
          const std::optional<Operand>& population = {}, const Operands& parameters = Variables{});

// A distribution composed of NumPy's, by PyTensor's name (ops/random_compositions): "halfnormal", "pareto", ...
Draw composed(std::string_view distribution, const Operand& rng, const Operands& parameters, const Size& size = {});

// clang-format off
// Distributions of numbers with parameters, one per row: the name, its functions in bitale/stats/densities.hpp (pdf,
// pmf, tails: pdf, logcdf and logsf), and the parameters. First NumPy's, then those composed of them, which consume the
// state as PyTensor's do.
#define BITALE_NUMPY_DISTRIBUTIONS(X) \
  X(uniform, tails, (const Operand& low = 0.0, const Operand& high = 1.0), low, high) \
  X(normal, tails, (const Operand& loc = 0.0, const Operand& scale = 1.0), loc, scale) \
  X(lognormal, tails, (const Operand& mean = 0.0, const Operand& sigma = 1.0), mean, sigma) \
  X(exponential, tails, (const Operand& scale = 1.0), scale) \
  X(gamma, pdf, (const Operand& shape, const Operand& scale = 1.0), shape, scale) \
  X(beta, pdf, (const Operand& alpha, const Operand& beta), alpha, beta) \
  X(chisquare, pdf, (const Operand& df), df) \
  X(weibull, none, (const Operand& shape), shape) \
  X(laplace, tails, (const Operand& loc = 0.0, const Operand& scale = 1.0), loc, scale) \
  X(logistic, tails, (const Operand& loc = 0.0, const Operand& scale = 1.0), loc, scale) \
  X(rayleigh, tails, (const Operand& scale = 1.0), scale) \
  X(wald, pdf, (const Operand& mean = 1.0, const Operand& scale = 1.0), mean, scale) \
  X(vonmises, pdf, (const Operand& mu, const Operand& kappa), mu, kappa) \
  X(triangular, pdf, (const Operand& left, const Operand& mode, const Operand& right), left, mode, right) \
  X(poisson, pmf, (const Operand& lam = 1.0), lam) \
  X(geometric, pmf, (const Operand& p), p) \
  X(binomial, pmf, (const Operand& n, const Operand& p), n, p) \
  X(negative_binomial, pmf, (const Operand& n, const Operand& p), n, p) \
  X(hypergeometric, pmf, (const Operand& ngood, const Operand& nbad, const Operand& nsample), ngood, nbad, nsample) \
  X(integers, pmf, (const Operand& low, const Operand& high), low, high)
#define BITALE_COMPOSED_DISTRIBUTIONS(X) \
  X(bernoulli, pmf, (const Operand& p), p) \
  X(halfnormal, tails, (const Operand& loc = 0.0, const Operand& scale = 1.0), loc, scale) \
  X(pareto, tails, (const Operand& b, const Operand& scale = 1.0), b, scale) \
  X(gumbel, tails, (const Operand& loc = 0.0, const Operand& scale = 1.0), loc, scale) \
  X(cauchy, tails, (const Operand& loc = 0.0, const Operand& scale = 1.0), loc, scale) \
  X(halfcauchy, pdf, (const Operand& loc = 0.0, const Operand& scale = 1.0), loc, scale) \
  X(invgamma, pdf, (const Operand& shape, const Operand& scale), shape, scale) \
  X(truncexpon, pdf, (const Operand& b, const Operand& loc = 0.0, const Operand& scale = 1.0), b, loc, scale) \
  X(truncated_normal, pdf, (const Operand& loc, const Operand& scale, const Operand& lower, const Operand& upper), loc, scale, lower, upper) \
  X(t, pdf, (const Operand& df, const Operand& loc = 0.0, const Operand& scale = 1.0), df, loc, scale) \
  X(gengamma, pdf, (const Operand& alpha = 1.0, const Operand& p = 1.0, const Operand& lambd = 1.0), alpha, p, lambd) \
  X(betabinom, pmf, (const Operand& n, const Operand& a, const Operand& b), n, a, b) \
  X(maxwell, pdf, (const Operand& scale = 1.0), scale) \
  X(kumaraswamy, pdf, (const Operand& a, const Operand& b), a, b) \
  X(gompertz, pdf, (const Operand& c, const Operand& scale = 1.0), c, scale) \
  X(loguniform, pdf, (const Operand& low, const Operand& high), low, high) \
  X(moyal, pdf, (const Operand& loc = 0.0, const Operand& scale = 1.0), loc, scale)
#define BITALE_PARAMETERS(...) __VA_ARGS__
#define BITALE_DECLARE(name, functions, parameters, ...) inline Draw name(const Operand& rng, BITALE_PARAMETERS parameters, const Size& size = {}) { return draw(#name, rng, {__VA_ARGS__}, size); }
BITALE_NUMPY_DISTRIBUTIONS(BITALE_DECLARE)
#undef BITALE_DECLARE
#define BITALE_DECLARE(name, functions, parameters, ...) inline Draw name(const Operand& rng, BITALE_PARAMETERS parameters, const Size& size = {}) { return composed(#name, rng, {__VA_ARGS__}, size); }
BITALE_COMPOSED_DISTRIBUTIONS(BITALE_DECLARE)
#undef BITALE_DECLARE
inline Draw standard_normal(const Operand& rng, const Size& size = Operands{}) { return draw("standard_normal", rng, {}, size); }
// clang-format on

// A position along the last dimension of p, drawn with these probabilities, which must sum to 1 (to 1.5e-8; for
// float32: to 3.5e-4).
Draw categorical(const Operand& rng, const Operand& p, const Size& size = {});
// Distributions of vectors: mean + A z with A A^T = cov, by the method "cholesky", "svd" or "eigh"; shares that sum to
// 1; counts of n trials. LinAlgError for a covariance matrix that is not positive definite (svd, eigh: not
// semidefinite).
Draw multivariate_normal(const Operand& rng, const Operand& mean, const Operand& cov, const Size& size = {},
                         std::string_view method = "cholesky");
Draw dirichlet(const Operand& rng, const Operand& alpha, const Size& size = {});
Draw multinomial(const Operand& rng, const Operand& n, const Operand& p, const Size& size = {});

// The numbers below x in random order, or x with its first dimension in random order; size: how many permutations.
Draw permutation(const Operand& rng, const Operand& x, const Size& size = Operands{});
struct ChoiceOptions {
  bool replace = true;            // whether an element may be drawn again
  std::optional<Operand> p = {};  // the probabilities of the elements, a vector; by default all are equal
};
// Elements of the first dimension of a, or numbers below a. Without size, one element.
Draw choice(const Operand& rng, const Operand& a, const Size& size = {}, const ChoiceOptions& options = {});

// Child `number` of a counter-based stream: a separate stream, which neither advances `rng` nor depends on what is
// drawn from it. TypeError for other generators. The children of one state count as a draw from it: continue with a
// split's next_rng.
Variable fold(const Operand& rng, const Operand& number);
struct Split {
  Variables children;
  Variable next_rng;
};
Split split(const Operand& rng, int count);

// The names that `draw` knows, sorted.
std::vector<std::string> distribution_names();

}  // namespace bitale::random
