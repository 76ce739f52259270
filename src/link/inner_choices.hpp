// Choices within inner graphs (the steps of loops, ops that are graphs): where a side may fail, the choice becomes a
// node with sides of its own there, as branches.hpp does for the graph itself. Other choices remain selections, which
// fuse with their surroundings.
#pragma once

#include "link/branches.hpp"

namespace bitale::link {

OutlinedBranches outline_inner_choices(const LinkedGraph& graph, const LinkBranch& link, std::int64_t& budget);

}  // namespace bitale::link
