// Forward mode for the gradient of a scalar recurrence with respect to a few scalars. Reverse mode runs back over the
// steps with an adjoint y, which is linear in each step (y' = a y + c), and accumulates sums of it (s' = s + p y + q).
// Such a sum is linear in each c, too: with the tangent x' = a x + p, computed in the order of the loop itself, it is
// the sum of x c + q. Both loops thus become one, which stores no trace.
#include <algorithm>
#include <unordered_map>

#include "bitale/ops/ops.hpp"
#include "bitale/rewriting/passes.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "rules/scan_loop.hpp"

namespace bitale::rewriting {

namespace {

constexpr std::size_t max_sums = 4;    // each needs its own tangent, while they share one adjoint
constexpr std::size_t max_states = 4;  // of the differentiated loop
constexpr int max_operations = 8;      // to compute an element from values of the loop

// ---- linear expressions ---------------------------------------------------------------------------------------------

// slope * variable + rest; a part that is null is 0.
struct Linear {
  Variable slope, rest;
};

Variable sum_of(const Variable& a, const Variable& b) { return !a.defined() ? b : !b.defined() ? a : add(a, b); }
Variable product_of(const Variable& a, const Variable& b) {
  return a.defined() && b.defined() ? mul(a, b) : Variable();
}
Variable negative(const Variable& a) { return a.defined() ? neg(a) : a; }

// Expressions of a step as linear functions of one of its variables.
class LinearForms {
 public:
  explicit LinearForms(const Variable& variable) : variable_(variable) {}

  // None if the expression is not linear in the variable.
  std::optional<Linear> of(const Variable& result) {
    for (const Apply& node : toposort(Variables{result}))
      for (auto& output : node.outputs())
        if (const auto form = of_node(node, output)) forms_.insert_or_assign(output.node(), *form);
    auto form = form_of(result);
    if (form)  // a part may consist only of numbers of lower precision
      for (Variable* part : {&form->slope, &form->rest})
        if (part->defined()) *part = cast(*part, variable_.dtype());
    return form;
  }

 private:
  std::optional<Linear> form_of(const Variable& v) const {
    if (v.same_as(variable_)) return Linear{ones_like(v), {}};
    if (!v.has_owner()) return Linear{{}, v};
    const auto found = forms_.find(v.node());
    return found == forms_.end() ? std::nullopt : std::optional(found->second);
  }

