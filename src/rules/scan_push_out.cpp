// Moves computation out of scans: what a step computes independently of the states is computed for all steps at once,
// states that are sums or delayed copies of such values are removed, and loop-invariant values are hoisted.
#include <algorithm>
#include <array>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/cumulative.hpp"
#include "bitale/ops/debugging.hpp"
#include "bitale/ops/known.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/rewriting/passes.hpp"
#include "graph/calculus.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/control/guarded.hpp"
#include "ops/indexing/subtensor.hpp"
#include "ops/linalg/dot.hpp"
#include "rules/matrices.hpp"
#include "rules/scan_loop.hpp"
#include "rules/small_systems.hpp"

namespace bitale::rewriting {

namespace {

// The values of all steps at once; values for which this is impossible are removed from the list.
Variables stacks_of(Variables& values, const ScanParts& parts, const PointerSet& of_elements,
                    const Replacements& rows) {
  const auto stacks = [&](const Variables& some) {
    try {
      Variables out = calculus().vectorize(clone_replace(some, parts.constants), rows);
      for (std::size_t k = 0; k < out.size(); ++k)
        if (out[k].ndim() != some[k].ndim() + 1) return Variables();
      return out;
    } catch (const NotImplementedError&) {
      return Variables();
    }
  };
  // A loop whose number of steps differs from step to step stays in the step.
  std::erase_if(values, [&](auto& v) { return has_loops_of_different_lengths(Variables{v}, of_elements); });
  if (values.empty()) return {};
  if (Variables all = stacks(values); !all.empty()) return all;
  std::erase_if(values, [&](auto& v) { return stacks({v}).empty(); });
  return values.empty() ? Variables() : stacks(values);
}

// The bytes of a value's elements, 0 where a length is not known.
std::int64_t known_bytes(const Variable& v) {
  auto bytes = std::int64_t(itemsize(v.dtype()));
  for (std::int64_t length : v.static_shape()) bytes *= std::max<std::int64_t>(length, 0);
  return bytes;
}

bool is_product(const Apply& node) {
  return dynamic_cast<const Dot*>(&node.op()) || dynamic_cast<const BatchedDot*>(&node.op());
}

// Whether a loop bounds the memory of a value: products on the way to it would fill more than the caches if they were
// computed for all steps, the value itself would be small, and a step has enough to do for a product of matrices.
bool is_bounded_by_loop(const Variable& value, const ScanParts& parts, const PointerSet& of_elements) {
  constexpr std::int64_t caches = 8 << 20, enough_for_a_step = 128 << 10, much_smaller = 8;
  if (parts.sequences.empty()) return false;
  const std::int64_t steps = parts.sequences[0].static_shape()[0];
  std::int64_t largest = 0;
  for (const Apply& each : toposort(std::array{value}))
    if (is_product(each) && of_elements.contains(each.output().node()) && !each.output().same_as(value))
      largest = std::max(largest, known_bytes(each.output()));
  return steps > 0 && largest >= enough_for_a_step && largest > caches / steps &&
         known_bytes(value) < largest / much_smaller;
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
    PointerSet expensive;
    Variables moved;
    VariableSet seen;
    const PointerSet guarded = guarded_values(results_of(parts));
    const auto move = [&](const Variable& v) {
      if (v.has_owner() && of_elements.contains(v.node()) && !of_states.contains(v.node()) &&
          !guarded.contains(v.node()) && seen.insert(v).second)
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
        if (is_expensive(each) || any(expensive)) expensive.insert(output.node());
      }
    // Expensive values are computed for all steps at once; cheap ones, of stored values, in the loop.
    for (const Apply& each : order)
      if (of_states.contains(each.output().node()))
        for (auto& input : each.inputs())
          if (expensive.contains(input.node())) move(input);
    for (auto& next : parts.next)
      if (expensive.contains(next.node())) move(next);
    for (auto& traced : parts.traced) move(traced);
    std::erase_if(moved, [&](auto& v) { return is_bounded_by_loop(v, parts, of_elements); });
    std::vector<std::size_t> elements_as_traces;  // a trace of a sequence's elements is the sequence
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
    const Variables stacks = stacks_of(moved, parts, of_elements, rows);
    if (moved.empty() && elements_as_traces.empty()) continue;
    Replacements pairs, leaves;
    Loop rest = loop;
    rest.parts.traced.clear(), rest.traces.clear();
    for (std::size_t k = 0; k < parts.traced.size(); ++k) {
      Variable stack;
      for (std::size_t m = 0; m < moved.size() && !stack.defined(); ++m)
        if (moved[m].same_as(parts.traced[k])) stack = stacks[m];
      for (std::size_t s = 0; s < parts.elements.size() && !stack.defined(); ++s)
        if (parts.elements[s].same_as(parts.traced[k])) stack = whole[s];
      if (!stack.defined()) {
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
    // Drops sequences that only moved computations have read.
    VariableSet read;
    for (auto& leaf : graph_inputs(results_of(rest.parts))) read.insert(leaf);
    for (std::size_t k = rest.parts.elements.size(); k-- > 0;)
      if (!read.contains(rest.parts.elements[k])) {
        rest.parts.elements.erase(rest.parts.elements.begin() + std::ptrdiff_t(k));
        rest.parts.sequences.erase(rest.parts.sequences.begin() + std::ptrdiff_t(k));
      }
    replace_loop(graph, rest, std::move(pairs), "scan_push_out");
  }
}

// ---- recomputed traces ----------------------------------------------------------------------------------------------

// Whether the value can be recomputed from `leaves`, which are available, by a few simple operations.
bool is_cheap_from(const Variable& value, const VariableSet& leaves, int& left) {
  if (leaves.contains(value) || value.is_constant()) return true;
  if (!value.has_owner() || --left < 0) return false;
  const Apply node = value.owner();
  if (is_elemwise(value, "pow")) {  // in a derivative, the exponent is still a difference of constants
    const auto exponent = uniform_number(node.input(1));
    const double number = exponent ? exponent->constant()->item() : 0;
    return (number == 1 || number == 2) && is_cheap_from(node.input(0), leaves, left);
  }
  if (!node.op().elementwise() || is_expensive(node)) return false;
  return std::ranges::all_of(node.inputs(), [&](auto& input) { return is_cheap_from(input, leaves, left); });
}

// A trace whose elements follow from sequences and other traces by a few simple operations is not stored; its clients
// recompute it.
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
      goes[k] = is_cheap_from(traced, leaves, left);
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
    Replacements kept;  // traces depend on constants, whose replacement would turn them into other variables
    for (std::size_t k = 0; k < rest.parts.traced.size(); ++k) {
      kept.emplace_back(rest.parts.traced[k], Variable(rest.parts.traced[k].type()));
      rows.emplace_back(kept.back().second, scan.output(int(parts.states.size() + k)));
    }
    const Variables stacks = calculus().vectorize(clone_replace(clone_replace(gone, kept), parts.constants), rows);
    const auto stands = [&](const Variables& olds, const Variable& value) {
      for (auto& old : olds)
        if (!graph.clients(old).empty()) pairs.emplace_back(old, fit(value, old).value_or(value));
    };
    for (std::size_t k = 0; k < parts.states.size(); ++k) stands(loop.finals[k], scan.output(int(k)));
    std::size_t next = 0, output = parts.states.size();
    for (std::size_t k = 0; k < goes.size(); ++k)
      stands(loop.traces[k], goes[k] ? stacks[next++] : scan.output(int(output++)));
    graph.replace_all(pairs, "scan_recompute_traces");
  }
}

// Systems with a loop-invariant matrix: the matrix is factored explicitly, and make_scan hoists the factors, since they
// depend on no element and no state.
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
    replace_loop(graph, loop, {}, "scan_factor_outside");
  }
}

