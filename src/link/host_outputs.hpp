// Outputs that are objects of the host, for linkers that make one function of a graph: native code copies elements, and
// the element of such a value is an address that owns nothing. So each output that no node of its own makes (an input,
// a constant, one given twice) is made by a node that the host runs.
#pragma once

#include "link/branches.hpp"

namespace bitale::link {

OutlinedBranches host_outputs_apart(const LinkedGraph& graph);

}  // namespace bitale::link
