#include "ops/analysis/support_masks.hpp"

#include <algorithm>

#include "bitale/ops/ops.hpp"
#include "ops/analysis/known_number.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "ops/indexing/advanced_inc_subtensor.hpp"
#include "ops/indexing/inc_subtensor.hpp"
#include "ops/indexing/update_value.hpp"
#include "ops/shapes/arange.hpp"

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

// Whether all elements of a mask are known to have this value.
bool is_all(Variable mask, bool value) {
  while (is_application_of(mask, "second")) mask = mask.owner().input(1);
  return known_number(mask) == double(value);
}

// A slice of one axis whose elements are true in a mask, all others being false: without its first `start` and its last
// `behind` elements.
struct TrueSlice {
  int axis = 0;
  std::int64_t start = 0, behind = 0;
  bool operator==(const TrueSlice&) const = default;
};

std::optional<TrueSlice> true_slice(const Variable& mask) {
  const Op* op = mask.owner_op();
  const auto* update = op ? dynamic_cast<const IncSubtensor*>(op) : nullptr;
  if (!update || !is_all(mask.owner().input(0), false) || !is_all(mask.owner().input(1), true)) return std::nullopt;
  std::optional<TrueSlice> out;
  int input = 2;
  for (std::size_t k = 0; k < update->pattern.dims().size(); ++k) {
    const DimIndex& at = update->pattern.dims()[k];
    if (at.is_full()) continue;
    if (out || at.integer || at.step) return std::nullopt;
    out = TrueSlice{.axis = int(k)};
    if (at.start) out->start = std::int64_t(known_number(mask.owner().input(input++)).value_or(-1));
    if (at.stop) out->behind = -std::int64_t(known_number(mask.owner().input(input++)).value_or(0));
    if (out->start < 0 || (at.stop && out->behind <= 0)) return std::nullopt;
  }
  return out;
}

bool cover_everything(const Variable& a, const Variable& b) {
  const Variables of_a = alternatives(a), of_b = alternatives(b);
  return std::ranges::any_of(of_a, [&](const Variable& x) {
    return std::ranges::any_of(of_b, [&](const Variable& y) { return is_negation(x, y); });
  });
}

// The union of masks among which are those of x[p:], x[p-1:-1] ... x[:-p]: these read everything if the axis is longer
// than p, and nothing otherwise.
std::optional<Support> united_slices(const Variables& masks) {
  std::vector<std::optional<TrueSlice>> slices;
  for (auto& mask : masks) slices.push_back(true_slice(mask));
  for (std::size_t k = 0; k < masks.size(); ++k) {
    if (!slices[k] || slices[k]->start != 0) continue;
    const int axis = slices[k]->axis;
    const std::int64_t p = slices[k]->behind;
    if (p >= std::int64_t(masks.size())) continue;
    const auto is_shift = [&](const std::optional<TrueSlice>& slice) {
      return slice && slice->axis == axis && slice->start + slice->behind == p;
    };
    bool is_complete = true;
    for (std::int64_t start = 0; start <= p; ++start)
      is_complete &= std::ranges::find(slices, TrueSlice{axis, start, p - start}) != slices.end();
    if (!is_complete) continue;
    const std::int64_t length = masks[k].static_shape()[std::size_t(axis)];
    if (length != unknown_length && length > p) return Support();
    Variable out = padded_to(gt(length_of(masks[k], axis), p), masks[k].ndim());
    for (std::size_t other = 0; other < masks.size(); ++other)
      if (!is_shift(slices[other])) out = or_(out, masks[other]);
    return Support{Support::Kind::masked, out, true};
  }
  return std::nullopt;
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
  Variables masks = alternatives(a.mask);
  for (auto& mask : alternatives(b.mask)) masks.push_back(mask);
  if (auto whole = united_slices(masks)) return *whole;
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

namespace {

// Whether it is arange(n), n being the length of an axis of x.
bool counts_along(const Variable& index, const Variable& x, int axis) {
  if (!index.has_owner() || !dynamic_cast<const ARange*>(index.owner_op())) return false;
  const Apply node = index.owner();
  return known_number(node.input(0)) == 0.0 && known_number(node.input(2)) == 1.0 &&
         is_same_length(node.input(1), length_of(x, axis));
}

// An index that is broadcast against another one does not tell how many elements are selected.
bool is_broadcast(const Variable& index) {
  for (int axis = 0; axis < index.ndim(); ++axis)
    if (broadcasts(index, std::size_t(axis))) return true;
  return false;
}

// The rows of a mask of the elements at index tensors, of which some element is true; nullopt for other masks, and
// where an axis that is not indexed is reduced.
std::optional<Support> indexed_rows(const Variable& mask, const std::vector<int>& axes) {
  const auto* update = dynamic_cast<const AdvancedIncSubtensor*>(mask.owner_op());
  if (!update || !is_all(mask.owner().input(0), false) || !is_all(mask.owner().input(1), true)) return std::nullopt;
  const Apply node = mask.owner();
  const Variables all(node.inputs().begin() + 2, node.inputs().end());
  if (!std::ranges::all_of(all, [&](auto& index) { return index.ndim() == all[0].ndim(); })) return std::nullopt;
  std::vector<int> kept_axes;
  Variables lengths, indices;
  bool reads_all_rows = true;
  for (int axis = 0; axis < mask.ndim(); ++axis) {
    const auto found = std::ranges::find(update->axes, axis);
    const bool is_indexed = found != update->axes.end(), is_reduced = std::ranges::find(axes, axis) != axes.end();
    if (is_reduced && is_indexed) continue;
    if (is_reduced) return std::nullopt;
    if (is_indexed) {
      kept_axes.push_back(int(lengths.size()));
      indices.push_back(all[std::size_t(found - update->axes.begin())]);
      reads_all_rows &= counts_along(indices.back(), node.input(0), axis);
    }
    lengths.push_back(length_of(node.input(0), axis));
  }
  if (indices.empty() || std::ranges::all_of(indices, is_broadcast)) return std::nullopt;
  if (indices.size() == 1 && reads_all_rows) return Support();
  Variables inputs{alloc(false, lengths), constant(Array(true))};
  inputs.insert(inputs.end(), indices.begin(), indices.end());
  return Support{Support::Kind::masked, (*make_ref<AdvancedIncSubtensor>(kept_axes, update->set))(inputs), true};
}

}  // namespace

Support support_of_sum(const Support& support, const std::vector<int>& axes) {
  if (!support.is_masked()) return support;
  if (auto rows = indexed_rows(support.mask, axes)) return *rows;
  return {Support::Kind::masked, any(support.mask, axes), true};
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
