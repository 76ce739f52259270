// Reverse accumulation. Nodes are visited after all their clients; each passes the accumulated cotangents of its
// outputs through its op's pullback. Only nodes between the seeds and wrt are visited.
#include <algorithm>
#include <optional>

#include "autodiff/choices.hpp"
#include "autodiff/sweep.hpp"
#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "graph/evaluate.hpp"
#include "graph/held_elsewhere.hpp"
#include "graph/support.hpp"

namespace bitale {

DType gradient_dtype(const Variable& v) { return is_discrete(v.dtype()) ? config::float_x() : v.dtype(); }

Variable zero_gradient(const Variable& v) { return zeros_like(v, gradient_dtype(v)); }

Variable as_gradient_of(const Variable& v, const Variable& value, std::string_view what) {
  const auto message = [&] {
    return cat(what, " `", value.str(), "` of type ", value.type()->str(), " does not fit `", v.str(), "` of type ",
               v.type()->str());
  };
  auto *type = as_tensor(v.type()), *given = as_tensor(value.type());
  if (!type || !given || type->ndim() != given->ndim()) throw TypeError(message());
  if (type->shape == given->shape) return cast(value, gradient_dtype(v));
  std::vector<std::optional<Operand>> lengths(type->shape.size());
  for (std::size_t axis = 0; axis < lengths.size(); ++axis) {
    const std::int64_t own = type->shape[axis], its = given->shape[axis];
    if (own == its) continue;
    if (own != unknown_length && its != unknown_length) throw ShapeError(message());
    // A length that is statically 1 is repeated, which the other one is not.
    if (own != unknown_length)
      lengths[axis] = Operand(own);
    else if (its == 1)
      lengths[axis] = Operand(shape_i(v, int(axis)));
  }
  return cast(specify_shape(value, lengths), gradient_dtype(v));
}

namespace {

PointerSet set_of(const Variables& variables) {
  PointerSet out;
  for (const Variable& v : variables) out.insert(v.node());
  return out;
}

Variables gradients_of(ReverseSweep& sweep, const Variables& wrt) {
  Variables out;
  for (const Variable& v : wrt) out.push_back(sweep.gradient(v));
  return out;
}

Variables starts_of(std::span<const Seed> seeds) {
  Variables out;
  for (const Seed& seed : seeds) out.push_back(seed.variable);
  return out;
}

}  // namespace

ReverseSweep::ReverseSweep(std::span<const Seed> seeds, const Variables& wrt, const Variables& blockers)
    : blocked_(set_of(blockers)),
      order_(starts_of(seeds), blocked_, {}),
      held_elsewhere_(held_elsewhere(order_.nodes(), 2)) {  // a step has a handle, and so has the list
  for (const Seed& seed : seeds) plant(seed);
  mark_reached(wrt);
}

ReverseSweep::ReverseSweep(const ReverseSweep& plain, std::span<const Seed> seeds, const Variables& wrt,
                           std::span<const StableForm> forms)
    : blocked_(plain.blocked_), order_(starts_of(seeds), blocked_, forms), held_elsewhere_(plain.held_elsewhere_) {
  for (const Seed& seed : seeds) plant(seed);
  mark_reached(wrt);
}

std::uint32_t ReverseSweep::known_slot(const VariableNode* v) const {
  auto* at = positions_.find(v);
  return at ? *at : nowhere;
}

std::uint32_t ReverseSweep::slot(const VariableNode* v) {
  auto [at, is_new] = positions_.insert(v, std::uint32_t(slots_.size()));
  if (is_new) slots_.emplace_back();
  return *at;
}

void ReverseSweep::plant(const Seed& seed) {
  if (seed.gradient.is_disconnected()) return;
  Slot& at = slots_[slot(seed.variable.node())];
  if (at.fixed) return;
  at.connected = true;
  if (seed.fixed) {
    at.fixed = true;
    at.terms.clear();
  }
  if (seed.gradient.is_null())
    at.null = seed.gradient;
  else if (!is_discrete(seed.variable.dtype()))
    at.terms.push_back(as_gradient_of(seed.variable, seed.gradient, "gradient"));
}

void ReverseSweep::mark_reached(const Variables& wrt) {
  for (const Variable& v : wrt) slots_[slot(v.node())].reached = true;
  Duplicates duplicates(held_elsewhere_);
  for (const DifferentiationOrder::Step& step : order_.steps())
    is_stepped_.push_back(step.form ? mark_form(*step.form) : mark_node(step.node, duplicates));
}

// The earlier node that computes the same, if any. Variables that were named in the call are variables of their own.
const ApplyNode* ReverseSweep::earlier(const Apply& node, Duplicates& duplicates) const {
  for (std::size_t o = 0; o < node.output_count(); ++o) {
    const VariableNode* output = &node.node()->outputs[o];
    if (known_slot(output) != nowhere || blocked_.contains(output) || order_.has_form(output)) return nullptr;
  }
  return duplicates.earlier(*node.node());
}

char ReverseSweep::mark_node(const Apply& node, Duplicates& duplicates) {
  if (const ApplyNode* equal = earlier(node, duplicates)) {
    // What its outputs receive is added to that of the earlier ones.
    char part = not_stepped;
    for (std::size_t o = 0; o < node.output_count(); ++o) {
      const std::uint32_t at = known_slot(&equal->outputs[o]);
      if (at == nowhere) continue;
      positions_.insert(&node.node()->outputs[o], at);
      part = taken_over;
    }
    return part;
  }
  const std::size_t first = step_slots_.size();
  bool any = false;
  for (const Variable& input : node.inputs()) {
    step_slots_.push_back(known_slot(input.node()));
    any |= is_reached(step_slots_.back());
  }
  if (!any) {
    step_slots_.resize(first);
    return not_stepped;
  }
  const auto pattern = node.op().connection_pattern(node);
  for (std::size_t i = 0; i < node.inputs().size(); ++i)
    for (std::size_t o = 0; o < node.output_count(); ++o) patterns_.push_back(pattern[i][o]);
  for (std::size_t o = 0; o < node.output_count(); ++o) {
    bool reached = false;
    for (std::size_t i = 0; i < node.inputs().size(); ++i)
      reached |= pattern[i][o] && is_reached(step_slots_[first + i]);
    const VariableNode* output = &node.node()->outputs[o];
    if (order_.has_form(output)) {  // its cotangent is passed to the form
      step_slots_.push_back(nowhere);
      continue;
    }
    step_slots_.push_back(reached ? slot(output) : known_slot(output));
    if (reached) slots_[step_slots_.back()].reached = true;
  }
  return stepped;
}

char ReverseSweep::mark_form(const StableForm& form) {
  const std::uint32_t form_slot = known_slot(form.form.node());
  if (!is_reached(form_slot)) return not_stepped;
  step_slots_.push_back(form_slot);
  step_slots_.push_back(slot(form.variable.node()));
  slots_[step_slots_.back()].reached = true;
  return stepped;
}

void ReverseSweep::run() {
  std::span<const std::uint32_t> slots = step_slots_;
  std::span<const char> patterns = patterns_;
  const auto take_last = [](auto& list, std::size_t count) {
    const auto last = list.last(count);
    list = list.first(list.size() - count);
    return last;
  };
  for (std::size_t i = is_stepped_.size(); i-- > 0;) {
    if (is_stepped_[i] != stepped) continue;
    const auto& [node, form] = order_.steps()[i];
    if (form) {
      const auto ends = take_last(slots, 2);
      pass_to_form(*form, slots_[ends[1]], slots_[ends[0]]);
      continue;
    }
    const std::size_t ins = node.inputs().size(), outs = node.output_count();
    const auto outputs = take_last(slots, outs), inputs = take_last(slots, ins);
    step({node, inputs, outputs, take_last(patterns, ins * outs)});
  }
}

// The form has the variable's type.
void ReverseSweep::pass_to_form(const StableForm& at, Slot& from, Slot& to) {
  if (!from.connected || to.fixed) return;
  to.connected = true;
  if (from.null.defined())
    to.null = from.null;
  else if (!from.terms.empty())
    to.terms.push_back(total(from, at.variable));
}

namespace {

Variables pullback_of(const Apply& node, const Variables& cotangents) {
  Variables terms = with_node_context(node, [&] { return node.op().pullback(node, cotangents); });
  if (terms.size() != node.inputs().size())
    throw InternalError(cat(node.op().label(), ": pullback returned ", terms.size(), " cotangents for ",
                            node.inputs().size(), " inputs"));
  return terms;
}

// The pullback. If all cotangents are on one side of the same choices, so are the results.
Variables call_pullback(const Apply& node, const Variables& cotangents) {
  std::vector<Choice> common;
  Variables chosen = cotangents;
  bool any = false;
  for (Variable& cotangent : chosen) {
    if (cotangent.is_disconnected()) continue;
    auto [choices, value] = chosen_cotangent(cotangent);
    if (any && !are_same(choices, common)) return pullback_of(node, cotangents);
    any = true;
    common = std::move(choices);
    cotangent = value;
  }
  if (common.empty()) return pullback_of(node, cotangents);
  return within_choices(common, pullback_of(node, chosen), node.inputs());
}

Variable explained(const Apply& node, std::size_t input, const Variable& null) {
  std::string label = node.op().label(), why = null.why_null();
  if (why.find(label) == std::string::npos)
    why = cat(label, " with respect to its input ", input, " (`", node.inputs()[input].str(), "`): ", why);
  if (Location where = node.provenance().where) why += cat(", built at ", where.str());
  return undefined_gradient(why);
}

}  // namespace

void ReverseSweep::step(const Step& at) {
  const Apply& node = at.node;
  Variables cotangents;
  bool any = false, any_value = false;
  const auto received = [&](std::size_t o) -> Slot* {
    if (at.outputs[o] == nowhere || blocked_.contains(&node.node()->outputs[o])) return nullptr;
    Slot& slot = slots_[at.outputs[o]];
    return slot.connected ? &slot : nullptr;
  };
  for (std::size_t o = 0; o < at.outputs.size(); ++o) {
    Slot* slot = received(o);
    any |= slot != nullptr;
    // The derivative through an integer is zero and not computed.
    const bool has_value = slot && !slot->null.defined() && !slot->terms.empty();
    any_value |= has_value;
    cotangents.push_back(has_value ? total(*slot, node.output(int(o))) : disconnected());
  }
  if (!any) return;
  // An undefined cotangent concerns the inputs that are connected to its output.
  struct Connection {
    bool any = false;
    Variable null;
  };
  const auto connection_of = [&](std::size_t input) {
    Connection out;
    for (std::size_t o = 0; o < at.outputs.size(); ++o) {
      Slot* const slot = at.pattern[input * at.outputs.size() + o] ? received(o) : nullptr;
      out.any |= slot != nullptr;
      if (slot && slot->null.defined()) out.null = slot->null;
    }
    return out;
  };
  std::optional<Variables> terms;
  for (std::size_t i = 0; i < at.inputs.size(); ++i) {
    if (!is_reached(at.inputs[i])) continue;
    const Connection connection = connection_of(i);
    Slot& slot = slots_[at.inputs[i]];
    if (!connection.any || slot.fixed) continue;
    slot.connected = true;
    if (connection.null.defined()) {
      slot.null = connection.null;
      continue;
    }
    if (!any_value) continue;
    if (!terms) terms = call_pullback(node, cotangents);
    add_term(node, i, slot, (*terms)[i]);
  }
}

void ReverseSweep::add_term(const Apply& node, std::size_t i, Slot& at, const Variable& term) {
  const Variable& input = node.inputs()[i];
  if (!term.defined()) throw InternalError(cat(node.op().label(), ": pullback returned no variable for input ", i));
  if (term.is_disconnected()) return;
  if (term.is_null()) {
    at.null = explained(node, i, term);
    return;
  }
  auto *type = as_tensor(input.type()), *given = as_tensor(term.type());
  if (!type || !given || type->ndim() != given->ndim())
    throw InternalError(cat(node.op().label(), ": pullback for input ", i, " of type ", input.type()->str(), " gave ",
                            term.type()->str()));
  if (!is_discrete(type->dtype)) at.terms.push_back(as_gradient_of(input, term, "the term"));
}

Variable ReverseSweep::total(Slot& at, const Variable& v) {
  if (at.null.defined() || at.total.defined()) return at.null.defined() ? at.null : at.total;
  at.total = at.terms.empty() ? zero_gradient(v) : sum_of_terms(at.terms);
  return at.total;
}

Variable ReverseSweep::gradient(const Variable& v) {
  const std::uint32_t form_slot = known_slot(v.node());
  if (form_slot == nowhere || !slots_[form_slot].connected) return disconnected();
  return total(slots_[form_slot], v);
}

Variables reverse_sweep(std::span<const Seed> seeds, const Variables& wrt, const Variables& blockers) {
  const SupportScope scope;
  ReverseSweep plain(seeds, wrt, blockers);
  Variables borders = wrt;
  for (const Seed& seed : seeds)
    if (seed.fixed) borders.push_back(seed.variable);
  const std::vector<Apply> nodes = plain.order().nodes();
  const std::vector<StableForm> forms = find_stable_forms({nodes, plain.is_stepped(), starts_of(seeds), borders});
  if (forms.empty()) {
    plain.run();
    return gradients_of(plain, wrt);
  }
  ReverseSweep stable(plain, seeds, wrt, forms);
  stable.run();
  Variables out = gradients_of(stable, wrt);
  // A form may lack terms that the original formula multiplies by zero; their gradient is then zero, not disconnected.
  const auto is_disconnected = [](const Variable& v) { return v.is_disconnected(); };
  if (std::ranges::none_of(out, is_disconnected)) return out;
  plain.run();
  const Variables as_written = gradients_of(plain, wrt);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (out[i].is_disconnected() && !as_written[i].is_disconnected())
      out[i] = as_written[i].is_null() ? as_written[i] : zero_gradient(wrt[i]);
  return out;
}

}  // namespace bitale
