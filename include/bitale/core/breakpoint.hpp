// Breakpoints: what happens where an expression, or a flag, requests a debugger. The program sets the handler; the one
// of the Python package enters sys.breakpointhook.
#pragma once

#include "bitale/core/language.hpp"

#include <functional>
#include <span>
#include <string_view>

#include "bitale/core/array.hpp"

namespace bitale {

// `why` is a text for people. The handler may replace values, and the replacements are then used.
using BreakHandler = std::function<void(std::string_view why, std::span<Array> values)>;
// Sets the handler from now on, for any thread. An empty function: a line on stderr, then execution continues.
void set_break_handler(BreakHandler handler);
void break_here(std::string_view why, std::span<Array> values = {});

}  // namespace bitale
