// The information that a function adds to an error of its call.
#pragma once

#include <string>

#include "bitale/core/error.hpp"

namespace bitale {

// Adds the function's name, and from exception_verbosity=medium on the tree of the node that failed.
void describe_failure(Error& error, const std::string& function);

}  // namespace bitale
