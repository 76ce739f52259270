// Opaque attributes of ops as Python sees them, and the stored form of those that can be stored.
#pragma once

#include <nanobind/nanobind.h>

#include "bitale/graph/attributes.hpp"

namespace bitale::python {

// The form from which opaque_of_stored recreates the attribute, in another process; None for one that can't be stored.
nanobind::object stored_opaque(const Opaque& attribute);
OpaqueAttribute opaque_of_stored(nanobind::handle stored);

}  // namespace bitale::python
