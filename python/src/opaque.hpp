// Opaque attributes of ops as Python sees them: how those are stored that can be.
#pragma once

#include <nanobind/nanobind.h>

#include "bitale/graph/attributes.hpp"

namespace bitale::python {

// What opaque_of_stored makes the attribute of again, in another process; None for one that can't be stored.
nanobind::object stored_opaque(const Opaque& attribute);
OpaqueAttribute opaque_of_stored(nanobind::handle stored);

}  // namespace bitale::python
