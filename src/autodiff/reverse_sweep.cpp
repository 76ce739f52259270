// Reverse accumulation. Nodes are visited after everything that uses them; each passes the sum of what its outputs
// received through its op's pullback. Only nodes between the seeds and wrt are asked.
#include <algorithm>

#include "autodiff/sweep.hpp"
#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "graph/evaluate.hpp"

namespace bitale {

DType gradient_dtype(const Variable& v) { return is_discrete(v.dtype()) ? config::float_x() : v.dtype(); }

Variable zero_gradient(const Variable& v) { return zeros_like(v, gradient_dtype(v)); }

Variable as_gradient_of(const Variable& v, const Variable& value, std::string_view what) {
  auto *type = as_tensor(v.type()), *given = as_tensor(value.type());
  if (!type || !given || type->ndim() != given->ndim())
    throw TypeError(cat(what, " `", value.str(), "` of type ", value.type()->str(), " does not fit `", v.str(),
                        "` of type ", v.type()->str()));
  return cast(value, gradient_dtype(v));
}

ReverseSweep::ReverseSweep(std::span<const Seed> seeds, const Variables& wrt, const Variables& blockers) {
  for (const Variable& blocker : blockers) blocked_.insert(blocker.node());
  Variables starts;
  for (const Seed& seed : seeds) {
    plant(seed);
    starts.push_back(seed.variable);
  }
  std::vector<Apply> order = toposort(starts, VariableSet(blockers.begin(), blockers.end()));
  mark_reached(order, wrt);
  for (std::size_t i = order.size(); i-- > 0;) step(order[i]);
}

ReverseSweep::Slot* ReverseSweep::find(const VariableNode* v) {
  auto* at = positions_.find(v);
  return at ? &slots_[*at] : nullptr;
}

ReverseSweep::Slot& ReverseSweep::slot(const VariableNode* v) {
  auto [at, is_new] = positions_.insert(v, slots_.size());
  if (is_new) slots_.emplace_back();
  return slots_[*at];
}

void ReverseSweep::plant(const Seed& seed) {
  if (seed.gradient.is_disconnected()) return;
  Slot& at = slot(seed.variable.node());
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

void ReverseSweep::mark_reached(const std::vector<Apply>& order, const Variables& wrt) {
  for (const Variable& v : wrt) reached_.insert(v.node());
  for (const Apply& node : order) {
    auto reached = [&](const Variable& input) { return reached_.contains(input.node()); };
    if (std::ranges::none_of(node.inputs(), reached)) continue;
    auto pattern = node.op().connection_pattern(node);
    for (std::size_t i = 0; i < node.inputs().size(); ++i)
      for (std::size_t o = 0; o < node.output_count(); ++o)
        if (pattern[i][o] && reached(node.inputs()[i])) reached_.insert(&node.node()->outputs[o]);
  }
}

namespace {

Variables ask_pullback(const Apply& node, const Variables& cotangents) {
  Variables terms;
  try {
    terms = node.op().pullback(node, cotangents);
  } catch (Error& error) {
    add_node_context(error, node, {});
    throw;
  }
  if (terms.size() != node.inputs().size())
    throw InternalError(
        cat(node.op().label(), ": pullback answered for ", terms.size(), " inputs of ", node.inputs().size()));
  return terms;
}

Variable explained(const Apply& node, std::size_t input, const Variable& null) {
  std::string label = node.op().label(), why = null.why_null();
  if (why.find(label) == std::string::npos)
    why = cat(label, " with respect to its input ", input, " (`", node.inputs()[input].str(), "`): ", why);
  if (Location where = node.provenance().where) why += cat(", built at ", where.str());
  return undefined_gradient(why);
}

}  // namespace

void ReverseSweep::step(const Apply& node) {
  auto reached = [&](const Variable& input) { return reached_.contains(input.node()); };
  if (std::ranges::none_of(node.inputs(), reached)) return;
  Variables cotangents;
  std::vector<bool> connected(node.output_count(), false);
  bool any = false, any_value = false;
  Variable null;
  for (std::size_t o = 0; o < node.output_count(); ++o) {
    Variable output = node.output(int(o));
    Slot* at = blocked_.contains(output.node()) ? nullptr : find(output.node());
    connected[o] = at && at->connected;
    any |= connected[o];
    if (connected[o] && at->null) null = at->null;
    // The derivative through an integer is zero: it is not asked for.
    bool has_value = connected[o] && !at->null && !at->terms.empty();
    any_value |= has_value;
    cotangents.push_back(has_value ? gradient(output) : disconnected());
  }
  if (!any) return;
  auto pattern = node.op().connection_pattern(node);
  auto is_connected = [&](std::size_t input) {
    for (std::size_t o = 0; o < connected.size(); ++o)
      if (connected[o] && pattern[input][o]) return true;
    return false;
  };
  Variables terms;
  if (!null && any_value) terms = ask_pullback(node, cotangents);
  for (std::size_t i = 0; i < node.inputs().size(); ++i) {
    if (!reached(node.inputs()[i]) || !is_connected(i)) continue;
    Slot& at = slot(node.inputs()[i].node());
    if (at.fixed) continue;
    at.connected = true;
    if (null)
      at.null = null;
    else if (!terms.empty())
      add_term(node, i, terms[i]);
  }
}

void ReverseSweep::add_term(const Apply& node, std::size_t i, const Variable& term) {
  const Variable& input = node.inputs()[i];
  Slot& at = slot(input.node());
  if (!term) throw InternalError(cat(node.op().label(), ": pullback gave no variable for input ", i));
  if (term.is_disconnected()) return;
  if (term.is_null()) {
    at.null = explained(node, i, term);
    return;
  }
  auto *type = as_tensor(input.type()), *given = as_tensor(term.type());
  if (!type || !given || type->ndim() != given->ndim())
    throw InternalError(cat(node.op().label(), ": pullback for input ", i, " of type ", input.type()->str(), " gave ",
                            term.type()->str()));
  if (!is_discrete(type->dtype)) at.terms.push_back(cast(term, type->dtype));
}

Variable ReverseSweep::gradient(const Variable& v) {
  Slot* at = find(v.node());
  if (!at || !at->connected) return disconnected();
  if (at->null) return at->null;
  if (at->total) return at->total;
  Variable total;
  for (const Variable& term : at->terms) total = total ? add(total, term) : term;
  at->total = total ? total : zero_gradient(v);
  return at->total;
}

}  // namespace bitale
