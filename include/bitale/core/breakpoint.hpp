// Breakpoints: what happens where an expression, or a flag, asks for a debugger. The program says; Python's face enters
// sys.breakpointhook.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "bitale/core/array.hpp"

namespace bitale {

// `why` is for people. The handler may replace values by others, which are then used.
using BreakHandler = std::function<void(std::string_view why, std::span<Array> values)>;
// From now on, for any thread; an empty function: a line on stderr, and on it goes.
void set_break_handler(BreakHandler handler);
void break_here(std::string_view why, std::span<Array> values = {});

}  // namespace bitale
