// What Python notes on variables: the attributes of `variable.tag`, in a dict that lives as long as the variable,
// whatever object stands for it.
#pragma once

#include <nanobind/nanobind.h>

#include "bitale/graph/variable.hpp"

namespace bitale::python {

namespace nb = nanobind;

// The dict, made when it is first asked for.
nb::dict notes_of(const Variable& variable);
// The note of that name; an invalid object if there is none.
nb::object note(const Variable& variable, const char* name);

}  // namespace bitale::python
