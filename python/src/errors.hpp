// Errors of the library as Python exceptions.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>

#include "bitale/core/error.hpp"

namespace bitale::python {

// Creates an exception class of the module for the errors that match; `fill` sets the attributes of an exception. The
// class of a base must be created first. The class lives as long as the process.
PyObject* new_error(nanobind::module_& m, const char* name, PyObject* base, const char* doc,
                    bool (*matches)(const Error&), void (*fill)(nanobind::handle exception, const Error& error));

// Sets the Python exception for a caught C++ exception; for code that Python calls directly.
void set_python_error(const std::exception_ptr& caught) noexcept;

}  // namespace bitale::python
