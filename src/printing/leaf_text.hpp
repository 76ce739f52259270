// The text of leaves in printed expressions.
#pragma once

#include <string>

#include "bitale/graph/variable.hpp"

namespace bitale {

// "Matrix(float64, shape=(?, 3))"
std::string short_type_text(const Type& type);
// A name, a value on one line (shortened if it is long), or the type in angle brackets.
std::string leaf_text(const Variable& leaf);

}  // namespace bitale
