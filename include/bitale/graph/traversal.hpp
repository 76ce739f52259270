// Walks over expression graphs. All are iterative and linear in the number of nodes visited.
#pragma once

#include <functional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "bitale/graph/op.hpp"
#include "bitale/graph/variable.hpp"

namespace bitale {

using VariableSet = std::unordered_set<Variable, VariableHash, VariableEqual>;
using VariableMap = std::unordered_map<Variable, Variable, VariableHash, VariableEqual>;
using Replacements = std::vector<std::pair<Variable, Variable>>;

// Apply nodes in topological order. `blockers` are treated as leaves.
std::vector<Apply> toposort(std::span<const Variable> outputs, const VariableSet& blockers = {});
// Every variable that the outputs depend on, including themselves, inputs first.
Variables ancestors(std::span<const Variable> outputs, const VariableSet& blockers = {});
// Leaves that are not constants, in the order of a depth-first walk.
Variables graph_inputs(std::span<const Variable> outputs, const VariableSet& blockers = {});
// The members of graph_inputs that are not shared variables: what a caller must provide.
Variables explicit_graph_inputs(std::span<const Variable> outputs);
bool depends_on(const Variable& output, std::span<const Variable> candidates);

// A copy of the graph, with the same leaves or with copies of them, too. Names and provenance are kept.
// `memo` maps originals to copies, and may be pre-filled with replacements of variables.
enum class ClonedLeaves { Keep, Copy };
Variables clone(std::span<const Variable> outputs, VariableMap& memo, ClonedLeaves leaves = ClonedLeaves::Keep);

// The outputs with some variables replaced. Types must fit (TypeError); if strict, each replaced variable must
// occur in the graph (ValueError).
Variables graph_replace(std::span<const Variable> outputs, const Replacements& replacements,
                        Strict strict = Strict::Yes);
// As graph_replace, without requiring occurrence.
Variables clone_replace(std::span<const Variable> outputs, const Replacements& replacements);

// Whether the graphs compute the same from corresponding leaves: equal ops, constants and structure.
// in_xs[i] corresponds to in_ys[i]; other leaves must be identical.
bool equal_computations(std::span<const Variable> xs, std::span<const Variable> ys,
                        std::span<const Variable> in_xs = {}, std::span<const Variable> in_ys = {});

// Number of Apply nodes.
std::size_t node_count(std::span<const Variable> outputs);

}  // namespace bitale
