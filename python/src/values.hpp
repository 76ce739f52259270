// Values of types as Python objects: arrays for tensors, numpy.random.Generators for random types, and the objects
// themselves for types that only the host can interpret.
#pragma once

#include <nanobind/nanobind.h>

#include "bitale/graph/variable.hpp"

namespace bitale::python {

namespace nb = nanobind;

// The object as a value of the type. TypeError or ValueError if it is not one.
Array value_from(const TypeBase& type, nb::handle object, Downcast downcast = Downcast::FloatLiteral,
                 bool strict = false);
// The value as an object: an array that shares its memory, or the object that it holds.
nb::object value_object(const TypeBase& type, const Array& value);
// The object that an Array holds.
nb::object held_object(const Array& value);
// An Array that holds the object.
Array holding(nb::object object);

void bind_values(nb::module_& m);

}  // namespace bitale::python
