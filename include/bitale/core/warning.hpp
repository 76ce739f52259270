// Warnings: what is odd but no error. They go to stderr, unless the program says where else.
#pragma once

#include <functional>
#include <string>

namespace bitale {

void warn(const std::string& message);
// What is done with warnings from now on, from any thread; an empty function: stderr. What it throws, the code that
// warned throws.
void set_warning_handler(std::function<void(const std::string&)> handler);

}  // namespace bitale
