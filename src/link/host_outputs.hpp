// Outputs that are host objects, for linkers that compile a graph to one function. Native code copies elements, and the
// element of such a value is an address that owns nothing. Therefore each output that is not computed by a node of its
// own (an input, a constant, an output given twice) is computed by a node that the host runs.
#pragma once

#include "link/branches.hpp"

namespace bitale::link {

OutlinedBranches outline_host_outputs(const LinkedGraph& graph);

}  // namespace bitale::link