// Writes out systems and determinants of 2 x 2 matrices that change from step to step.
void expand_small_systems(FunctionGraph& graph) {
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
    if (changed) replace_loop(graph, loop, {}, "scan_small_systems");
  }
}

// ---- states that need no loop ---------------------------------------------------------------------------------------

// The other operand, if `next` is the sum or product of the state and another value.
std::optional<Variable> combined_with(const Variable& state, const Variable& next, std::string_view name) {
  if (!next.has_owner()) return std::nullopt;
  const Apply node = next.owner();
  const ScalarOp* scalar = node.op().elementwise();
  if (!scalar || scalar->name != name || node.inputs().size() != 2) return std::nullopt;
  for (int k = 0; k < 2; ++k)
    if (node.input(k).same_as(state) && node.input(1 - k).type()->equals(*state.type())) return node.input(1 - k);
  return std::nullopt;
}

// A state that needs no loop, because a value that depends on no state, and is thus computed for all steps at once,
// determines it. If the state becomes that value, it is read from the trace one step late. If the value is added to it,
// the state is the sum of the trace, or its prefix sum if the steps read the state; likewise with products.
struct FreeState {
  enum class Kind { late, sum, prefix_sum, prefix_product } kind;
  std::size_t state;
  Variable traced;  // in a step: the next value, or what is added or multiplied
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
    const Kind kind = addend ? (is_read ? Kind::prefix_sum : Kind::sum) : factor ? Kind::prefix_product : Kind::late;
    // A prefix sum of arrays would store an array for each step.
    if ((kind == Kind::prefix_sum || kind == Kind::prefix_product) && state.ndim() > 0) continue;
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
    const auto is_used = [&](const Variable& final) { return !graph.clients(final).empty(); };
    Variable final, whole;  // the states after 0, 1, 2, ... steps
    using Kind = FreeState::Kind;
    if (kind == Kind::sum) {
      final = add(parts.initial[k], sum(trace, std::vector<int>{0}));
    } else {
      whole = join(0, {first, trace});
      if (kind == Kind::prefix_sum) whole = cumsum(whole, 0);
      if (kind == Kind::prefix_product) whole = cumprod(whole, 0);
      final = subtensor(whole, {IndexItem(-1)});
    }
    for (auto& old : loop.finals[k])
      if (is_used(old)) pairs.emplace_back(old, fit(final, old).value_or(final));
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
  replace_loop(graph, loop, std::move(pairs), "scan_free_states");
  return true;
}

