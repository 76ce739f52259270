// Arrays of JAX as values: in calls of functions of mode JAX, and in shared variables that such calls update.
#pragma once

#include <nanobind/nanobind.h>

#include "bitale/core/resident.hpp"

namespace bitale::python {

namespace nb = nanobind;

// The JAX array that the Array holds; null if it holds none.
nb::object jax_array(const Array& value);
// Whether the object is a JAX array of that dtype on the device of mode JAX; if so, `held` is set to an Array that
// holds it.
bool hold_jax_array(nb::handle object, DType dtype, Array& held);

}  // namespace bitale::python
