// Errors of the library as Python exceptions.
#pragma once

#include <exception>

namespace bitale::python {

// Sets the Python exception for whatever was caught; for code that is called by Python directly.
void set_python_error(const std::exception_ptr& caught) noexcept;

}  // namespace bitale::python