void free_all_states(FunctionGraph& graph) {
  const RuleScope scope("scan_free_states");
  for (bool changed = true; changed;) {  // removing a state may enable removing others
    changed = false;
    for (const Apply& node : scans_of(graph))
      if (graph.contains(node) && !scan_op(node)->layout().has_until) changed |= free_states(graph, node);
  }
}

const RegisterPasses push_out_passes({
    {"scan_free_states",
     0.29,
     {"fast_run", "scan"},
     "Removes states whose next value, increment or factor depends on no state, and computes them for all steps at "
     "once.",
     free_all_states},
    {"scan_factor_outside",
     0.282,
     {"fast_run", "scan", "scan_split_non_sequence_decomposition_and_solve"},
     "Hoists the LU factorization of a loop-invariant matrix out of the loop that solves systems with it.",
     factor_outside},
    {"scan_small_systems",
     0.285,
     {"fast_run", "scan"},
     "Rewrites 2x2 systems and determinants in steps as elementwise elimination.",
     expand_small_systems},
    {"scan_push_out",
     0.3,
     {"fast_run", "scan"},
     "Hoists computations on sequences alone out of the loop; a scan without states becomes a batched computation.",
     push_out},
    {"scan_recompute_traces",
     0.31,
     {"fast_run", "scan"},
     "Recomputes traces that a few cheap operations derive from sequences and other traces, instead of storing them.",
     recompute_traces},
});

}  // namespace

}  // namespace bitale::rewriting
