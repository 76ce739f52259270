// What the passes over scans share: a scan in parts that can be changed, and how a changed one is put in its place.
#pragma once

#include <optional>
#include <vector>

#include "graph/pointer_map.hpp"
#include "ops/scan.hpp"
#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

inline const ScanOp* scan_op(const Apply& node) { return node ? dynamic_cast<const ScanOp*>(&node.op()) : nullptr; }
// All scans of the graph, in topological order.
std::vector<Apply> scans_of(const FunctionGraph& graph);
// Whether what one node computes depends on the other.
bool reads(const Apply& node, const Apply& other);

// A scan in parts, and what its results stand for.
struct Loop {
  ScanParts parts;
  std::vector<Variables> finals, traces;  // per state and trace: outputs of the nodes that it came from
  Variables steps;                        // with until
};
Loop loop_of(const Apply& node);

// Everything that a step computes, in one list.
Variables results_of(const ScanParts& parts);
void set_results(ScanParts& parts, const Variables& from);
void replace_in_step(ScanParts& parts, const Replacements& replacements);
// One variable of the step for each outer value.
void share_inputs(ScanParts& parts);
// Which trace of the loop is the variable's; a new one where there is none.
std::size_t trace_of(Loop& loop, const Variable& v);

// Replaces all that the loop's results stand for by a new scan of its parts.
void put_in_place(FunctionGraph& graph, const Loop& loop, Replacements pairs, const char* rule);
// The replacements of what is read of the loop's results, which are now these outputs.
void append_results(const FunctionGraph& graph, const Loop& loop, const Variables& outputs, Replacements& pairs);

// The same variable, or constants of one type and value.
bool same_value(const Variable& a, const Variable& b);
// The number that all elements are, of a constant or a computed value.
std::optional<Variable> uniform_number(const Variable& v);
// Whether computing the node's output again costs more than reading it.
bool is_expensive(const Apply& node);
// What depends on these variables of the step, the variables included.
PointerSet dependents(const ScanParts& parts, const Variables& leaves);
// What differs from step to step.
PointerSet changing_values(const ScanParts& parts);

}  // namespace bitale::rewriting
