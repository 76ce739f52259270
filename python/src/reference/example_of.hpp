// The example of a bound function.
#pragma once

#include <string_view>

namespace bitale::python {

// The text that doctest runs, or "" for a function that the tables of examples do not have.
std::string_view example_of(std::string_view name);

}  // namespace bitale::python
