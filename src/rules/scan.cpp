// Scans: loops that share states are merged, unused results are not computed, and a read of the last element of a trace
// becomes a read of the final state.
#include <algorithm>

#include "bitale/core/error.hpp"
#include "bitale/ops/debugging.hpp"
#include "bitale/ops/known.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/scan.hpp"
#include "bitale/rewriting/passes.hpp"
#include "graph/expression_hash.hpp"
#include "graph/hash.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/indexing/subtensor.hpp"
#include "rules/scan_loop.hpp"

namespace bitale::rewriting {

namespace {

// The results of a step, with equal results merged into one variable and each state replaced by its `representative`.
Variables merged_results(const ScanParts& parts, const std::vector<std::size_t>& representative) {
  Replacements same;
  for (std::size_t k = 0; k < representative.size(); ++k)
    if (representative[k] != k) same.emplace_back(parts.states[k], parts.states[representative[k]]);
  return merge_equal(clone_replace(results_of(parts), same));
}

// Merges states with equal initial and next values, and equal traces. Returns the number of removed states.
std::size_t share_states(Loop& loop) {
  ScanParts& parts = loop.parts;
  const std::size_t count = parts.states.size();
  std::vector<std::size_t> representative(count);
  for (std::size_t k = 0; k < count; ++k) {
    representative[k] = k;
    for (std::size_t j = 0; j < k; ++j)
      if (representative[j] == j && same_value(parts.initial[j], parts.initial[k]) &&
          parts.states[j].type()->equals(*parts.states[k].type())) {
        representative[k] = j;
        break;
      }
  }
  // Partition refinement: states are assumed equal until their next values differ.
  Variables results;
  for (bool changed = true; changed;) {
    changed = false;
    results = merged_results(parts, representative);
    std::vector<std::size_t> finer(count);
    for (std::size_t k = 0; k < count; ++k) {
      finer[k] = k;
      for (std::size_t j = 0; j < k; ++j)
        if (finer[j] == j && representative[j] == representative[k] && same_value(results[j], results[k])) {
          finer[k] = j;
          break;
        }
    }
    changed = finer != representative;
    representative = finer;
  }
  set_results(parts, results);
  Loop out;
  out.parts = parts;
  out.steps = loop.steps;
  for (auto* list : {&out.parts.states, &out.parts.initial, &out.parts.next, &out.parts.traced}) list->clear();
  std::vector<std::size_t> final_index(count);
  for (std::size_t k = 0; k < count; ++k) {
    if (representative[k] != k) {
      auto& finals = out.finals[final_index[representative[k]]];
      finals.insert(finals.end(), loop.finals[k].begin(), loop.finals[k].end());
      continue;
    }
    final_index[k] = out.finals.size();
    out.parts.states.push_back(parts.states[k]);
    out.parts.initial.push_back(parts.initial[k]);
    out.parts.next.push_back(parts.next[k]);
    out.finals.push_back(loop.finals[k]);
  }
  for (std::size_t k = 0; k < parts.traced.size(); ++k) {
    const auto is_same = [&](const Variable& other) { return same_value(other, parts.traced[k]); };
    const auto found = std::find_if(out.parts.traced.begin(), out.parts.traced.end(), is_same);
    if (found != out.parts.traced.end()) {
      auto& traces = out.traces[std::size_t(found - out.parts.traced.begin())];
      traces.insert(traces.end(), loop.traces[k].begin(), loop.traces[k].end());
      continue;
    }
    out.parts.traced.push_back(parts.traced[k]);
    out.traces.push_back(loop.traces[k]);
  }
  const std::size_t gone = count - out.parts.states.size();
  loop = std::move(out);
  return gone;
}

// Removes unused traces, states and sequences; returns whether there were any.
bool drop_unread(const FunctionGraph& graph, Loop& loop) {
  ScanParts& parts = loop.parts;
  const auto is_read = [&](const Variables& outputs) {
    return std::any_of(outputs.begin(), outputs.end(), [&](auto& each) { return !graph.clients(each).empty(); });
  };
  const std::size_t before = parts.traced.size() + parts.states.size() + parts.sequences.size();
  Loop out;
  out.parts = parts;
  out.steps = loop.steps;
  for (auto* list : {&out.parts.states, &out.parts.initial, &out.parts.next, &out.parts.traced, &out.parts.sequences,
                     &out.parts.elements})
    list->clear();
  Variables needed;
  for (std::size_t k = 0; k < parts.traced.size(); ++k)
    if (is_read(loop.traces[k])) {
      out.parts.traced.push_back(parts.traced[k]);
      out.traces.push_back(loop.traces[k]);
      needed.push_back(parts.traced[k]);
    }
  if (parts.until.defined()) needed.push_back(parts.until);
  std::vector<bool> lives(parts.states.size(), false);
  for (std::size_t k = 0; k < lives.size(); ++k)
    if (is_read(loop.finals[k])) lives[k] = true, needed.push_back(parts.next[k]);
  for (bool grows = true; grows;) {
    grows = false;
    VariableSet leaves;
    for (auto& leaf : graph_inputs(needed)) leaves.insert(leaf);
    for (std::size_t k = 0; k < lives.size(); ++k)
      if (!lives[k] && leaves.contains(parts.states[k])) lives[k] = grows = true, needed.push_back(parts.next[k]);
  }
  for (std::size_t k = 0; k < lives.size(); ++k)
    if (lives[k]) {
      out.parts.states.push_back(parts.states[k]);
      out.parts.initial.push_back(parts.initial[k]);
      out.parts.next.push_back(parts.next[k]);
      out.finals.push_back(loop.finals[k]);
    }
  VariableSet leaves;
  for (auto& leaf : graph_inputs(needed)) leaves.insert(leaf);
  // A sequence is also a check of n_steps: a length other than n_steps is an error, even if the sequence is unused.
  for (std::size_t k = 0; k < parts.sequences.size(); ++k)
    if (leaves.contains(parts.elements[k]) || !is_same_length(length_of(parts.sequences[k], 0), parts.n_steps)) {
      out.parts.sequences.push_back(parts.sequences[k]);
      out.parts.elements.push_back(parts.elements[k]);
    }
  if (out.parts.traced.empty() && out.parts.states.empty() && !out.parts.until.defined()) return false;
  const bool changed = out.parts.traced.size() + out.parts.states.size() + out.parts.sequences.size() != before;
  loop = std::move(out);
  return changed;
}

// A hash per state of its initial value and of the expression of its next one, sorted. States that can be shared have
// equal ones.
std::vector<std::size_t> state_hashes(const Apply& node) {
  const ScanOp& scan = *scan_op(node);
  const auto hash_of_outer = [](const Variable& v) {
    const Array* constant = v.constant();
    return constant ? hash_array(*constant) : std::hash<const void*>{}(v.node());
  };
  ExpressionHash hash_of;
  const Variables& inner = scan.inner_graph()->inputs();
  for (std::size_t k = 0; k < inner.size(); ++k) hash_of.set_leaf(inner[k], hash_of_outer(node.input(1 + int(k))));
  std::vector<std::size_t> out;
  for (int k = 0; k < scan.layout().states; ++k)
    out.push_back(hash_mix(hash_of_outer(node.input(scan.initial_input(k))), hash_of(scan.next(k))));
  std::ranges::sort(out);
  return out;
}

// A scan that may be merged with others.
struct Candidate {
  Apply node;
  std::vector<std::size_t> states = state_hashes(node);
};

bool may_share_states(const Candidate& a, const Candidate& b) {
  const ScanLayout &first = scan_op(a.node)->layout(), &second = scan_op(b.node)->layout();
  if (!same_value(a.node.input(0), b.node.input(0)) || first.has_until != second.has_until ||
      first.truncate_gradient != second.truncate_gradient)
    return false;
  return std::ranges::any_of(a.states, [&](auto hash) { return std::ranges::binary_search(b.states, hash); });
}

// Both loops merged into one, if that shares states.
std::optional<Loop> merged(const Apply& a, const Apply& b) {
  Loop out = loop_of(a), other = loop_of(b);
  // Equal ops have the same inner variables: the second loop gets fresh ones.
  Replacements own;
  const auto renamed = [&](Variable& leaf) {
    own.emplace_back(leaf, Variable(leaf.type(), leaf.name()));
    leaf = own.back().second;
  };
  for (auto& leaf : other.parts.elements) renamed(leaf);
  for (auto& leaf : other.parts.states) renamed(leaf);
  for (auto& [leaf, value] : other.parts.constants) renamed(leaf);
  replace_in_step(other.parts, own);
  const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  append(out.parts.sequences, other.parts.sequences);
  append(out.parts.elements, other.parts.elements);
  append(out.parts.initial, other.parts.initial);
  append(out.parts.states, other.parts.states);
  append(out.parts.next, other.parts.next);
  append(out.parts.traced, other.parts.traced);
  append(out.parts.constants, other.parts.constants);
  append(out.finals, other.finals);
  append(out.traces, other.traces);
  if (!out.parts.until.defined()) {
    share_inputs(out.parts);
    if (share_states(out) == 0) return std::nullopt;
    return out;
  }
  // Both loops end after the same step only if their `until` conditions are equal.
  append(out.steps, other.steps);
  out.parts.traced.push_back(other.parts.until);
  out.traces.emplace_back();
  share_inputs(out.parts);
  if (share_states(out) == 0) return std::nullopt;
  const auto asked = std::find_if(out.traces.begin(), out.traces.end(), [](auto& each) { return each.empty(); });
  if (asked == out.traces.end() ||
      !same_value(out.parts.traced[std::size_t(asked - out.traces.begin())], out.parts.until))
    return std::nullopt;
  out.parts.traced.erase(out.parts.traced.begin() + (asked - out.traces.begin()));
  out.traces.erase(asked);
  return out;
}

void merge_scans(FunctionGraph& graph) {
  const RuleScope scope("scan_merge");
  for (bool changed = true; changed;) {
    changed = false;
    std::vector<Candidate> scans;
    for (auto& node : scans_of(graph)) scans.push_back({node});
    for (std::size_t i = 0; i < scans.size(); ++i) {
      std::optional<PointerSet> readers;
      for (std::size_t j = i + 1; j < scans.size() && graph.contains(scans[i].node);) {
        const Apply &node = scans[i].node, &other = scans[j].node;
        std::optional<Loop> both;
        if (may_share_states(scans[i], scans[j]) && graph.contains(other)) {
          if (!readers) readers = readers_of(graph, node);
          if (!readers->contains(other.node())) both = merged(node, other);
        }
        // The order of the nodes is that before the first merge.
        if (!both || readers_of(graph, other).contains(node.node())) {
          ++j;
          continue;
        }
        scans[i] = {replace_loop(graph, *both, {}, "scan_merge")};
        scans.erase(scans.begin() + std::ptrdiff_t(j));
        readers.reset();
        changed = true;
      }
    }
  }
}

// A trace whose value is the same in all steps becomes a repetition of that value.
bool take_constant_traces(const FunctionGraph& graph, const Apply& node, Loop& loop, Replacements& pairs) {
  ScanParts& parts = loop.parts;
  if (parts.until.defined()) return false;
  bool any = false;
  std::vector<Shape> shapes;  // of the node's outputs
  const auto shape_of = [&](const Variable& output) {
    if (shapes.empty()) {
      std::vector<Shape> of_inputs;
      for (auto& input : node.inputs()) of_inputs.push_back(as_tensor(input.type()) ? lengths_of(input) : Shape());
      shapes = node.op().infer_shape(node, of_inputs);
    }
    return shapes.empty() ? Shape() : shapes[std::size_t(output.index())];
  };
  for (std::size_t k = parts.traced.size(); k-- > 0;) {
    Variable value = parts.traced[k];
    for (auto& [leaf, outer] : parts.constants)
      if (leaf.same_as(value)) value = outer;
    Shape shape{parts.n_steps};
    if (!value.same_as(parts.traced[k]) || value.is_constant()) {
      for (int axis = 0; axis < value.ndim(); ++axis) shape.push_back(length_of(value, axis));
    } else if (const auto number = uniform_number(value); number && loop.traces[k][0].owner().same_as(node)) {
      shape = shape_of(loop.traces[k][0]);
      if (shape.empty()) continue;
      value = *number;
    } else {
      continue;
    }
    const Variable stack = alloc(value, shape);
    for (auto& old : loop.traces[k])
      if (!graph.clients(old).empty()) pairs.emplace_back(old, fit(stack, old).value_or(stack));
    parts.traced.erase(parts.traced.begin() + std::ptrdiff_t(k));
    loop.traces.erase(loop.traces.begin() + std::ptrdiff_t(k));
    any = true;
  }
  return any;
}

void remove_unread(FunctionGraph& graph) {
  const RuleScope scope("scan_remove_unused");
  std::vector<Apply> nodes = scans_of(graph);
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {  // clients first
    if (!graph.contains(*node)) continue;
    Loop loop = loop_of(*node);
    share_inputs(loop.parts);
    const std::size_t traces = loop.parts.traced.size();
    const bool has_fewer = traces > 1 && (share_states(loop) > 0 || loop.parts.traced.size() < traces);
    Replacements pairs;
    const bool has_constants = take_constant_traces(graph, *node, loop, pairs);
    if (drop_unread(graph, loop) || has_fewer || has_constants)
      replace_loop(graph, loop, std::move(pairs), "scan_remove_unused");
  }
}

// ---- the last element of a trace ------------------------------------------------------------------------------------

// The last element of a trace of a state's next values is the final state, if there is at least one step.
std::optional<Variables> last_of_trace(FunctionGraph&, const Apply& node) {
  const Variable& trace = node.input(0);
  if (!trace.has_owner()) return std::nullopt;
  const Apply scan = trace.owner();
  const ScanOp* op = scan_op(scan);
  if (!op || op->layout().has_until || trace.index() < op->layout().states) return std::nullopt;
  const auto steps = known_integer(scan.input(0));
  if ((steps && *steps <= 0) || trace.static_shape()[0] == 0) return std::nullopt;
  int state = 0;
  const Variable value = op->traced(trace.index() - op->layout().states);
  while (state < op->layout().states && !op->next(state).same_as(value)) ++state;
  if (state == op->layout().states) return std::nullopt;
  const Variable last = subtensor(trace, {IndexItem(-1)});
  if (!last.owner().op().equals(node.op()) || node.inputs().size() != last.owner().inputs().size()) return std::nullopt;
  for (std::size_t i = 1; i < node.inputs().size(); ++i)
    if (!same_value(node.input(int(i)), last.owner().input(int(i)))) return std::nullopt;
  const auto fitted = fit(scan.output(state), node.output());
  if (!fitted) return std::nullopt;
  const Variable final = *fitted;
  if (steps) return one(final);
  return one(check_and_raise(final, {gt(scan.input(0), int64_constant(0))}, "IndexError",
                             "scan: a trace of no steps has no last element"));
}

// Runs before states are analyzed: a state whose trace is read only at its end is no longer traced.
void read_last_steps(FunctionGraph& graph) {
  const RuleScope scope("scan_last_step");
  if (scans_of(graph).empty()) return;
  Replacements pairs;
  for (auto& node : graph.toposort())
    if (node.op().name() == "Subtensor")
      if (const auto last = last_of_trace(graph, node)) pairs.emplace_back(node.output(), last->front());
  graph.replace_all(pairs, "scan_last_step");
}

void declare_scans(Rules& rules) {
  rules.function("scan_last_step", Root::op({"Subtensor"}), last_of_trace)
      .with_input(Root::op({"Scan"}))
      .doc(
          "Rewrites the last element of the trace of a state as the final state, so that the trace need not be stored.")
      .tags(canonicalize, "scan", "scan_save_mem")
      .sample([] {
        const Variable x = sample_vector();
        const auto step = [](const Variable& x_t, const Variable& y) { return tanh(y + x_t); };
        return subtensor(scan({.sequences = {x}, .initial = {constant(Array(0.5))}}, step).traces[0], {IndexItem(-1)});
      });
}

const RegisterRules register_scans("scan", declare_scans);

const RegisterPasses merging_passes({
    {"scan_merge",
     0.2,
     {"fast_run", "scan"},
     "Merges scans with the same number of steps that share states, such as a loop and the forward part of its "
     "gradient.",
     merge_scans},
    {"scan_last_step_early",
     0.24,
     {"fast_run", "scan"},
     "Rewrites the last element of the trace of a state as the final state.",
     read_last_steps},
    {"scan_remove_unused_early",
     0.25,
     {"fast_run", "fast_compile", "scan"},
     "Removes unused traces and states of a scan, and merges equal ones.",
     remove_unread},
    {"scan_remove_unused",
     1.605,
     {"fast_run", "fast_compile", "scan"},
     "Removes traces and states of a scan that have become unused, and merges equal ones.",
     remove_unread},
});

}  // namespace

}  // namespace bitale::rewriting
