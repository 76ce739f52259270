// The folder of this library: other libraries that are opened on first use are stored beside it.
#pragma once

#include <string>

namespace bitale {

// With a trailing slash; empty where the system can't tell.
std::string library_folder();

}  // namespace bitale
