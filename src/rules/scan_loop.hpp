// Shared by the passes over scans: a scan decomposed into parts that can be changed, and its replacement by a changed
// scan.
#pragma once

#include <optional>
#include <vector>

#include "graph/pointer_map.hpp"
#include "ops/scan/scan.hpp"
#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

inline const ScanOp* scan_op(const Apply& node) {
  return node.defined() ? dynamic_cast<const ScanOp*>(&node.op()) : nullptr;
}
// All scans of the graph, in topological order.
std::vector<Apply> scans_of(const FunctionGraph& graph);
// Whether `node` depends on `other`.
bool reads(const Apply& node, const Apply& other);
// All nodes of the graph that depend on the node.
PointerSet readers_of(const FunctionGraph& graph, const Apply& node);

// A scan in parts, with the outputs that its results replace.
struct Loop {
  ScanParts parts;
  std::vector<Variables> finals, traces;  // per state and trace: outputs of the original nodes
  Variables steps;                        // with until
};
Loop loop_of(const Apply& node);

// All results of a step in one list.
Variables results_of(const ScanParts& parts);
void set_results(ScanParts& parts, const Variables& from);
void replace_in_step(ScanParts& parts, const Replacements& replacements);
// Merges the step's variables so that there is one for each outer value.
void share_inputs(ScanParts& parts);
// The index of the variable's trace in the loop; a new trace is added if there is none.
std::size_t trace_of(Loop& loop, const Variable& v);

// Replaces all outputs that the loop's results stand for by those of a new scan built from its parts, which is
// returned; null if nothing is left of it.
Apply replace_loop(FunctionGraph& graph, const Loop& loop, Replacements pairs, const char* rule);
// Adds replacements of the used results of the loop by these outputs.
void append_results(const FunctionGraph& graph, const Loop& loop, const Variables& outputs, Replacements& pairs);

// The same variable, or constants of one type and value.
bool same_value(const Variable& a, const Variable& b);
// The value of all elements, if a constant or a computed value is uniform.
std::optional<Variable> uniform_number(const Variable& v);
// Whether computing the node's output again costs more than reading it.
bool is_expensive(const Apply& node);
// Everything in the step that depends on these variables, themselves included.
PointerSet dependents(const ScanParts& parts, const Variables& leaves);
// The values that differ from step to step.
PointerSet changing_values(const ScanParts& parts);

}  // namespace bitale::rewriting
