// Values that a loop was given, because they can be named until its derivatives have been taken, and that are better
// computed in the steps: constant expressions, which steps simplify; transposes, which steps read from the matrix; and
// what only a choice of a step needs, and may fail.
#include <algorithm>
#include <ranges>

#include "bitale/rewriting/passes.hpp"
#include "ops/control/captures.hpp"
#include "ops/control/guarded.hpp"
#include "rules/scan_loop.hpp"

namespace bitale::rewriting {

namespace {

// Whether the value is computed, of constants alone.
bool is_constant_expression(const Variable& value) {
  if (!value.has_owner()) return false;
  Variables open{value};
  PointerSet seen;
  while (!open.empty()) {
    const Variable v = open.back();
    open.pop_back();
    if (!v.has_owner() && !v.is_constant()) return false;
    if (v.has_owner() && seen.insert(v.owner().node()))
      for (const Variable& input : v.owner().inputs()) open.push_back(input);
  }
  return true;
}

// Which inputs of loops only choices of their steps need.
class BehindChoices {
 public:
  explicit BehindChoices(const FunctionGraph& graph) : graph_(graph) {}
  // Whether nothing but such inputs reads the value.
  bool has_only_readers(const Variable& value) {
    return std::ranges::all_of(graph_.clients(value), [&](const auto& client) {
      if (!client.node) return false;
      const Apply node = Apply::of(client.node);
      return scan_op(node) && client.index >= scan_op(node)->constant_input(0) && !is_needed(node, client.index);
    });
  }

 private:
  bool is_needed(const Apply& node, int input) {
    auto [needed, is_new] = needed_.insert(node.node());
    if (is_new) {
      const ScanParts parts = loop_of(node).parts;
      Variables own = parts.elements;
      own.insert(own.end(), parts.states.begin(), parts.states.end());
      *needed = needed_values(results_of(parts), own);
    }
    const ScanOp& op = *scan_op(node);
    return needed->contains(op.inner_constant(input - op.constant_input(0)).node());
  }

  const FunctionGraph& graph_;
  PointerMap<PointerSet> needed_;  // by node
};

struct Found {
  Apply node;
  std::vector<std::size_t> constants;
};

std::vector<Found> found_in(const FunctionGraph& graph) {
  std::vector<Found> out;
  BehindChoices behind(graph);
  for (const Apply& node : scans_of(graph)) {
    Found found{node, {}};
    const Loop loop = loop_of(node);
    for (std::size_t k = 0; k < loop.parts.constants.size(); ++k) {
      const Variable& value = loop.parts.constants[k].second;
      if (value.has_owner() &&
          (transposed_from(value) || is_constant_expression(value) || behind.has_only_readers(value)))
        found.constants.push_back(k);
    }
    if (!found.constants.empty()) out.push_back(std::move(found));
  }
  return out;
}

void take_in(FunctionGraph& graph) {
  const RuleScope scope("scan_take_in");
  for (const auto& [node, constants] : found_in(graph)) {
    if (!graph.contains(node)) continue;
    Loop loop = loop_of(node);
    Replacements& all = loop.parts.constants;
    Replacements inside;
    for (const std::size_t k : constants) {
      const auto [leaf, value] = all[k];
      std::vector<Apply> transpositions;
      Variable source = value;
      while (const auto before = transposed_from(source)) {
        transpositions.push_back(source.owner());
        source = *before;
      }
      Variable within = source;
      if (!transpositions.empty()) {
        all.emplace_back(Variable(source.type(), source.name()), source);
        within = all.back().first;
      }
      for (const Apply& node : std::views::reverse(transpositions)) within = node.with_inputs({within}).output();
      inside.emplace_back(leaf, within);
    }
    replace_in_step(loop.parts, inside);
    replace_loop(graph, loop, {}, "scan_take_in");
  }
}

const RegisterPasses take_in_passes({
    {"scan_take_in",
     0.12,
     {"fast_run", "fast_compile", "scan"},
     "Computes in the steps of a scan what it was given as a constant: transposes, constant expressions, and what only "
     "a choice of the steps needs and may fail.",
     take_in},
});

}  // namespace

}  // namespace bitale::rewriting
