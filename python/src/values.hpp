// Values of types as Python objects: arrays of tensors, numpy.random.Generators of random types, and the objects
// themselves of types that only the host looks into.
#pragma once

#include <nanobind/nanobind.h>

#include "bitale/graph/variable.hpp"

namespace bitale::python {

namespace nb = nanobind;

// The object as a value of the type. TypeError or ValueError for what is none.
Array value_from(const TypeBase& type, nb::handle object, Downcast downcast = Downcast::FloatLiteral,
                 bool strict = false);
// The value as an object: an array that shares its memory, the object that it holds.
nb::object value_object(const TypeBase& type, const Array& value);
// The object that an Array holds.
nb::object held_object(const Array& value);
// An Array that holds the object.
Array holding(nb::object object);

void bind_values(nb::module_& m);

}  // namespace bitale::python
