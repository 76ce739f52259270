// Which nodes of a graph the sections of its Program compute: the nodes whose results a section writes, and the nodes
// fused into those, which leave nothing of their own in the Program.
#pragma once

#include "link/probes.hpp"
#include "lowering/lower.hpp"

namespace bitale::link {

// For each section, its nodes in the order of the graph.
std::vector<std::vector<Apply>> nodes_of_sections(const lowering::Lowered& lowered, const FunctionGraph& graph,
                                                  const std::vector<Section>& sections);

}  // namespace bitale::link