  std::optional<Linear> of_node(const Apply& node, const Variable& output) const {
    std::vector<Linear> of;
    for (auto& input : node.inputs()) {
      const auto form = form_of(input);
      if (!form) return std::nullopt;
      of.push_back(*form);
    }
    const auto is_free = [](const Linear& each) { return !each.slope.defined(); };
    if (std::ranges::all_of(of, is_free)) return Linear{{}, output};
    const ScalarOp* scalar = scalar_op_of(output);
    if (!scalar || !output.type()->equals(*variable_.type())) return std::nullopt;
    if (scalar->name == "add") {
      Linear out;
      for (auto& each : of) out = {sum_of(out.slope, each.slope), sum_of(out.rest, each.rest)};
      return out;
    }
    if (scalar->name == "sub")
      return Linear{sum_of(of[0].slope, negative(of[1].slope)), sum_of(of[0].rest, negative(of[1].rest))};
    if (scalar->name == "neg") return Linear{negative(of[0].slope), negative(of[0].rest)};
    if (scalar->name == "mul") {
      if (std::ranges::count_if(of, is_free) + 1 != std::ptrdiff_t(of.size())) return std::nullopt;
      Linear out = *std::ranges::find_if_not(of, is_free);
      for (auto& each : of)
        if (is_free(each)) out = {product_of(out.slope, each.rest), product_of(out.rest, each.rest)};
      return out;
    }
    if (scalar->name == "switch" && is_free(of[0])) {
      const auto chosen = [&](const Variable& a, const Variable& b) {
        if (!a.defined() && !b.defined()) return Variable();
        const Variable zero = zeros_like(variable_);
        return switch_(node.input(0), a.defined() ? a : zero, b.defined() ? b : zero);
      };
      return Linear{chosen(of[1].slope, of[2].slope), chosen(of[1].rest, of[2].rest)};
    }
    if (scalar->name == "true_div" && is_free(of[1]))
      return Linear{true_div(of[0].slope, of[1].rest),
                    of[0].rest.defined() ? true_div(of[0].rest, of[1].rest) : Variable()};
    return std::nullopt;
  }
  const Variable& variable_;
  std::unordered_map<const void*, Linear> forms_;
};

// ---- the adjoint's loop ---------------------------------------------------------------------------------------------

// A sum s' = s + p y + q over the adjoint y, or y itself after all steps.
struct AdjointSum {
  Variable p, q;             // of a step; null: 0
  Variable initial_tangent;  // null: 0
  Variable initial;          // initial value of the sum; null: 0
  Variables finals;          // the outputs that it replaces
};

struct Adjoint {
  Variable a, c;     // of a step; a null: 0
  Variable initial;  // null: 0
  std::vector<AdjointSum> sums;
};

bool is_real_number(const Variable& v) { return as_tensor(v.type()) && v.ndim() == 0 && is_float(v.dtype()); }

bool is_number(const Variable& v, double value) {
  const auto number = uniform_number(v);
  return number && number->constant()->item() == value;
}
Variable unless_zero(const Variable& v) { return is_number(v, 0) ? Variable() : v; }

std::optional<Adjoint> adjoint_of(const FunctionGraph& graph, const Loop& loop) {
  const ScanParts& parts = loop.parts;
  const std::size_t count = parts.states.size();
  const auto is_read = [&](const Variables& outputs) {
    return std::ranges::any_of(outputs, [&](auto& each) { return !graph.clients(each).empty(); });
  };
  if (parts.until.defined() || std::ranges::any_of(loop.traces, is_read) || count < 1 || count > max_sums + 1)
    return std::nullopt;
  for (auto& state : parts.states)
    if (!is_real_number(state) || !state.type()->equals(*parts.states[0].type())) return std::nullopt;
  // A sum reads its own state only to add to it, and no other state reads it; the adjoint is the only state that is not
  // a sum.
  std::vector<std::optional<Variable>> added(count);
  std::optional<std::size_t> adjoint;
  for (std::size_t k = 0; k < count; ++k) {
    const PointerSet readers = dependents(parts, {parts.states[k]});
    bool is_sum = true;
    for (std::size_t other = 0; other < count; ++other)
      is_sum = is_sum && (other == k || !readers.contains(parts.next[other].node()));
    const auto form = is_sum ? LinearForms(parts.states[k]).of(parts.next[k]) : std::nullopt;
    if (form && form->slope.defined() && form->rest.defined() && is_number(form->slope, 1)) {
      added[k] = form->rest;
    } else {
      if (adjoint) return std::nullopt;
      adjoint = k;
    }
  }
  if (!adjoint) return std::nullopt;
  LinearForms forms(parts.states[*adjoint]);
  const auto step = forms.of(parts.next[*adjoint]);
  if (!step || !step->rest.defined()) return std::nullopt;
  Adjoint out{step->slope, step->rest, unless_zero(parts.initial[*adjoint]), {}};
  for (std::size_t k = 0; k < count; ++k) {
    if (k == *adjoint) continue;
    const auto form = forms.of(*added[k]);
    if (!form) return std::nullopt;
    out.sums.push_back({form->slope, form->rest, {}, unless_zero(parts.initial[k]), loop.finals[k]});
  }
  const Variables& finals = loop.finals[*adjoint];
  if (is_read(finals)) out.sums.push_back({{}, {}, ones_like(parts.states[*adjoint]), {}, finals});
  if (out.sums.empty() || out.sums.size() > max_sums) return std::nullopt;
  return out;
}

// ---- its sequences in the order of the other loop -------------------------------------------------------------------

// Sequences in reverse order; a reversed one is the original again. Simple expressions of sequences are those of the
// reversed ones, so that these are found, and long ones are reversed as a whole.
class Backwards {
 public:
  Variable of(const Variable& sequence) {
    if (uniform_number(sequence)) return sequence;
    if (const auto known = known_.find(sequence.node()); known != known_.end()) return known->second;
    const Variable out = computed(sequence);
    known_.emplace(sequence.node(), out);
    return out;
  }

 private:
  static Variable reversed(const Variable& v) { return subtensor(v, {Slice{{}, {}, Operand(-1)}}); }

  Variable computed(const Variable& sequence) {
    if (!sequence.has_owner()) return reversed(sequence);
    const Apply node = sequence.owner();
    if (node.op().name() == "Subtensor") {
      const Apply twice = reversed(node.input(0)).owner();
      if (twice.op().equals(node.op()) && std::ranges::equal(twice.inputs(), node.inputs(), same_value))
        return node.input(0);
    }
    if (!node.op().elementwise() || node.outputs().size() != 1 || ++operations_ > max_operations)
      return reversed(sequence);
    Variables operands;
    for (auto& input : node.inputs()) operands.push_back(is_one(input, 0) ? input : of(input));
    return node.op()(operands);
  }

