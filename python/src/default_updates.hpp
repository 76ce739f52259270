// Default updates of shared variables: the expressions with which functions update them unless they are told otherwise.
#pragma once

#include <nanobind/nanobind.h>

#include "bitale/graph/traversal.hpp"

namespace bitale::python {

// `updates`, and the default updates of the other shared variables that anything depends on. `left_out`: True for none
// of them, or a list of variables whose default updates are left out. TypeError for anything else in it.
Replacements with_default_updates(const Variables& outputs, Replacements updates, nanobind::handle left_out);

void bind_default_updates(nanobind::module_& m);

}  // namespace bitale::python
