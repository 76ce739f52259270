// Errors of the library as Python exceptions.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>

#include "bitale/core/error.hpp"

namespace bitale::python {

// A new exception class of the module, for the errors that match; `fill` gives the exception its attributes. The class
// of a base comes first. Lives as long as the process.
PyObject* new_error(nanobind::module_& m, const char* name, PyObject* base, const char* doc,
                    bool (*matches)(const Error&), void (*fill)(nanobind::handle exception, const Error& error));

// Sets the Python exception for whatever was caught; for code that is called by Python directly.
void set_python_error(const std::exception_ptr& caught) noexcept;

}  // namespace bitale::python
