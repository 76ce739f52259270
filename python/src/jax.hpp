// Arrays of JAX as values: in calls of functions of mode JAX, and in shared variables that such calls update.
#pragma once

#include <nanobind/nanobind.h>

#include "bitale/core/resident.hpp"

namespace bitale::python {

namespace nb = nanobind;

// The array of JAX that the Array holds; null where it holds none.
nb::object jax_array(const Array& value);
// Whether the object is an array of JAX of that dtype on the device of mode JAX, and then an Array that holds it.
bool hold_jax_array(nb::handle object, DType dtype, Array& held);

}  // namespace bitale::python
