// Options of functions that Python writes as texts or numbers, where several files read them.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "arguments.hpp"
#include "bitale/ops/linalg.hpp"

namespace bitale::python {

// The two parts of an argument such as (factor, lower), a tuple or a list; `parts` are their names for the TypeError
// that anything else is.
std::pair<nb::object, nb::object> as_pair(nb::handle given, std::string_view who, std::string_view parts);
// A bool of Python or NumPy, or an integer. TypeError for anything else.
bool as_flag(nb::handle given, std::string_view who, std::string_view option);
// What is solved with: 0, 1, 2, or "N", "T", "C", or a bool: the matrix, its transpose, its conjugate transpose.
// ValueError for anything else.
int as_trans(nb::handle trans, std::string_view who);
NormOrder as_order(const Any& ord);

}  // namespace bitale::python
