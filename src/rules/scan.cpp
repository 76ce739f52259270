// Scans: those that share states are one, what nobody reads is not computed, who reads the last element of a trace
// reads the final state, what does not depend on the states is computed for all steps at once, and states that are
// sums or late copies of that are no states.
#include <algorithm>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/debugging.hpp"
#include "bitale/ops/known.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/ordered.hpp"
#include "bitale/ops/scan.hpp"
#include "bitale/rewriting/passes.hpp"
#include "graph/calculus.hpp"
#include "graph/pointer_map.hpp"
#include "ops/dimshuffle.hpp"
#include "ops/dot.hpp"
#include "ops/lengths.hpp"
#include "ops/scan.hpp"
#include "ops/subtensor.hpp"
#include "rules/matrices.hpp"
#include "rules/small_systems.hpp"

namespace bitale::rewriting {

namespace {

const ScanOp* scan_op(const Apply& node) { return node ? dynamic_cast<const ScanOp*>(&node.op()) : nullptr; }

// A loop in parts, and what its results stand for.
struct Loop {
  ScanParts parts;
  std::vector<Variables> finals, traces;  // per state and trace: outputs of the nodes that it came from
  Variables steps;                        // with until
};

Loop loop_of(const Apply& node) {
  const ScanOp& op = *scan_op(node);
  const ScanLayout& layout = op.layout();
  Loop out;
  ScanParts& parts = out.parts;
  parts.n_steps = node.input(0);
  for (int k = 0; k < layout.sequences; ++k) {
    parts.sequences.push_back(node.input(op.sequence_input(k)));
    parts.elements.push_back(op.element(k));
  }
  for (int k = 0; k < layout.states; ++k) {
    parts.initial.push_back(node.input(op.initial_input(k)));
    parts.states.push_back(op.state(k));
    parts.next.push_back(op.next(k));
    out.finals.push_back({node.output(k)});
  }
  for (int k = 0; k < op.trace_count(); ++k) {
    parts.traced.push_back(op.traced(k));
    out.traces.push_back({node.output(op.trace_output(k))});
  }
  for (int k = 0; k < op.constant_count(); ++k)
    parts.constants.emplace_back(op.inner_constant(k), node.input(op.constant_input(k)));
  if (layout.has_until) {
    parts.until = op.until();
    out.steps = {node.outputs().back()};
  }
  parts.truncate_gradient = layout.truncate_gradient;
  parts.name = layout.name;
  return out;
}

// Everything that a step computes, in one list.
Variables results_of(const ScanParts& parts) {
  Variables out = parts.next;
  out.insert(out.end(), parts.traced.begin(), parts.traced.end());
  if (parts.until) out.push_back(parts.until);
  return out;
}
void set_results(ScanParts& parts, const Variables& from) {
  auto at = from.begin();
  for (auto& each : parts.next) each = *at++;
  for (auto& each : parts.traced) each = *at++;
  if (parts.until) parts.until = *at;
}
void replace_in_step(ScanParts& parts, const Replacements& replacements) {
  if (!replacements.empty()) set_results(parts, clone_replace(results_of(parts), replacements));
}

bool same_value(const Variable& a, const Variable& b) {
  if (a.same_as(b)) return true;
  return a.is_constant() && b.is_constant() && a.type()->equals(*b.type()) && identical(*a.constant(), *b.constant());
}

// One variable of the step for each outer value.
void share_inputs(ScanParts& parts) {
  Replacements same;
  const auto merge = [&](Variables& outer, Variables& inner) {
    Variables kept_outer, kept_inner;
    for (std::size_t k = 0; k < outer.size(); ++k) {
      std::size_t found = 0;
      while (found < kept_outer.size() &&
             !(same_value(kept_outer[found], outer[k]) && kept_inner[found].type()->equals(*inner[k].type())))
        ++found;
      if (found < kept_outer.size()) {
        same.emplace_back(inner[k], kept_inner[found]);
        continue;
      }
      kept_outer.push_back(outer[k]);
      kept_inner.push_back(inner[k]);
    }
    outer = kept_outer, inner = kept_inner;
  };
  merge(parts.sequences, parts.elements);
  Variables inner, outer;
  for (auto& [leaf, value] : parts.constants) inner.push_back(leaf), outer.push_back(value);
  merge(outer, inner);
  parts.constants.clear();
  for (std::size_t k = 0; k < inner.size(); ++k) parts.constants.emplace_back(inner[k], outer[k]);
  replace_in_step(parts, same);
}

// The results of a step, equal ones the same variable; states stand for those that `representative` names.
Variables merged_results(const ScanParts& parts, const std::vector<std::size_t>& representative) {
  Replacements same;
  for (std::size_t k = 0; k < representative.size(); ++k)
    if (representative[k] != k) same.emplace_back(parts.states[k], parts.states[representative[k]]);
  return merge_equal(clone_replace(results_of(parts), same));
}

// States that begin alike and go on alike are one; so are equal traces. How many states have gone.
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
  // Held to be the same until their next values differ.
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
  std::vector<std::size_t> place(count);
  for (std::size_t k = 0; k < count; ++k) {
    if (representative[k] != k) {
      auto& finals = out.finals[place[representative[k]]];
      finals.insert(finals.end(), loop.finals[k].begin(), loop.finals[k].end());
      continue;
    }
    place[k] = out.finals.size();
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

// Without what nobody reads: traces, states, sequences.
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
  if (parts.until) needed.push_back(parts.until);
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
  // A sequence says how many steps there may be: one of another length than n_steps is an error, read or not.
  for (std::size_t k = 0; k < parts.sequences.size(); ++k)
    if (leaves.contains(parts.elements[k]) || !is_same_length(length_of(parts.sequences[k], 0), parts.n_steps)) {
      out.parts.sequences.push_back(parts.sequences[k]);
      out.parts.elements.push_back(parts.elements[k]);
    }
  if (out.parts.traced.empty() && out.parts.states.empty() && !out.parts.until) return false;
  const bool changed = out.parts.traced.size() + out.parts.states.size() + out.parts.sequences.size() != before;
  loop = std::move(out);
  return changed;
}

// In place of all that the loop's results stand for.
void put_in_place(FunctionGraph& graph, const Loop& loop, Replacements pairs, const char* rule) {
  Variables outputs;
  if (!loop.parts.states.empty() || !loop.parts.traced.empty() || loop.parts.until)
    outputs = make_scan(loop.parts).outputs();
  const auto stands = [&](const Variables& olds, const Variable& value) {
    for (auto& old : olds)
      if (!graph.clients(old).empty()) pairs.emplace_back(old, fit(value, old).value_or(value));
  };
  for (std::size_t k = 0; k < loop.finals.size(); ++k) stands(loop.finals[k], outputs[k]);
  for (std::size_t k = 0; k < loop.traces.size(); ++k) stands(loop.traces[k], outputs[loop.finals.size() + k]);
  if (loop.parts.until) stands(loop.steps, outputs.back());
  graph.replace_all(pairs, rule);
}

bool reads(const Apply& node, const Apply& other) {
  for (auto& each : toposort(node.inputs()))
    if (each.same_as(other)) return true;
  return false;
}

// Two loops as one, if that shares states.
std::optional<Loop> merged(const Apply& a, const Apply& b) {
  if (!same_value(a.input(0), b.input(0))) return std::nullopt;
  const ScanOp &first = *scan_op(a), &second = *scan_op(b);
  if (first.layout().has_until != second.layout().has_until ||
      first.layout().truncate_gradient != second.layout().truncate_gradient)
    return std::nullopt;
  Loop out = loop_of(a), other = loop_of(b);
  // Equal ops have the very same inner variables: the second one gets its own.
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
  if (!out.parts.until) {
    share_inputs(out.parts);
    if (share_states(out) == 0) return std::nullopt;
    return out;
  }
  // Both end after the same step only if they ask the same.
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

std::vector<Apply> scans_of(const FunctionGraph& graph) {
  std::vector<Apply> out;
  bool any = false;
  for (std::size_t slot = 0; slot < graph.slot_count() && !any; ++slot) any = scan_op(graph.at_slot(slot));
  if (!any) return out;
  for (auto& node : graph.toposort())
    if (scan_op(node)) out.push_back(node);
  return out;
}

void merge_scans(FunctionGraph& graph) {
  const RuleScope scope("scan_merge");
  for (bool changed = true; changed;) {
    changed = false;
    const std::vector<Apply> nodes = scans_of(graph);
    for (std::size_t i = 0; i < nodes.size() && !changed; ++i)
      for (std::size_t j = i + 1; j < nodes.size() && !changed; ++j) {
        if (reads(nodes[j], nodes[i])) continue;
        if (auto both = merged(nodes[i], nodes[j])) {
          put_in_place(graph, *both, {}, "scan_merge");
          changed = true;
        }
      }
  }
}

// The number that all elements are, of a constant or a computed value.
std::optional<Variable> uniform_number(const Variable& v) {
  if (!(v.has_owner() || v.is_constant()) || !as_tensor(v.type())) return std::nullopt;
  try {
    return cast(constant(get_underlying_scalar_constant_value(v)), v.dtype());
  } catch (const NotScalarConstantError&) {
    return std::nullopt;
  }
}

// A trace of one value in all steps is that value, repeated.
bool take_constant_traces(const FunctionGraph& graph, const Apply& node, Loop& loop, Replacements& pairs) {
  ScanParts& parts = loop.parts;
  if (parts.until) return false;
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
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {  // readers first
    if (!graph.contains(*node)) continue;
    Loop loop = loop_of(*node);
    share_inputs(loop.parts);
    const std::size_t traces = loop.parts.traced.size();
    const bool has_fewer = traces > 1 && (share_states(loop) > 0 || loop.parts.traced.size() < traces);
    Replacements pairs;
    const bool has_constants = take_constant_traces(graph, *node, loop, pairs);
    if (drop_unread(graph, loop) || has_fewer || has_constants)
      put_in_place(graph, loop, std::move(pairs), "scan_remove_unused");
  }
}

// ---- out of the loop ------------------------------------------------------------------------------------------------

bool is_dear(const Apply& node) {
  if (const ScalarOp* scalar = node.op().elementwise()) return !(scalar->traits & cheap);
  return node.op().view_of(node, 0).empty();
}

void push_out(FunctionGraph& graph) {
  const RuleScope scope("scan_push_out");
  for (const Apply& node : scans_of(graph)) {
    if (!graph.contains(node) || scan_op(node)->layout().has_until) continue;
    Loop loop = loop_of(node);
    ScanParts& parts = loop.parts;
    PointerSet of_states, of_elements;
    for (auto& state : parts.states) of_states.insert(state.node());
    for (auto& element : parts.elements) of_elements.insert(element.node());
    PointerSet dear;
    Variables moved;
    VariableSet seen;
    const auto move = [&](const Variable& v) {
      if (v.has_owner() && of_elements.contains(v.node()) && !of_states.contains(v.node()) && seen.insert(v).second)
        moved.push_back(v);
    };
    const std::vector<Apply> order = toposort(results_of(parts));
    for (const Apply& each : order)
      for (auto& output : each.outputs()) {
        const auto any = [&](PointerSet& set) {
          return std::any_of(each.inputs().begin(), each.inputs().end(),
                             [&](auto& v) { return set.contains(v.node()); });
        };
        if (any(of_states)) of_states.insert(output.node());
        if (any(of_elements)) of_elements.insert(output.node());
        if (is_dear(each) || any(dear)) dear.insert(output.node());
      }
    // What takes computing is done for all steps at once; what is read once it is there, in the loop.
    for (const Apply& each : order)
      if (of_states.contains(each.output().node()))
        for (auto& input : each.inputs())
          if (dear.contains(input.node())) move(input);
    for (auto& next : parts.next)
      if (dear.contains(next.node())) move(next);
    for (auto& traced : parts.traced) move(traced);
    std::vector<std::size_t> elements_as_traces;  // a trace of a sequence is the sequence
    for (std::size_t k = 0; k < parts.traced.size(); ++k)
      for (std::size_t s = 0; s < parts.elements.size(); ++s)
        if (parts.traced[k].same_as(parts.elements[s])) elements_as_traces.push_back(k);
    if (moved.empty() && elements_as_traces.empty()) continue;
    Variables whole;
    Replacements rows;
    for (std::size_t k = 0; k < parts.sequences.size(); ++k) {
      Variable sequence = parts.sequences[k];
      if (!is_same_length(length_of(sequence, 0), parts.n_steps)) {
        std::vector<std::optional<Operand>> lengths(static_cast<std::size_t>(sequence.ndim()));
        lengths[0] = Operand(parts.n_steps);
        const std::string who = scan_op(node)->called();
        const Variable counted =
            check_and_raise(sequence, {ge(parts.n_steps, int64_constant(0))}, "ValueError",
                            cat(who, ": n_steps is negative: expected a number of steps, 0 or more"));
        const Variable checked = check_and_raise(
            counted, {eq(length_of(sequence, 0), parts.n_steps)}, "ShapeError",
            cat(who, ": sequence ", k, ", `", sequence.str(), "`, does not have as many elements as there are steps"));
        sequence = specify_shape(checked, lengths);
      }
      whole.push_back(sequence);
      rows.emplace_back(parts.elements[k], sequence);
    }
    Variables stacks;
    try {
      stacks = moved.empty() ? Variables() : calculus().vectorize(clone_replace(moved, parts.constants), rows);
    } catch (const NotImplementedError&) {
      continue;
    }
    bool fits = true;
    for (std::size_t k = 0; k < stacks.size(); ++k) fits &= stacks[k].ndim() == moved[k].ndim() + 1;
    if (!fits) continue;
    Replacements pairs, leaves;
    Loop rest = loop;
    rest.parts.traced.clear(), rest.traces.clear();
    for (std::size_t k = 0; k < parts.traced.size(); ++k) {
      Variable stack;
      for (std::size_t m = 0; m < moved.size() && !stack; ++m)
        if (moved[m].same_as(parts.traced[k])) stack = stacks[m];
      for (std::size_t s = 0; s < parts.elements.size() && !stack; ++s)
        if (parts.elements[s].same_as(parts.traced[k])) stack = whole[s];
      if (!stack) {
        rest.parts.traced.push_back(parts.traced[k]);
        rest.traces.push_back(loop.traces[k]);
        continue;
      }
      for (auto& old : loop.traces[k])
        if (!graph.clients(old).empty()) pairs.emplace_back(old, fit(stack, old).value_or(stack));
    }
    for (std::size_t m = 0; m < moved.size(); ++m) {
      leaves.emplace_back(moved[m], Variable(moved[m].type()));
      rest.parts.elements.push_back(leaves.back().second);
      rest.parts.sequences.push_back(stacks[m]);
    }
    replace_in_step(rest.parts, leaves);
    // Sequences that only what was moved has read.
    VariableSet read;
    for (auto& leaf : graph_inputs(results_of(rest.parts))) read.insert(leaf);
    for (std::size_t k = rest.parts.elements.size(); k-- > 0;)
      if (!read.contains(rest.parts.elements[k])) {
        rest.parts.elements.erase(rest.parts.elements.begin() + std::ptrdiff_t(k));
        rest.parts.sequences.erase(rest.parts.sequences.begin() + std::ptrdiff_t(k));
      }
    put_in_place(graph, rest, std::move(pairs), "scan_push_out");
  }
}

// ---- traces that others give ----------------------------------------------------------------------------------------

// Whether computing the value again from what is read takes no more than a few simple operations: `leaves` are there.
bool is_little_of(const Variable& value, const VariableSet& leaves, int& left) {
  if (leaves.contains(value) || value.is_constant()) return true;
  if (!value.has_owner() || --left < 0) return false;
  const Apply node = value.owner();
  if (is_elemwise(value, "pow")) {  // of a derivative, the exponent is a difference of constants still
    const auto exponent = uniform_number(node.input(1));
    const double number = exponent ? exponent->constant()->item() : 0;
    return (number == 1 || number == 2) && is_little_of(node.input(0), leaves, left);
  }
  if (!node.op().elementwise() || is_dear(node)) return false;
  return std::ranges::all_of(node.inputs(), [&](auto& input) { return is_little_of(input, leaves, left); });
}

// A trace whose elements a few simple operations make of sequences and other traces is made of those by who reads it.
void recompute_traces(FunctionGraph& graph) {
  const RuleScope scope("scan_recompute_traces");
  constexpr int few = 3;  // operations
  for (const Apply& node : scans_of(graph)) {
    if (!graph.contains(node) || scan_op(node)->layout().has_until) continue;
    Loop loop = loop_of(node);
    ScanParts& parts = loop.parts;
    const bool fits = std::ranges::all_of(
        parts.sequences, [&](auto& each) { return is_same_length(length_of(each, 0), parts.n_steps); });
    if (parts.states.empty() || parts.traced.size() < 2 || !fits) continue;
    VariableSet leaves(parts.elements.begin(), parts.elements.end());
    leaves.insert(parts.traced.begin(), parts.traced.end());
    for (auto& [leaf, value] : parts.constants) leaves.insert(leaf);
    std::vector<bool> goes(parts.traced.size(), false);
    for (std::size_t k = parts.traced.size(); k-- > 0;) {
      const Variable& traced = parts.traced[k];
      const bool is_result = std::ranges::any_of(loop.traces[k], [&](auto& each) {
        return std::ranges::any_of(graph.clients(each), [](auto& client) { return !client.node; });
      });
      int left = few;
      if (is_result || !traced.has_owner()) continue;
      leaves.erase(traced);
      goes[k] = is_little_of(traced, leaves, left);
      if (!goes[k]) leaves.insert(traced);
    }
    Loop rest = loop;
    rest.parts.traced.clear(), rest.traces.clear();
    Variables gone;
    for (std::size_t k = 0; k < goes.size(); ++k) {
      if (goes[k]) {
        gone.push_back(parts.traced[k]);
        continue;
      }
      rest.parts.traced.push_back(parts.traced[k]);
      rest.traces.push_back(loop.traces[k]);
    }
    if (gone.empty()) continue;
    const Apply scan = make_scan(rest.parts);
    Replacements rows, pairs;
    for (std::size_t k = 0; k < parts.elements.size(); ++k) rows.emplace_back(parts.elements[k], parts.sequences[k]);
    for (std::size_t k = 0; k < rest.parts.traced.size(); ++k)
      rows.emplace_back(rest.parts.traced[k], scan.output(int(parts.states.size() + k)));
    const Variables stacks = calculus().vectorize(clone_replace(gone, parts.constants), rows);
    const auto stands = [&](const Variables& olds, const Variable& value) {
      for (auto& old : olds)
        if (!graph.clients(old).empty()) pairs.emplace_back(old, fit(value, old).value_or(value));
    };
    for (std::size_t k = 0; k < parts.states.size(); ++k) stands(loop.finals[k], scan.output(int(k)));
    std::size_t next = 0, kept = parts.states.size();
    for (std::size_t k = 0; k < goes.size(); ++k)
      stands(loop.traces[k], goes[k] ? stacks[next++] : scan.output(int(kept++)));
    graph.replace_all(pairs, "scan_recompute_traces");
  }
}

// Systems with a matrix that no step changes: its factors are computed outside, where make_scan puts what depends on no
// element and no state.
void factor_outside(FunctionGraph& graph) {
  const RuleScope scope("scan_factor_outside");
  for (const Apply& node : scans_of(graph)) {
    Loop loop = loop_of(node);
    ScanParts& parts = loop.parts;
    PointerSet changing;
    for (auto& state : parts.states) changing.insert(state.node());
    for (auto& element : parts.elements) changing.insert(element.node());
    Replacements factored;
    for (const Apply& each : toposort(results_of(parts))) {
      const bool changes =
          std::any_of(each.inputs().begin(), each.inputs().end(), [&](auto& v) { return changing.contains(v.node()); });
      if (!changes) continue;
      for (auto& output : each.outputs()) changing.insert(output.node());
      const auto system = as_system(each.output(0));
      if (!system || changing.contains(system->a.node()) || !changing.contains(system->b.node())) continue;
      if (structure_of(system->a).is_triangular() || structure_of(system->a).is(Fact::Orthogonal)) continue;
      if (system->b.ndim() != system->a.ndim() - 2 + system->b_ndim) continue;
      if (const auto solved = fit(solution_by_lu(*system), each.output(0)))
        factored.emplace_back(each.output(0), *solved);
    }
    if (factored.empty()) continue;
    replace_in_step(parts, factored);
    put_in_place(graph, loop, {}, "scan_factor_outside");
  }
}

PointerSet changing_values(const ScanParts& parts);

// Systems and determinants of two rows that change from step to step.
void write_out_systems(FunctionGraph& graph) {
  const RuleScope scope("scan_small_systems");
  for (const Apply& node : scans_of(graph)) {
    Loop loop = loop_of(node);
    bool changed = false;
    for (bool again = true; again;) {  // one system's matrix may be another's solution
      Replacements pairs;
      const PointerSet changing = changing_values(loop.parts);
      for (const Apply& each : toposort(results_of(loop.parts))) {
        if (!changing.contains(each.output(0).node())) continue;
        const auto values = written_out(each);
        for (std::size_t k = 0; values && k < values->size(); ++k)
          pairs.emplace_back(each.output(int(k)), (*values)[k]);
        if (values) break;
      }
      again = !pairs.empty();
      changed |= again;
      replace_in_step(loop.parts, pairs);
    }
    if (changed) put_in_place(graph, loop, {}, "scan_small_systems");
  }
}

// ---- states that need no loop ---------------------------------------------------------------------------------------

// The other operand, if `next` is the sum or product of the state and that.
std::optional<Variable> combined_with(const Variable& state, const Variable& next, std::string_view name) {
  if (!next.has_owner()) return std::nullopt;
  const Apply node = next.owner();
  const ScalarOp* scalar = node.op().elementwise();
  if (!scalar || scalar->name != name || node.inputs().size() != 2) return std::nullopt;
  for (int k = 0; k < 2; ++k)
    if (node.input(k).same_as(state) && node.input(1 - k).type()->equals(*state.type())) return node.input(1 - k);
  return std::nullopt;
}

// What steps compute without any state's help is computed for all steps at once. A state that becomes such a value is
// read from there, one step late; one to which such values are added is their sum, or where steps read it their running
// sum, and likewise with products.
struct FreeState {
  enum class Kind { late, sum, running_sum, running_product } kind;
  std::size_t state;
  Variable traced;  // in a step: what it becomes, or what is added
  bool is_read;     // by the steps
};

std::vector<FreeState> free_states_of(const ScanParts& parts) {
  std::vector<FreeState> out;
  PointerSet of_states;
  for (auto& state : parts.states) of_states.insert(state.node());
  const auto is_of_states = [&](const Variable& v) { return of_states.contains(v.node()); };
  for (const Apply& each : toposort(results_of(parts)))
    if (std::any_of(each.inputs().begin(), each.inputs().end(), is_of_states))
      for (auto& output : each.outputs()) of_states.insert(output.node());
  for (std::size_t k = 0; k < parts.states.size(); ++k) {
    const Variable &state = parts.states[k], &next = parts.next[k];
    if (!as_tensor(state.type()) || !is_float(state.dtype())) continue;
    auto addend = combined_with(state, next, "add"), factor = combined_with(state, next, "mul");
    if (addend && is_of_states(*addend)) addend.reset();
    if (factor && is_of_states(*factor)) factor.reset();
    if (!addend && !factor && is_of_states(next)) continue;
    Variables others = results_of(parts);
    if (addend || factor) others.erase(others.begin() + std::ptrdiff_t(k));
    const Variables leaves = graph_inputs(others);
    const bool is_read = std::any_of(leaves.begin(), leaves.end(), [&](auto& leaf) { return leaf.same_as(state); });
    using Kind = FreeState::Kind;
    const Kind kind = addend ? (is_read ? Kind::running_sum : Kind::sum) : factor ? Kind::running_product : Kind::late;
    // A running sum of arrays would be as many arrays as there are steps.
    if ((kind == Kind::running_sum || kind == Kind::running_product) && state.ndim() > 0) continue;
    const Variable traced = addend ? *addend : factor ? *factor : next;
    if (traced.type()->equals(*state.type())) out.push_back({kind, k, traced, is_read});
  }
  return out;
}

bool free_states(FunctionGraph& graph, const Apply& node) {
  Loop loop = loop_of(node);
  ScanParts& parts = loop.parts;
  const std::vector<FreeState> freed = free_states_of(parts);
  if (freed.empty()) return false;
  ScanParts map = parts;
  for (auto* list : {&map.states, &map.initial, &map.next, &map.traced}) list->clear();
  for (auto& each : freed) map.traced.push_back(each.traced);
  const Apply traces = make_scan(map);
  Replacements pairs;
  for (std::size_t m = freed.size(); m-- > 0;) {
    const auto [kind, k, traced, is_read] = freed[m];
    const Variable first = expand_dims(parts.initial[k], 0), trace = traces.output(int(m));
    const auto is_asked_for = [&](const Variable& final) { return !graph.clients(final).empty(); };
    Variable final, whole;  // the state after each number of steps, from none on
    using Kind = FreeState::Kind;
    if (kind == Kind::sum) {
      final = add(parts.initial[k], sum(trace, std::vector<int>{0}));
    } else {
      whole = join(0, {first, trace});
      if (kind == Kind::running_sum) whole = cumsum(whole, 0);
      if (kind == Kind::running_product) whole = cumprod(whole, 0);
      final = subtensor(whole, {IndexItem(-1)});
    }
    for (auto& old : loop.finals[k])
      if (is_asked_for(old)) pairs.emplace_back(old, fit(final, old).value_or(final));
    if (is_read) {
      parts.sequences.push_back(
          with_static_shape_of(trace, subtensor(whole, {IndexItem(Slice{{}, Operand(parts.n_steps), {}})})));
      parts.elements.push_back(parts.states[k]);
    }
    const auto at = std::ptrdiff_t(k);
    parts.states.erase(parts.states.begin() + at);
    parts.initial.erase(parts.initial.begin() + at);
    parts.next.erase(parts.next.begin() + at);
    loop.finals.erase(loop.finals.begin() + at);
  }
  put_in_place(graph, loop, std::move(pairs), "scan_free_states");
  return true;
}

void free_all_states(FunctionGraph& graph) {
  const RuleScope scope("scan_free_states");
  for (bool changed = true; changed;) {  // one that is free may free others
    changed = false;
    for (const Apply& node : scans_of(graph))
      if (graph.contains(node) && !scan_op(node)->layout().has_until) changed |= free_states(graph, node);
  }
}

// ---- sums of products -----------------------------------------------------------------------------------------------

// What a step adds to a matrix: the outer product of two vectors. (Products of matrices are as fast in the loop.)
struct OuterProduct {
  Variable left, right;
  bool is_negative = false;
};

// What the value is a view of, if that is all it is: by its axes, in their order.
std::optional<Variable> rearranged_from(const Variable& v, const std::vector<int>& order) {
  const auto* op = op_as<DimShuffle>(v);
  return op && op->new_order == order ? std::optional(v.owner().input(0)) : std::nullopt;
}

Variable without_statement_of_shape(Variable v) {
  while (v.has_owner() && v.owner().op().name() == "SpecifyShape") v = v.owner().input(0);
  return v;
}

std::optional<OuterProduct> outer_product(const Variable& stated) {
  const Variable term = without_statement_of_shape(stated);
  if (!is_elemwise(term, "mul") || term.ndim() != 2) return std::nullopt;
  const Apply node = term.owner();
  for (int k = 0; k < 2; ++k) {
    const auto column = rearranged_from(node.input(k), {0, new_axis}),
               row = rearranged_from(node.input(1 - k), {new_axis, 0});
    if (column && row) return OuterProduct{*column, *row};
  }
  return std::nullopt;
}

// The terms whose sum with the state is `next`, with their signs; nothing where it is no such sum.
bool terms_of_sum(const Variable& state, const Variable& next, bool is_negative, bool& has_state,
                  std::vector<std::pair<Variable, bool>>& out) {
  if (next.same_as(state)) return !is_negative && !std::exchange(has_state, true);
  const Variable bare = without_statement_of_shape(next);
  const bool is_sum = is_elemwise(bare, "add"), is_difference = is_elemwise(bare, "sub");
  if ((is_sum || is_difference) && bare.owner().inputs().size() == 2 && same_broadcast(bare, state)) {
    const Apply node = bare.owner();
    if (same_broadcast(node.input(0), state) && same_broadcast(node.input(1), state))
      return terms_of_sum(state, node.input(0), is_negative, has_state, out) &&
             terms_of_sum(state, node.input(1), is_negative != is_difference, has_state, out);
  }
  if (is_elemwise(bare, "neg")) return terms_of_sum(state, bare.owner().input(0), !is_negative, has_state, out);
  out.emplace_back(next, is_negative);
  return true;
}

// What depends on these variables of the step.
PointerSet dependents(const ScanParts& parts, const Variables& leaves) {
  PointerSet out;
  for (auto& leaf : leaves) out.insert(leaf.node());
  for (const Apply& each : toposort(results_of(parts)))
    if (std::ranges::any_of(each.inputs(), [&](auto& v) { return out.contains(v.node()); }))
      for (auto& output : each.outputs()) out.insert(output.node());
  return out;
}
// What differs from step to step.
PointerSet changing_values(const ScanParts& parts) {
  Variables leaves = parts.states;
  leaves.insert(leaves.end(), parts.elements.begin(), parts.elements.end());
  return dependents(parts, leaves);
}

// A state to which outer products are added, and which steps do not read.
struct SumOfProducts {
  std::size_t state;
  std::vector<OuterProduct> products;
  Variable rest;  // the next value without them; null: there is nothing else
};

// For a result of so few elements the loop is not slower: they are variables of it.
constexpr std::int64_t most_in_registers = 64;

std::optional<SumOfProducts> sum_of_products(const ScanParts& parts, std::size_t k) {
  const Variable &state = parts.states[k], &next = parts.next[k];
  if (!as_tensor(state.type()) || state.ndim() != 2 || !is_float(state.dtype())) return std::nullopt;
  const Dims& shape = state.static_shape();
  if (shape[0] != unknown_length && shape[1] != unknown_length && shape[0] * shape[1] <= most_in_registers)
    return std::nullopt;
  bool has_state = false;
  std::vector<std::pair<Variable, bool>> terms;
  if (!terms_of_sum(state, next, false, has_state, terms) || !has_state) return std::nullopt;
  Variables others = results_of(parts);
  others.erase(others.begin() + std::ptrdiff_t(k));
  for (auto& [term, sign] : terms) others.push_back(term);
  const Variables leaves = graph_inputs(others);
  if (std::any_of(leaves.begin(), leaves.end(), [&](auto& leaf) { return leaf.same_as(state); })) return std::nullopt;
  const PointerSet changing = changing_values(parts), of_states = dependents(parts, parts.states);
  // One factor is there for all steps already: where neither is, two traces would be stored in place of one matrix.
  const auto is_stored = [&](const Variable& v) {
    return !of_states.contains(v.node()) || std::ranges::any_of(parts.traced, [&](auto& t) { return t.same_as(v); });
  };
  SumOfProducts out{k, {}, {}};
  Variable rest = state;
  for (auto& [term, is_negative] : terms) {
    auto product = outer_product(term);
    if (product && term.dtype() == state.dtype() && changing.contains(product->left.node()) &&
        changing.contains(product->right.node()) && (is_stored(product->left) || is_stored(product->right))) {
      product->is_negative = is_negative;
      out.products.push_back(*product);
    } else {
      rest = is_negative ? sub(rest, term) : add(rest, term);
      out.rest = rest;
    }
  }
  if (out.products.empty() || (out.rest && !out.rest.type()->equals(*state.type()))) return std::nullopt;
  return out;
}

// Which trace of the loop is the variable's; a new one where there is none.
std::size_t trace_of(Loop& loop, const Variable& v) {
  Variables& traced = loop.parts.traced;
  const auto at = std::ranges::find_if(traced, [&](auto& other) { return other.same_as(v); });
  if (at != traced.end()) return std::size_t(at - traced.begin());
  traced.push_back(v);
  loop.traces.emplace_back();
  return traced.size() - 1;
}

// In place of all that is read of what the loop's results stand for.
void append_results(const FunctionGraph& graph, const Loop& loop, const Variables& outputs, Replacements& pairs) {
  for (std::size_t k = 0; k < loop.finals.size() + loop.traces.size(); ++k)
    for (auto& old : k < loop.finals.size() ? loop.finals[k] : loop.traces[k - loop.finals.size()])
      if (!graph.clients(old).empty()) pairs.emplace_back(old, fit(outputs[k], old).value_or(outputs[k]));
}

void push_out_products(FunctionGraph& graph, const Apply& node) {
  Loop loop = loop_of(node);
  ScanParts& parts = loop.parts;
  std::vector<SumOfProducts> found;
  for (std::size_t k = 0; k < parts.states.size(); ++k)
    if (auto sum = sum_of_products(parts, k)) found.push_back(*sum);
  if (found.empty()) return;
  struct Factors {
    std::size_t left, right;
  };
  std::vector<std::vector<Factors>> traces;
  for (auto& sum : found) {
    auto& own = traces.emplace_back();
    for (auto& product : sum.products) own.push_back({trace_of(loop, product.left), trace_of(loop, product.right)});
  }
  std::vector<Variable> initial;  // null: the state goes on, for the rest of its sum
  std::vector<Variables> finals;
  for (auto sum = found.rbegin(); sum != found.rend(); ++sum) {
    const auto at = std::ptrdiff_t(sum->state);
    finals.insert(finals.begin(), loop.finals[sum->state]);
    initial.insert(initial.begin(), sum->rest ? Variable() : parts.initial[sum->state]);
    if (sum->rest) {
      parts.next[sum->state] = sum->rest;
      continue;
    }
    parts.states.erase(parts.states.begin() + at);
    parts.initial.erase(parts.initial.begin() + at);
    parts.next.erase(parts.next.begin() + at);
    loop.finals.erase(loop.finals.begin() + at);
  }
  const Variables outputs = make_scan(parts).outputs();
  const auto is_one_of = [](const Variables& list, const Variable& v) {
    return std::any_of(list.begin(), list.end(), [&](auto& each) { return each.same_as(v); });
  };
  Replacements pairs;
  for (std::size_t m = 0; m < found.size(); ++m) {
    Variable total = initial[m];
    for (std::size_t k = 0; k < loop.finals.size() && !total; ++k)
      if (is_one_of(loop.finals[k], finals[m].front())) {
        total = outputs[k];
        loop.finals[k].clear();
      }
    for (std::size_t p = 0; p < found[m].products.size(); ++p) {
      const auto [left, right] = traces[m][p];
      const Variable& columns = outputs[loop.finals.size() + left];
      const Variable product = dot(transpose(columns), outputs[loop.finals.size() + right]);
      total = found[m].products[p].is_negative ? sub(total, product) : add(total, product);
    }
    for (auto& old : finals[m])
      if (!graph.clients(old).empty()) pairs.emplace_back(old, fit(total, old).value_or(total));
  }
  append_results(graph, loop, outputs, pairs);
  graph.replace_all(pairs, "scan_push_out_products");
}

// A trace of products of vectors with a matrix that is the same in all steps.
struct TracedProduct {
  std::size_t trace;
  Variable factor, matrix;  // the matrix is an outer value
  bool is_matrix_left;
};

// Where the vectors have a trace already.
std::optional<TracedProduct> traced_product(const ScanParts& parts, std::size_t k, const PointerSet& changing) {
  const Variable product = without_statement_of_shape(parts.traced[k]);
  if (!op_as<Dot>(product)) return std::nullopt;
  const Apply node = product.owner();
  Variables others = results_of(parts);
  others.erase(others.begin() + std::ptrdiff_t(parts.next.size() + k));
  if (std::ranges::any_of(toposort(others), [&](auto& each) { return each.same_as(node); })) return std::nullopt;
  for (int i = 0; i < 2; ++i) {
    const Variable &factor = node.input(i), &matrix = node.input(1 - i);
    if (!changing.contains(factor.node()) || changing.contains(matrix.node())) continue;
    if (factor.ndim() != 1 || matrix.ndim() != 2) continue;
    const auto is_factor = [&](const Variable& v) { return v.same_as(factor); };
    if (std::ranges::none_of(parts.traced, is_factor)) continue;
    return TracedProduct{k, factor, clone_replace(Variables{matrix}, parts.constants)[0], i == 1};
  }
  return std::nullopt;
}

void push_out_traced_products(FunctionGraph& graph, const Apply& node) {
  Loop loop = loop_of(node);
  ScanParts& parts = loop.parts;
  const PointerSet changing = changing_values(parts);
  std::vector<TracedProduct> found;
  for (std::size_t k = 0; k < parts.traced.size(); ++k)
    if (auto product = traced_product(parts, k, changing)) found.push_back(*product);
  if (found.empty()) return;
  std::vector<Variables> replaced;
  for (auto product = found.rbegin(); product != found.rend(); ++product) {
    const auto at = std::ptrdiff_t(product->trace);
    replaced.insert(replaced.begin(), loop.traces[product->trace]);
    parts.traced.erase(parts.traced.begin() + at);
    loop.traces.erase(loop.traces.begin() + at);
  }
  std::vector<std::size_t> factors;
  for (auto& product : found) factors.push_back(trace_of(loop, product.factor));
  const Variables outputs = make_scan(parts).outputs();
  Replacements pairs;
  for (std::size_t m = 0; m < found.size(); ++m) {
    const auto& [trace, factor, matrix, is_matrix_left] = found[m];
    const Variable& stack = outputs[loop.finals.size() + factors[m]];
    const Variable product = dot(stack, is_matrix_left ? transpose(matrix) : matrix);
    for (auto& old : replaced[m])
      if (!graph.clients(old).empty()) pairs.emplace_back(old, fit(product, old).value_or(product));
  }
  append_results(graph, loop, outputs, pairs);
  graph.replace_all(pairs, "scan_push_out_products");
}

void push_out_all_products(FunctionGraph& graph) {
  const RuleScope scope("scan_push_out_products");
  const auto each = [&](auto push_out) {
    for (const Apply& node : scans_of(graph))
      if (graph.contains(node) && !scan_op(node)->layout().has_until) push_out(graph, node);
  };
  each(push_out_products);
  each(push_out_traced_products);
}

// ---- the last element of a trace ------------------------------------------------------------------------------------

// Of a trace of a state's next values: the final state, if there is a step.
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
                             "scan: the last of no steps is asked for"));
}

