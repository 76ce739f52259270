// Random variables. A generator is a Variable of RandomType (graph/random_type.hpp); a draw returns the generator's
// next state together with the drawn value, so that the graph determines the order of draws:
//
//   auto rng = shared_of(random_type(), random_state(42), "rng");
//   auto [next, x] = random::normal(rng, 0.0, 1.0, {1000});
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
inline Draw uniform(const Operand& rng, const Operand& low = 0.0, const Operand& high = 1.0, const Size& size = {}) { return draw("uniform", rng, {low, high}, size); }
inline Draw normal(const Operand& rng, const Operand& loc = 0.0, const Operand& scale = 1.0, const Size& size = {}) { return draw("normal", rng, {loc, scale}, size); }
inline Draw standard_normal(const Operand& rng, const Size& size = Operands{}) { return draw("standard_normal", rng, {}, size); }
inline Draw lognormal(const Operand& rng, const Operand& mean = 0.0, const Operand& sigma = 1.0, const Size& size = {}) { return draw("lognormal", rng, {mean, sigma}, size); }
inline Draw exponential(const Operand& rng, const Operand& scale = 1.0, const Size& size = {}) { return draw("exponential", rng, {scale}, size); }
inline Draw gamma(const Operand& rng, const Operand& shape, const Operand& scale = 1.0, const Size& size = {}) { return draw("gamma", rng, {shape, scale}, size); }
inline Draw beta(const Operand& rng, const Operand& alpha, const Operand& beta, const Size& size = {}) { return draw("beta", rng, {alpha, beta}, size); }
inline Draw chisquare(const Operand& rng, const Operand& df, const Size& size = {}) { return draw("chisquare", rng, {df}, size); }
inline Draw weibull(const Operand& rng, const Operand& shape, const Size& size = {}) { return draw("weibull", rng, {shape}, size); }
inline Draw laplace(const Operand& rng, const Operand& loc = 0.0, const Operand& scale = 1.0, const Size& size = {}) { return draw("laplace", rng, {loc, scale}, size); }
inline Draw logistic(const Operand& rng, const Operand& loc = 0.0, const Operand& scale = 1.0, const Size& size = {}) { return draw("logistic", rng, {loc, scale}, size); }
inline Draw rayleigh(const Operand& rng, const Operand& scale = 1.0, const Size& size = {}) { return draw("rayleigh", rng, {scale}, size); }
inline Draw wald(const Operand& rng, const Operand& mean = 1.0, const Operand& scale = 1.0, const Size& size = {}) { return draw("wald", rng, {mean, scale}, size); }
inline Draw vonmises(const Operand& rng, const Operand& mu, const Operand& kappa, const Size& size = {}) { return draw("vonmises", rng, {mu, kappa}, size); }
inline Draw triangular(const Operand& rng, const Operand& left, const Operand& mode, const Operand& right, const Size& size = {}) { return draw("triangular", rng, {left, mode, right}, size); }
inline Draw poisson(const Operand& rng, const Operand& lam = 1.0, const Size& size = {}) { return draw("poisson", rng, {lam}, size); }
inline Draw geometric(const Operand& rng, const Operand& p, const Size& size = {}) { return draw("geometric", rng, {p}, size); }
inline Draw binomial(const Operand& rng, const Operand& n, const Operand& p, const Size& size = {}) { return draw("binomial", rng, {n, p}, size); }
inline Draw negative_binomial(const Operand& rng, const Operand& n, const Operand& p, const Size& size = {}) { return draw("negative_binomial", rng, {n, p}, size); }
inline Draw hypergeometric(const Operand& rng, const Operand& ngood, const Operand& nbad, const Operand& nsample, const Size& size = {}) { return draw("hypergeometric", rng, {ngood, nbad, nsample}, size); }
inline Draw integers(const Operand& rng, const Operand& low, const Operand& high, const Size& size = {}) { return draw("integers", rng, {low, high}, size); }
// Composed of the above; they consume the state as PyTensor's do.
inline Draw bernoulli(const Operand& rng, const Operand& p, const Size& size = {}) { return composed("bernoulli", rng, {p}, size); }
inline Draw halfnormal(const Operand& rng, const Operand& loc = 0.0, const Operand& scale = 1.0, const Size& size = {}) { return composed("halfnormal", rng, {loc, scale}, size); }
inline Draw pareto(const Operand& rng, const Operand& b, const Operand& scale = 1.0, const Size& size = {}) { return composed("pareto", rng, {b, scale}, size); }
inline Draw gumbel(const Operand& rng, const Operand& loc = 0.0, const Operand& scale = 1.0, const Size& size = {}) { return composed("gumbel", rng, {loc, scale}, size); }
inline Draw cauchy(const Operand& rng, const Operand& loc = 0.0, const Operand& scale = 1.0, const Size& size = {}) { return composed("cauchy", rng, {loc, scale}, size); }
inline Draw halfcauchy(const Operand& rng, const Operand& loc = 0.0, const Operand& scale = 1.0, const Size& size = {}) { return composed("halfcauchy", rng, {loc, scale}, size); }
inline Draw invgamma(const Operand& rng, const Operand& shape, const Operand& scale, const Size& size = {}) { return composed("invgamma", rng, {shape, scale}, size); }
inline Draw truncexpon(const Operand& rng, const Operand& b, const Operand& loc = 0.0, const Operand& scale = 1.0, const Size& size = {}) { return composed("truncexpon", rng, {b, loc, scale}, size); }
inline Draw truncated_normal(const Operand& rng, const Operand& loc, const Operand& scale, const Operand& lower, const Operand& upper, const Size& size = {}) { return composed("truncated_normal", rng, {loc, scale, lower, upper}, size); }
inline Draw t(const Operand& rng, const Operand& df, const Operand& loc = 0.0, const Operand& scale = 1.0, const Size& size = {}) { return composed("t", rng, {df, loc, scale}, size); }
inline Draw gengamma(const Operand& rng, const Operand& alpha = 1.0, const Operand& p = 1.0, const Operand& lambd = 1.0, const Size& size = {}) { return composed("gengamma", rng, {alpha, p, lambd}, size); }
inline Draw betabinom(const Operand& rng, const Operand& n, const Operand& a, const Operand& b, const Size& size = {}) { return composed("betabinom", rng, {n, a, b}, size); }
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
// Elements of the first dimension of a, or numbers below a; p: their probabilities, a vector. Without size, one
// element.
Draw choice(const Operand& rng, const Operand& a, const Size& size = {}, bool replace = true,
            const std::optional<Operand>& p = {});

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
