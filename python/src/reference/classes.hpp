// Docstrings of the classes that are bound.
#pragma once

#include <span>

namespace bitale::python {

struct ClassDescription {
  const char* name;
  const char* docstring;
};

std::span<const ClassDescription> class_descriptions();

}  // namespace bitale::python
