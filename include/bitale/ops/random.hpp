// Random variables. A generator is a Variable of RandomType (graph/random_type.hpp); a draw gives the generator's next
// state beside what was drawn, so that a graph says in which order things are drawn:
//
//   auto rng = shared_of(random_type(), random_state(42), "rng");
//   auto [next, x] = random::normal(rng, 0.0, 1.0, {1000});
//   auto f = function({}, x, {.updates = {{rng, next}}});
//
// Draws are those of numpy.random.Generator with the same state, bit for bit. Parameters broadcast against each other,
// and to `size` where it is given. Names and parameters are NumPy's and PyTensor's. ValueError for parameters outside
// their domain, when the function is called.
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

using Size = std::optional<Operands>;  // none: what the parameters broadcast to

// A symbolic generator.
Variable rng(std::string name = {}, BitGenerator generator = BitGenerator::PCG64);

// Any distribution of the table, by NumPy's name (runtime/random/draws). NotImplementedError for others.
Draw draw(std::string_view distribution, const Operand& rng, const Operands& parameters = {}, const Size& size = {});

// Rows: "dirichlet" (alpha), "multinomial" (n, pvals), "permutation" of the positions below `length`, "choice" of
// `length` of the positions below `population`, "weighted_choice" with probabilities (p). `batch`: how many, in which
// shape; parameters broadcast to it. One state draws all of them, one after the other.
Draw rows(std::string_view distribution, const Operand& rng, const Operands& batch, const Operand& length,
          const std::optional<Operand>& population = {}, const Operands& parameters = Variables{});

// clang-format off
inline Draw uniform(const Operand& rng, const Operand& low = 0.0, const Operand& high = 1.0, const Size& size = {}) { return draw("uniform", rng, {low, high}, size); }
inline Draw normal(const Operand& rng, const Operand& loc = 0.0, const Operand& scale = 1.0, const Size& size = {}) { return draw("normal", rng, {loc, scale}, size); }
inline Draw lognormal(const Operand& rng, const Operand& mean = 0.0, const Operand& sigma = 1.0, const Size& size = {}) { return draw("lognormal", rng, {mean, sigma}, size); }
inline Draw exponential(const Operand& rng, const Operand& scale = 1.0, const Size& size = {}) { return draw("exponential", rng, {scale}, size); }
inline Draw gamma(const Operand& rng, const Operand& shape, const Operand& scale = 1.0, const Size& size = {}) { return draw("gamma", rng, {shape, scale}, size); }
inline Draw beta(const Operand& rng, const Operand& a, const Operand& b, const Size& size = {}) { return draw("beta", rng, {a, b}, size); }
inline Draw poisson(const Operand& rng, const Operand& lam = 1.0, const Size& size = {}) { return draw("poisson", rng, {lam}, size); }
inline Draw binomial(const Operand& rng, const Operand& n, const Operand& p, const Size& size = {}) { return draw("binomial", rng, {n, p}, size); }
inline Draw integers(const Operand& rng, const Operand& low, const Operand& high, const Size& size = {}) { return draw("integers", rng, {low, high}, size); }
// clang-format on

// Child `number` of a counter-based stream: a stream of its own, which neither takes from `rng` nor depends on what is
// drawn from it. TypeError for other generators. The children of one state are a draw from it: go on with a split's
// next_rng.
Variable fold(const Operand& rng, const Operand& number);
struct Split {
  Variables children;
  Variable next_rng;
};
Split split(const Operand& rng, int count);

// The names that `draw` knows, sorted.
std::vector<std::string> distribution_names();

}  // namespace bitale::random
