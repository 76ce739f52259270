// Distributions of the counter-based stream as formulas over its words: the inverse of the distribution function if
// that is short, a composition, or a sampler from the table of scalar ops (ops/scalar/random).
#pragma once

#include <optional>
#include <span>

#include "bitale/ops/random.hpp"
#include "runtime/random/draws.hpp"

namespace bitale {

// The next state and the draw; none for a distribution without a formula. Parameters are scalars or have the shape of
// the draw, and have the dtypes of the table. A parameter outside its domain is a ValueError when the function is
// called.
std::optional<random::Draw> random_formula(const runtime::random::Distribution& of, const Variable& state,
                                           std::span<const Variable> lengths, const Variables& parameters);
bool has_random_formula(const runtime::random::Distribution& of);

}  // namespace bitale
