// Functions that PyTensor deprecates: they work here, and warn as they do there (see bitale/_deprecation.py).
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "bitale/core/text.hpp"

namespace bitale::python {

// A warning of PyTensor's class at the line that called the function; the exception, where the program turns warnings
// into errors.
inline void warn_deprecated(const char* name, const char* instead, PyObject* category = PyExc_FutureWarning) {
  const std::string message = cat(name, " is deprecated in PyTensor; use ", instead);
  if (PyErr_WarnEx(category, message.c_str(), 1) != 0) nanobind::raise_python_error();
}

}  // namespace bitale::python
