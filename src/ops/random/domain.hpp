// Domains of the parameters of distributions: the check that reports a value outside the domain, with the distribution,
// the parameters and the position; and RandomDomain, an op that passes parameters on and fails if one is outside.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bitale/core/array.hpp"
#include "bitale/graph/variable.hpp"
#include "runtime/random/draws.hpp"

namespace bitale {

struct Domain {
  std::string_view name;  // of the distribution
  std::vector<std::string_view> parameters;
  std::vector<DType> dtypes;
  // The reason why parameters are outside the domain, in NumPy's words; null if they are inside. Each column holds one
  // value, or one row of that length.
  std::function<const char*(std::span<const runtime::random::Column> columns, std::int64_t length)> refuse;
  bool of_rows = false;  // parameters are rows, along the last dimension
};

// NotImplementedError, with the nearest of these names.
[[noreturn]] void refuse_distribution(std::string_view name, const std::vector<std::string>& known);
// NotImplementedError, with a suggestion, for an unknown name.
const runtime::random::Distribution& distribution_named(std::string_view name);
// The domain of a distribution of NumPy's, or with "composed NAME" of a composition (ops/random_compositions).
const Domain& domain_named(std::string_view name);

// Raises a ValueError with the first parameters that are outside the domain, if there are any. Each parameter is a
// scalar (or one row), or has this shape.
void check_parameters(const Domain& of, std::span<const Array> values, const Dims& shape);

// The parameters, each a scalar or of one shape. A call raises a ValueError as above if `holds`, a scalar, is false.
Variables checked_parameters(std::string_view domain, const Variables& parameters, const Variable& holds);

// A scalar whose value is known, as a constant; anything else unchanged. Formulas and domains depend on what is known.
Variable known_scalar(const Variable& v);
// Whether a condition, which is a scalar or has an element for each value, holds for all values.
Variable holds_everywhere(const Variable& condition);

}  // namespace bitale