  std::unordered_map<const void*, Variable> known_;
  int operations_ = 0;
};

// Whether values depend on the node `on`: for values computed before the node `before`, and for values built from those
// since.
class Dependence {
 public:
  Dependence(const Apply& on, const Apply& before) {
    for (const Apply& each : toposort(before.inputs()))
      for (auto& output : each.outputs()) depends_.emplace(output.node(), each.same_as(on) || any_of(each.inputs()));
  }
  bool of(const Variable& v) {
    if (!v.has_owner()) return false;
    const auto [at, is_new] = depends_.try_emplace(v.node(), false);
    if (is_new) {
      const bool depends = std::ranges::any_of(v.owner().inputs(), [&](auto& input) { return of(input); });
      depends_.insert_or_assign(v.node(), depends);
      return depends;
    }
    return at->second;
  }

 private:
  bool any_of(std::span<const Variable> values) {
    return std::ranges::any_of(values, [&](auto& v) { return of(v); });
  }
  std::unordered_map<const void*, bool> depends_;
};

// Expressions in a loop's step for the elements of sequences. A sequence that depends on the loop must be computed from
// its traces by simple operations; any other becomes a new sequence of the loop.
class Elements {
 public:
  Elements(Loop& loop, Dependence& dependence) : loop_(loop), dependence_(dependence) {}

  std::optional<Variable> of(const Variable& sequence) {
    if (const auto number = uniform_number(sequence)) return number;
    ScanParts& parts = loop_.parts;
    for (std::size_t k = 0; k < loop_.traces.size(); ++k)
      for (auto& trace : loop_.traces[k])
        if (trace.same_as(sequence)) return parts.traced[k];
    for (std::size_t k = 0; k < parts.sequences.size(); ++k)
      if (parts.sequences[k].same_as(sequence)) return parts.elements[k];
    if (!dependence_.of(sequence)) {  // the loop checks its length
      parts.sequences.push_back(sequence);
      parts.elements.emplace_back(tensor_type(sequence.dtype(), {}));
      return parts.elements.back();
    }
    if (!sequence.has_owner()) return std::nullopt;
    const Apply node = sequence.owner();
    if (!node.op().elementwise() || ++operations_ > max_operations) return std::nullopt;
    Variables operands;
    for (auto& input : node.inputs()) {
      const auto element = is_one(input, 0) ? constant_of(input) : of(input);
      if (!element) return std::nullopt;
      operands.push_back(*element);
    }
    if (is_expensive(node)) return in_step(node.op(), operands);
    return node.op()(operands);
  }

 private:
  // The value of a sequence that is the same in all steps.
  std::optional<Variable> constant_of(const Variable& repeated) {
    if (const auto number = uniform_number(repeated)) return number;
    if (dependence_.of(repeated)) return std::nullopt;
    return subtensor(repeated, {IndexItem(0)});
  }
  // The value, if the loop already computes it.
  std::optional<Variable> in_step(const Op& op, const Variables& operands) const {
    for (const Apply& each : toposort(results_of(loop_.parts)))
      if (each.op().equals(op) && std::ranges::equal(each.inputs(), operands, same_value)) return each.output();
    return std::nullopt;
  }

