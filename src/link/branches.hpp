// Branches of lazy ops, for linkers that make one function of a graph: what only a branch needs leaves the graph and
// becomes one side of a choice of the Program, or, where that can't be (a side calls the host, or has lengths that only
// it can tell), a function of its own, which the whole calls back for the branch that is taken.
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>

#include "link/linker.hpp"

namespace bitale::link {

using NodeMap = std::unordered_map<const ApplyNode*, ApplyNode*>;

struct OutlinedBranches {
  LinkedGraph graph;  // the given one where nothing is to be taken apart
  NodeMap stand_in;   // of the given graph's nodes in this one; none: themselves
};
// What stands for the nodes of the graph that `copy` was cloned from, after some of its nodes were replaced by others.
OutlinedBranches outlined(std::shared_ptr<const FunctionGraph> copy, const VariableMap& originals,
                          const NodeMap& replaced);

// How a branch is linked.
using LinkBranch = std::function<std::unique_ptr<Thunk>(const LinkedGraph& branch)>;

// Branches that hold nothing but a few operations on scalars, which can't fail, or nothing at all, stay where they are:
// a selection costs less than a call.
OutlinedBranches outline_branches(const LinkedGraph& graph, const LinkBranch& link, int depth = 0);

}  // namespace bitale::link
