#include "ops/support_masks.hpp"

#include <algorithm>

#include "bitale/ops/ops.hpp"
#include "ops/elemwise.hpp"
#include "ops/inc_subtensor.hpp"
#include "ops/known_number.hpp"

namespace bitale {

namespace {

bool is_application_of(const Variable& v, std::string_view scalar) {
  const ScalarOp* op = scalar_op_of(v);
  return op && op->name == scalar;
}

bool is_negation(const Variable& a, const Variable& b) {
  const auto negates = [](const Variable& v, const Variable& of) {
    return is_application_of(v, "invert") && v.owner().input(0).same_as(of);
  };
  return negates(a, b) || negates(b, a);
}

// Whether `mask` is one of the operands of a conjunction or disjunction, by `scalar`.
bool contains(const Variable& whole, const Variable& mask, std::string_view scalar) {
  if (whole.same_as(mask)) return true;
  if (!is_application_of(whole, scalar)) return false;
  return std::ranges::any_of(whole.owner().inputs(), [&](const Variable& operand) { return operand.same_as(mask); });
}

// The operands of nested disjunctions, up to a few.
Variables alternatives(const Variable& mask) {
  constexpr std::size_t most = 8;
  Variables out{mask};
  for (std::size_t at = 0; at < out.size() && out.size() < most;) {
    if (!is_application_of(out[at], "or")) {
      ++at;
      continue;
    }
    const Variables operands = out[at].owner().inputs();
    out[at] = operands[0];
    out.push_back(operands[1]);
  }
  return out;
}

// Whether all elements of a mask are known to be true.
bool is_true(Variable mask) {
  while (is_application_of(mask, "second")) mask = mask.owner().input(1);
  return known_number(mask) == 1.0;
}

// The only slice of an index that selects the elements where a mask is true; null for other masks.
const DimIndex* only_slice(const Variable& mask, std::size_t& axis) {
  const Op* op = mask.owner_op();
  const auto* update = op ? dynamic_cast<const IncSubtensor*>(op) : nullptr;
  if (update && !is_true(mask.owner().input(1))) return nullptr;
  const DimIndex* found = nullptr;
  for (std::size_t k = 0; update && k < update->pattern.dims().size(); ++k) {
    const DimIndex& at = update->pattern.dims()[k];
    if (at.is_full()) continue;
    if (found || at.integer || at.step) return nullptr;
    found = &at;
    axis = k;
  }
  return found;
}

// Whether the masks are true where x[k:] and x[:-k] read an axis: together everywhere, unless it is very short.
bool are_both_ends(const Variable& a, const Variable& b) {
  std::size_t axis = 0, other_axis = 0;
  const DimIndex *x = only_slice(a, axis), *y = only_slice(b, other_axis);
  return x && y && axis == other_axis && x->start != y->start && x->stop != y->stop;
}

bool cover_everything(const Variable& a, const Variable& b) {
  const Variables of_a = alternatives(a), of_b = alternatives(b);
  return std::ranges::any_of(of_a, [&](const Variable& x) {
    return std::ranges::any_of(of_b, [&](const Variable& y) { return is_negation(x, y) || are_both_ends(x, y); });
  });
}

constexpr std::size_t max_inspected_nodes = 64;

// A power by a constant from 1 on: its value and its derivative by the base are finite.
bool is_regular_power(const Variable& v) {
  return is_application_of(v, "pow") && known_number(v.owner().input(1)).value_or(0) >= 1;
}

}  // namespace

Support united(const Support& a, const Support& b) {
  if (a.is_everywhere() || b.is_nowhere()) return a;
  if (b.is_everywhere() || a.is_nowhere()) return b;
  if (contains(a.mask, b.mask, "or")) return a;
  if (contains(b.mask, a.mask, "or")) return b;
  if (cover_everything(a.mask, b.mask)) return {};
  return {Support::Kind::masked, or_(a.mask, b.mask), a.costly || b.costly};
}

Support selected(const Variable& condition, bool holds, const Support& support) {
  if (support.is_nowhere()) return support;
  const Variable mask = holds ? truth(condition) : invert(truth(condition));
  if (support.is_everywhere() || contains(mask, support.mask, "and")) return {Support::Kind::masked, mask};
  if (contains(support.mask, mask, "and")) return support;
  return {Support::Kind::masked, and_(mask, support.mask), support.costly};
}

Variable full_mask(const Support& support, const Variable& like) {
  return second(like, support.is_masked() ? support.mask : constant(Array(support.is_everywhere())));
}

Support moved_support(const Apply& node, std::span<const Support> inputs, std::span<const int> moved, bool costly) {
  const auto of = [&](int i) -> const Support& { return inputs[std::size_t(i)]; };
  if (std::ranges::all_of(moved, [&](int i) { return of(i).is_everywhere(); })) return {};
  if (std::ranges::all_of(moved, [&](int i) { return of(i).is_nowhere(); })) return of(moved[0]);
  Variables masks = node.inputs();
  for (int i : moved) {
    costly |= of(i).costly;
    masks[std::size_t(i)] = full_mask(of(i), node.input(i));
  }
  return {Support::Kind::masked, node.op().make_node(masks).output(), costly};
}

Support MovesElements::support(const Apply& node, int, std::span<const Support> inputs) const {
  static constexpr int first[] = {0};
  return moved_support(node, inputs, first);
}

RestrictedValue restricted_value(const Variable& derivative) {
  RestrictedValue out{derivative, support_of(derivative)};
  // The innermost value of nested selections; their conditions are part of the support.
  bool is_negative = false;
  while (out.support.is_masked() && out.value.has_owner()) {
    if (is_application_of(out.value, "neg")) {
      is_negative = !is_negative;
      out.value = out.value.owner().input(0);
      continue;
    }
    if (!is_application_of(out.value, "switch")) break;
    const Apply node = out.value.owner();
    const bool keeps_first = support_of(node.input(2)).is_nowhere(),
               keeps_second = support_of(node.input(1)).is_nowhere();
    if (keeps_first == keeps_second) break;
    const Variable& kept = node.input(keeps_first ? 1 : 2);
    if (kept.dtype() != derivative.dtype()) break;
    out.value = kept;
  }
  if (is_negative) out.value = -out.value;
  return out;
}

Variable restricted(const Variable& value, const Support& support) {
  if (support.is_everywhere()) return value;
  if (support.is_nowhere()) return zeros_like(value);
  return switch_(support.mask, value, cast(0, value.dtype()));
}

bool may_be_irregular(const Variable& operand) {
  std::vector<Variable> open{operand};
  for (std::size_t at = 0; at < open.size(); ++at) {
    const Variable v = open[at];
    if (!v.has_owner()) continue;
    const ScalarOp* scalar = scalar_op_of(v);
    if (scalar && !scalar->has(regular) && !scalar->has(discrete_output) && !is_regular_power(v)) return true;
    if (at >= max_inspected_nodes) return true;
    for (const Variable& input : v.owner().inputs())
      if (as_tensor(input.type()) && !is_discrete(input.dtype())) open.push_back(input);
  }
  return false;
}

}  // namespace bitale
