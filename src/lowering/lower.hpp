// Lowering: from a rewritten FunctionGraph to a loop Program. The road, in the order it is travelled:
//   define   every op says what its outputs are (element rules, reductions, calls; plan.cpp)
//   choose   what is stored; all else is inlined into its readers, which is fusion (choose.cpp)
//   nest     loops over the same domain are shared, producers before readers (nest.cpp)
//   forward  values stored and read in the same place stay scalars; unread stores vanish (forward.cpp)
//   memory   temporaries get places in one workspace (memory.cpp)
#pragma once

#include <string>
#include <vector>

#include "bitale/graph/function_graph.hpp"
#include "program/program.hpp"

namespace bitale::lowering {

struct Lowered {
  program::Program program;
  std::vector<Apply> callbacks;    // the node of each HostCall
  std::vector<Apply> check_nodes;  // the node that asked for each Check
};

// Never refuses: ops without native code become host calls.
Lowered lower(const FunctionGraph& graph);

}  // namespace bitale::lowering
