// The check of an equation: both sides are compared numerically, for every dtype that it is declared for.
#pragma once

#include "bitale/rewriting/rules.hpp"

namespace bitale::rewriting {

void check_equation(const Rule& rule, CheckReport& report);

}  // namespace bitale::rewriting