  Loop& loop_;
  Dependence& dependence_;
  int operations_ = 0;
};

bool is_simple(const Loop& loop) {
  const ScanParts& parts = loop.parts;
  return !parts.until.defined() && !parts.states.empty() && parts.states.size() <= max_states &&
         std::ranges::all_of(parts.states, is_real_number) &&
         std::ranges::all_of(parts.elements, [](auto& each) { return as_tensor(each.type()) && each.ndim() == 0; });
}

// Whether an expression of a step may be 0 in many steps: because of a mask, a choice or a weight, not because a
// difference happens to be 0. True for long expressions.
bool may_vanish(const Variable& v, const Loop& loop, int& left) {
  if (--left < 0) return true;
  if (const auto number = uniform_number(v)) return is_number(*number, 0);
  if (!v.has_owner()) return std::ranges::any_of(loop.parts.elements, [&](auto& each) { return each.same_as(v); });
  const ScalarOp* scalar = scalar_op_of(v);
  if (!is_float(v.dtype())) return true;
  if (!scalar) return false;
  const std::string_view name = scalar->name;
  const auto inputs = v.owner().inputs();
  const auto vanishes = [&](const Variable& input) { return may_vanish(input, loop, left); };
  if (name == "mul" || name == "neg") return std::ranges::any_of(inputs, vanishes);
  if (name == "true_div") return vanishes(inputs[0]);
  if (name == "add" || name == "sub") return std::ranges::all_of(inputs, vanishes);
  if (name.starts_with("cast")) return vanishes(inputs[0]);
  return name == "switch";
}

// ---- merging both loops ---------------------------------------------------------------------------------------------

// Computes the sums of the adjoint's loop in the differentiated loop, which gets a tangent and a sum as new states for
// each of them.
bool merge_adjoint(FunctionGraph& graph, const Apply& scan, const Apply& adjoint_scan, const Loop& of_adjoint,
                   const Adjoint& adjoint) {
  Loop loop = loop_of(scan);
  if (!is_simple(loop) || !reads(adjoint_scan, scan)) return false;
  Dependence dependence(scan, adjoint_scan);
  Elements elements(loop, dependence);
  Backwards backwards;
  Replacements step;
  for (std::size_t k = 0; k < of_adjoint.parts.sequences.size(); ++k) {
    const Variable& sequence = of_adjoint.parts.sequences[k];
    if (sequence.ndim() != 1) return false;
    const auto element = elements.of(backwards.of(sequence));
    if (!element || !element->type()->equals(*of_adjoint.parts.elements[k].type())) return false;
    step.emplace_back(of_adjoint.parts.elements[k], *element);
  }
  for (auto& [leaf, value] : of_adjoint.parts.constants) {
    if (dependence.of(value)) return false;
    step.emplace_back(leaf, value);
  }
  const auto here = [&](const Variable& v) { return v.defined() ? clone_replace(Variables{v}, step)[0] : v; };

  ScanParts& parts = loop.parts;
  const Variable a = here(adjoint.a), c = here(adjoint.c);
  const Variable zero = zeros_like(of_adjoint.parts.states[0]);
  const auto new_state = [&](const Variable& initial) {
    parts.initial.push_back(initial);
    parts.states.emplace_back(zero.type());
    return parts.states.back();
  };
  // If c is 0 in many steps, a tangent may have overflowed there, and reverse mode has no such product.
  int operations_looked_at = 64;
  if (may_vanish(c, loop, operations_looked_at)) return false;
  std::vector<std::size_t> positions;
  for (auto& sum : adjoint.sums) {
    const Variable tangent = new_state(sum.initial_tangent.defined() ? sum.initial_tangent : zero);
    const Variable total = new_state(zero);
    const Variable next = sum_of(product_of(a, tangent), here(sum.p));
    positions.push_back(parts.next.size());
    parts.next.push_back(next.defined() ? next : zero);
    parts.next.push_back(add(total, sum_of(mul(c, tangent), here(sum.q))));
    loop.finals.emplace_back(), loop.finals.emplace_back();
  }
  for (auto& next : parts.next)
    if (!next.type()->equals(*parts.states[std::size_t(&next - parts.next.data())].type())) return false;
  const Variables outputs = make_scan(parts).outputs();
  Replacements pairs;
  for (std::size_t k = 0; k < positions.size(); ++k) {
    const AdjointSum& sum = adjoint.sums[k];
    Variable result = sum_of(outputs[positions[k] + 1], sum.initial);
    if (adjoint.initial.defined()) result = add(result, mul(outputs[positions[k]], adjoint.initial));
    for (auto& old : sum.finals)
      if (!graph.clients(old).empty()) pairs.emplace_back(old, fit(result, old).value_or(result));
  }
  append_results(graph, loop, outputs, pairs);
  graph.replace_all(pairs, "scan_forward_mode");
  return true;
}

void forward_mode(FunctionGraph& graph) {
  const RuleScope scope("scan_forward_mode");
  std::vector<Apply> scans = scans_of(graph);
  for (std::size_t j = scans.size(); j-- > 1;) {
    const Loop loop = loop_of(scans[j]);
    const auto adjoint = adjoint_of(graph, loop);
    for (std::size_t i = j; adjoint && i-- > 0;)
      if (graph.contains(scans[i]) && same_value(scans[i].input(0), scans[j].input(0)) &&
          merge_adjoint(graph, scans[i], scans[j], loop, *adjoint))
        break;
  }
}

const RegisterPasses forward_mode_passes({
    {"scan_forward_mode",
     1.603,
     {"fast_run", "scan"},
     "Computes the gradient of a scalar recurrence with respect to a few scalars in forward mode, in the recurrence's "
     "loop.",
     forward_mode},
});

}  // namespace

}  // namespace bitale::rewriting
