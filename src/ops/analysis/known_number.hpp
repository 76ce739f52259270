// The number that a variable is known to be without computing anything.
#pragma once

#include <optional>

#include "bitale/graph/variable.hpp"

namespace bitale {

// The value of a constant whose elements are all equal, seen through nodes that only view it; none for other variables.
std::optional<double> known_number(const Variable& variable);

}  // namespace bitale
