// Which nodes of a graph the sections of its Program compute: those that say what a section writes, and those fused
// into them, which leave nothing of their own in the Program.
#pragma once

#include "link/probes.hpp"
#include "lowering/lower.hpp"

namespace bitale::link {

// For each section, its nodes in the order of the graph.
std::vector<std::vector<Apply>> nodes_of_sections(const lowering::Lowered& lowered, const FunctionGraph& graph,
                                                  const std::vector<Section>& sections);

}  // namespace bitale::link
