// Whether forward and reverse mode are two ways to the same derivative. They are not where something changes cotangents
// on their way back (clips them, cuts a loop's gradient off), or where a user defined one of the two derivatives.
#pragma once

#include "bitale/graph/variable.hpp"

namespace bitale {

// Of every node through which derivatives pass from the expression to wrt, unless they stop at `constants`.
bool derivatives_agree(const Variable& expression, const Variables& wrt, const Variables& constants);

}  // namespace bitale
