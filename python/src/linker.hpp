// A linker as Python specifies it: by name, or as an object.
#pragma once

#include <nanobind/nanobind.h>

#include "bitale/link/linker.hpp"

namespace bitale::python {

// TypeError for anything else, ValueError for an unknown name.
Linker linker_of(nanobind::handle object);
// As an object of bitale.link's classes; a linker that is written in Python: the object itself.
nanobind::object linker_object(const Linker& linker);

}  // namespace bitale::python
