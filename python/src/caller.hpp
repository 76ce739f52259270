// Finds the line of the user's Python code that is building the graph.
#pragma once

#include <string>

#include "bitale/core/location.hpp"

namespace bitale::python {

// The first frame whose file is outside the package, and its callers, as many as the flag traceback__limit permits; an
// empty location when there is none.
Location caller_location();
// Frames of files in this folder are Bitale's own.
void set_package_folder(std::string folder);

// During the life of the object, new nodes carry the caller's line. It is the call guard of all functions that build
// graphs.
class AtCaller {
 public:
  AtCaller() : scope_(current_location().file ? Location() : caller_location()) {}

 private:
  LocationScope scope_;
};

}  // namespace bitale::python
