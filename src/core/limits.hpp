// Infinity and nan as short names, for formulas and tables of special values.
#pragma once

#include <limits>

namespace bitale {

inline constexpr double inf = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

}  // namespace bitale
