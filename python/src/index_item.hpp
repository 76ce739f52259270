// One index of x[...], from Python: an integer, a slice, an array of integers or bools, None, or Ellipsis.
#pragma once

#include <nanobind/nanobind.h>

#include "bitale/ops/ops.hpp"

namespace bitale::python {

// TypeError for other objects.
IndexItem index_item(nanobind::handle item);

}  // namespace bitale::python
