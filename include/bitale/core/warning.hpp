// Warnings: unusual conditions that are not errors. They go to stderr, unless the program sets a handler.
#pragma once

#include "bitale/core/language.hpp"

#include <functional>
#include <string>

namespace bitale {

void warn(const std::string& message);
// Sets the handler of warnings from now on, for any thread; an empty function: stderr. An exception of the handler
// propagates out of the code that warned.
void set_warning_handler(std::function<void(const std::string&)> handler);

}  // namespace bitale