// Before states are looked at: one whose trace is read at its end alone is traced no more.
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
      .doc("The last element of the trace of a state is the final state, so that no trace need be stored.")
      .tags(canonicalize, "scan", "scan_save_mem")
      .sample([] {
        const Variable x = sample_vector();
        const auto step = [](const Variable& x_t, const Variable& y) { return tanh(y + x_t); };
        return subtensor(scan({.sequences = {x}, .initial = {constant(Array(0.5))}}, step).traces[0], {IndexItem(-1)});
      });
}

const RegisterRules register_scans("scan", declare_scans);

const RegisterPasses passes({
    {"scan_merge",
     0.2,
     {"fast_run", "scan"},
     "Scans of as many steps that share states, such as one and its gradient's forward part, are one.",
     merge_scans},
    {"scan_last_step_early",
     0.24,
     {"fast_run", "scan"},
     "The last element of the trace of a state is the final state.",
     read_last_steps},
    {"scan_remove_unused_early",
     0.25,
     {"fast_run", "fast_compile", "scan"},
     "Traces and states of a scan that nobody reads are not computed, and equal ones are one.",
     remove_unread},
    {"scan_push_out_products",
     0.28,
     {"fast_run", "scan"},
     "Outer products that steps add up, and traces of vectors times one matrix, are one product of what all steps "
     "give.",
     push_out_all_products},
    {"scan_free_states",
     0.29,
     {"fast_run", "scan"},
     "States that become, add up or multiply what no state enters are computed from all steps at once.",
     free_all_states},
    {"scan_factor_outside",
     0.28,
     {"fast_run", "scan", "scan_split_non_sequence_decomposition_and_solve"},
     "Systems of a step with a matrix that no step changes are solved by LU factors that are computed once.",
     factor_outside},
    {"scan_small_systems",
     0.285,
     {"fast_run", "scan"},
     "Systems of two equations and determinants of two rows in steps are written out, as elimination by elements.",
     write_out_systems},
    {"scan_push_out",
     0.3,
     {"fast_run", "scan"},
     "What a step computes from sequences alone is computed for all steps at once; a scan without states is no loop.",
     push_out},
    {"scan_recompute_traces",
     0.31,
     {"fast_run", "scan"},
     "A trace that a few simple operations make of sequences and other traces is computed from those, and not stored.",
     recompute_traces},
    {"scan_remove_unused",
     1.605,
     {"fast_run", "fast_compile", "scan"},
     "Traces and states of a scan that nobody reads any more are not computed, and equal ones are one.",
     remove_unread},
});

}  // namespace

}  // namespace bitale::rewriting
