// Which line of the user's Python code is building the graph.
#pragma once

#include <string>

#include "bitale/core/location.hpp"

namespace bitale::python {

// The first frame whose file lies outside the package, and its callers, as many as the flag traceback__limit says;
// nothing when there is none.
Location caller_location();
// Frames of files in this folder are Bitale's own.
void set_package_folder(std::string folder);

// For the life of the object nodes carry the caller's line. A call guard of everything that builds graphs.
class AtCaller {
 public:
  AtCaller() : scope_(current_location().file ? Location() : caller_location()) {}

 private:
  LocationScope scope_;
};

}  // namespace bitale::python
