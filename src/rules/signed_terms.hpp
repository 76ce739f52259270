// A sum as the list of its terms with their signs.
#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "bitale/graph/variable.hpp"

namespace bitale::rewriting {

struct SignedTerm {
  Variable value;
  bool is_negative;
};

// The node of a sum, difference or negation that is taken apart for this part of a sum; null: the part is a term.
using NestedSum = std::function<Variable(const Variable&)>;

// The terms of a sum from left to right; empty if they are more than `limit`.
std::vector<SignedTerm> signed_terms(const Variable& sum, const NestedSum& nested_sum,
                                     std::size_t limit = std::numeric_limits<std::size_t>::max());

// Whether the variable is a sum, a difference or a negation.
bool is_signed_sum(const Variable& v);

}  // namespace bitale::rewriting
