// The parameters of distributions: which value is outside the domain, said with the distribution, the parameters and
// the place; and RandomDomain, an op that passes parameters on and fails where one is.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "bitale/core/array.hpp"
#include "bitale/graph/variable.hpp"
#include "runtime/random/draws.hpp"

namespace bitale {

// NotImplementedError, with a suggestion, for an unknown name.
const runtime::random::Distribution& distribution_named(std::string_view name);

// ValueError that says the first parameters that are outside the domain: each is a scalar, or has the shape of the
// draw. Nothing happens where all are in it.
void check_parameters(const runtime::random::Distribution& of, std::span<const Array> values, const Dims& shape);

// The parameters, each a scalar or of one shape. A ValueError as above when the function is called and `holds`, a
// scalar, is false.
Variables checked_parameters(std::string_view distribution, const Variables& parameters, const Variable& holds);

}  // namespace bitale
