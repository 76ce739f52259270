// Branches of lazy ops, for linkers that compile a graph to one function. Nodes that only a branch needs are moved out
// of the graph. They become one side of a choice in the Program, or, where that is impossible (a side calls the host,
// or has lengths that only the side itself can compute), a separate function that the main function calls back for the
// branch that is taken.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>

#include "link/linker.hpp"

namespace bitale::link {

using NodeMap = std::unordered_map<const ApplyNode*, ApplyNode*>;

struct OutlinedBranches {
  LinkedGraph graph;     // the given graph where there are no branches to split off
  NodeMap counterparts;  // maps nodes of the given graph to nodes of this one; empty: nodes stand for themselves
};
// The mapping for the nodes of the graph that `copy` was cloned from, after some nodes of the copy were replaced.
OutlinedBranches outlined(std::shared_ptr<const FunctionGraph> copy, const VariableMap& originals,
                          const NodeMap& replaced);

// Links a branch.
using LinkBranch = std::function<std::unique_ptr<Thunk>(const LinkedGraph& branch)>;

// How many nodes the branches of a graph may have together. Nodes that several choices need are in the branches of
// each, so nested choices may have exponentially many; then the remaining branches are separate functions.
std::int64_t branch_budget(const FunctionGraph& graph);

// Which choices are divided: all whose sides are more than a few operations on scalars that can't fail, for which a
// selection costs less than a call; or those with a side that may fail.
enum class Divided { worthwhile, guarded };

// `budget` is reduced by the nodes of all branches.
OutlinedBranches outline_branches(const LinkedGraph& graph, const LinkBranch& link, std::int64_t& budget, int depth = 0,
                                  Divided which = Divided::worthwhile);

}  // namespace bitale::link
