// The parameters of distributions: which value is outside the domain, said with the distribution, the parameters and
// the place; and RandomDomain, an op that passes parameters on and fails where one is.
#pragma once

#include <functional>
#include <span>
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
  // What is wrong with parameters, in NumPy's words; null: nothing. Columns of one value each, or of one row of that
  // length.
  std::function<const char*(std::span<const runtime::random::Column> columns, std::int64_t length)> refuse;
  bool of_rows = false;  // parameters are rows, along the last dimension
};

// NotImplementedError, with a suggestion, for an unknown name.
const runtime::random::Distribution& distribution_named(std::string_view name);
// Of a distribution of NumPy's, or "composed NAME" of one that is made of such (ops/random_compositions).
const Domain& domain_named(std::string_view name);

// ValueError that says the first parameters that are outside the domain: each is a scalar (or one row), or has this
// shape. Nothing happens where all are in it.
void check_parameters(const Domain& of, std::span<const Array> values, const Dims& shape);

// The parameters, each a scalar or of one shape. A ValueError as above when the function is called and `holds`, a
// scalar, is false.
Variables checked_parameters(std::string_view domain, const Variables& parameters, const Variable& holds);

// A scalar that is known, as a constant: formulas and domains choose by what they know.
Variable known_scalar(const Variable& v);
// Of a condition that is a scalar, or has an element for each value.
Variable holds_everywhere(const Variable& condition);

}  // namespace bitale
