// What a notebook typesets of a variable: short mathematics. Parts with names are written as their names, and defined
// in further lines; functions that are composed of others, such as logsumexp, are written as calls.
#pragma once

#include <string>

#include "bitale/graph/variable.hpp"

namespace bitale {

std::string notebook_latex(const Variable& variable);  // LaTeX for math mode

}  // namespace bitale
