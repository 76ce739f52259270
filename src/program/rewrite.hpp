// Changes of expressions and elements throughout steps, those in them included.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "program/program.hpp"
#include "program/substitute.hpp"

namespace bitale::program {

// Replaces expressions, also as variables and indices that the steps define.
void substitute(Step& step, const Substitution& by);
void substitute(Steps& steps, const Substitution& by);

// Gives elements other indices, or places them in other buffers. `move` is given a buffer and the multi-index of an
// element, which it may change, or an empty one for what accesses a buffer as a whole. It returns where the element is.
using Move = std::function<std::int64_t(std::int64_t buffer, std::vector<Expr>& at)>;
void move_elements(Steps& steps, const Move& move);

}  // namespace bitale::program
