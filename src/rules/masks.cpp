// Boolean masks: an update or reduction of the selected elements becomes an elementwise switch. It needs neither the
// positions nor memory for the selected elements, and is one loop together with the surrounding computation.
#include <algorithm>

#include "ops/analysis/lengths.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "ops/indexing/advanced_inc_subtensor.hpp"
#include "ops/indexing/advanced_subtensor.hpp"
#include "ops/indexing/check_mask.hpp"
#include "ops/indexing/nonzero.hpp"
#include "ops/reductions/reduce.hpp"
#include "ops/shapes/reshape.hpp"
#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

namespace {

constexpr int max_levels = 4;  // of operations on the selected elements

// What a mask selects along dimension `axis`. This dimension stands for all dimensions that the mask covers, flattened
// into one; in a tensor "in full" they are separate.
struct Selection {
  Variable mask;
  int axis;
  Variables checks = {};  // nodes that check that the mask fits the tensor it selects from
  int covered() const { return mask.ndim(); }
};

// The selection from x by an index; none if the positions may come from a shorter mask.
std::optional<Selection> selection_from(const Variable& x, const std::vector<int>& axes, const Variable& index) {
  Selection out{{}, axes[0]};
  Variable positions = index;
  for (; op_as<CheckMask>(positions); positions = positions.owner().input(0)) out.checks.push_back(positions);
  if (axes.size() != 1 || !op_as<Nonzero>(positions)) return std::nullopt;
  out.mask = positions.owner().input(0);
  if (out.mask.ndim() == 0) return std::nullopt;
  const Dims& lengths = out.mask.static_shape();
  const bool fits = std::find(lengths.begin(), lengths.end(), unknown_length) == lengths.end() &&
                    product(lengths) == x.static_shape()[std::size_t(axes[0])];
  if (out.checks.empty() && !fits) return std::nullopt;
  return out;
}

// Whether a dimension of `whole` certainly has the length of the mask's k-th dimension: by its type, or by a check.
bool has_length_of_mask(const Variable& whole, const Selection& of, int k) {
  const int axis = of.axis + k;
  if (is_length_of(length_of(of.mask, k), whole, axis)) return true;
  return std::any_of(of.checks.begin(), of.checks.end(), [&](const Variable& check) {
    const Apply pairs = check.owner();
    return op_as<CheckMask>(check)->axis == of.axis && int(pairs.inputs().size()) == 1 + 2 * of.covered() &&
           is_length_of(pairs.input(1 + of.covered() + k), whole, axis);
  });
}

// The tensor that was reshaped to flatten the dimensions, if these are the dimensions that the mask covers: other
// dimensions may have the same number of elements.
std::optional<Variable> unflattened(const Variable& x, const Selection& of) {
  if (!op_as<Reshape>(x)) return std::nullopt;
  const Variable whole = x.owner().input(0), lengths = x.owner().input(1);
  const int more = of.covered() - 1;
  if (whole.ndim() != x.ndim() + more) return std::nullopt;
  for (int axis = 0; axis < x.ndim(); ++axis)
    if (axis != of.axis && !is_length_of(element_of(lengths, axis), whole, axis < of.axis ? axis : axis + more))
      return std::nullopt;
  for (int k = 0; k < of.covered(); ++k)
    if (!has_length_of_mask(whole, of, k)) return std::nullopt;
  return whole;
}

// x, from which the selection takes a part, in full.
Variable in_full(const Variable& x, const Selection& of) {
  if (of.covered() == 1) return x;
  const bool repeats = is_one(x, of.axis);
  if (!repeats)
    if (const auto whole = unflattened(x, of)) return *whole;
  Variables lengths;
  std::vector<int> order;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    for (int k = 0; k < of.covered() && axis == of.axis; ++k) {
      lengths.push_back(length_of(of.mask, k));
      order.push_back(new_axis);
    }
    if (axis == of.axis) continue;
    lengths.push_back(length_of(x, axis));
    order.push_back(axis);
  }
  return repeats ? dimshuffle(x, order) : reshape(x, lengths);
}

// The mask, after its checks, as it broadcasts against a tensor in full of that rank.
Variable mask_in_full(const Selection& of, int rank) {
  Variable mask = of.mask;
  for (auto& check : of.checks) mask = op_as<CheckMask>(check)->of(check.owner(), mask);
  std::vector<int> order(std::size_t(rank), new_axis);
  for (int k = 0; k < of.covered(); ++k) order[std::size_t(of.axis + k)] = k;
  return dimshuffle(mask, order);
}

// The first selection in an expression over selected elements.
Variable gather_in(const Variable& value, int levels = max_levels) {
  if (op_as<AdvancedSubtensor>(value)) return value;
  if (!scalar_op_of(value) || levels == 0) return {};
  for (auto& operand : value.owner().inputs())
    if (const Variable found = gather_in(operand, levels - 1); found.defined()) return found;
  return {};
}

// An expression over selected elements, computed for all elements; none if that would be expensive. Adds checks to the
// selection.
std::optional<Variable> of_all(const Variable& value, Selection& of, int levels = max_levels) {
  if (is_one(value, of.axis)) return in_full(value, of);  // the same for all elements
  if (const auto* gather = op_as<AdvancedSubtensor>(value)) {
    const Variables from = value.owner().inputs();
    const auto other = selection_from(from[0], gather->axes, from[1]);
    if (!other || other->axis != of.axis || !other->mask.same_as(of.mask)) return std::nullopt;
    for (auto& check : other->checks)
      if (std::none_of(of.checks.begin(), of.checks.end(), [&](auto& known) { return known.same_as(check); }))
        of.checks.push_back(check);
    return in_full(from[0], of);
  }
  const ScalarOp* scalar = scalar_op_of(value);
  if (!scalar || !scalar->has(cheap) || levels == 0) return std::nullopt;
  Variables operands;
  for (auto& operand : value.owner().inputs()) {
    const auto whole = of_all(operand, of, levels - 1);
    if (!whole) return std::nullopt;
    operands.push_back(*whole);
  }
  return value.owner().op()(operands);
}

// x[mask].set(y) is switch(mask, y, x), and x[mask].inc(y) is switch(mask, x + y, x).
std::optional<Variables> masked_update(FunctionGraph&, const Apply& node) {
  const auto& op = *op_as<AdvancedIncSubtensor>(node.output());
  const Variable& x = node.input(0);
  if (!op.set && x.dtype() == DType::Bool) return std::nullopt;
  auto selection = selection_from(x, op.axes, node.input(2));
  if (!selection) return std::nullopt;
  const auto value = of_all(padded(node.input(1), x.ndim()), *selection);
  if (!value) return std::nullopt;
  const Variable before = in_full(x, *selection), y = cast(*value, x.dtype());
  Variable after = switch_(mask_in_full(*selection, before.ndim()), op.set ? y : before + y, before);
  if (after.ndim() != x.ndim()) after = reshape(after, lengths_of(x));
  return one(fit(after, node.output()));
}

// sum(x[mask]) is sum(switch(mask, x, 0)), and likewise for other reductions with an identity element.
std::optional<Variables> reduction_of_masked(FunctionGraph&, const Apply& node) {
  const auto& op = *op_as<CAReduce>(node.output());
  const Variable& selected = node.input(0);
  const ScalarOp& combiner = scalar_op(op.kind.scalar_name);
  if (!op.kind.has_identity || !combiner.has_identity) return std::nullopt;
  const Variable gather = gather_in(selected);
  if (!gather.defined()) return std::nullopt;
  const Variables from = gather.owner().inputs();
  auto selection = selection_from(from[0], op_as<AdvancedSubtensor>(gather)->axes, from[1]);
  if (!selection || !op.reduces(selection->axis)) return std::nullopt;
  const auto value = of_all(selected, *selection);
  if (!value || is_one(selected, selection->axis)) return std::nullopt;
  const Variable chosen =
      switch_(mask_in_full(*selection, value->ndim()), *value, constant_like(combiner.identity, selected.dtype()));
  std::vector<int> axes;
  const int more = selection->covered() - 1;
  for (int axis = 0; axis < chosen.ndim(); ++axis)
    if (op.reduces(axis <= selection->axis ? axis : axis <= selection->axis + more ? selection->axis : axis - more))
      axes.push_back(axis);
  std::optional<std::vector<int>> over;
  if (int(axes.size()) != chosen.ndim()) over = axes;
  return one(fit((*make_ref<CAReduce>(op.kind, over, op.dtype))({chosen}), node.output()));
}

void declare_masks(Rules& rules) {
  constexpr int levels_seen = max_levels + 3;  // plus the gather, the check and the positions
  auto some = [](const Variable& x) { return IndexItem(gt(x, 0.5)); };
  rules.function("masked_update", Root::op({"AdvancedIncSubtensor"}), masked_update)
      .doc(
          "Rewrites x[mask].set(y) as switch(mask, y, x), and x[mask].inc(y) as switch(mask, x + y, x), where y can be "
          "computed for all elements.")
      .tags(canonicalize, specialize)
      .depth(levels_seen)
      .sample([=] {
        const Variable x = sample_vector();
        return set_subtensor(x, {some(x)}, 2.5);
      })
      .sample([=] {
        const Variable x = sample_matrix();
        return inc_subtensor(x, {some(x)}, 2.5);
      })
      .sample([=] {
        const Variable x = sample_matrix(), y = subtensor(x, {IndexItem(0)});
        return set_subtensor(x, {some(sum(x, std::vector<int>{1}))}, y);
      })
      .sample([=] {
        const Variable x = sample_matrix(), y = sample_matrix();
        return inc_subtensor(x, {some(y)}, 2 * subtensor(y, {some(y)}) + subtensor(x, {some(y)}));
      });
  rules.function("reduction_of_masked", Root::op({"CAReduce"}), reduction_of_masked)
      .doc("Rewrites sum(x[mask]) as sum(switch(mask, x, 0)), likewise other reductions with an identity element.")
      .tags(canonicalize, specialize)
      .depth(levels_seen)
      .no_signed_zeros()
      .sample([=] {
        const Variable x = sample_vector();
        return sum(subtensor(x, {some(x)}));
      })
      .sample([=] {
        const Variable x = sample_leaf(DType::Float64, {any_length, any_length, any_length});
        return sum(subtensor(x, {Slice{}, some(subtensor(x, {IndexItem(0)}))}), std::vector<int>{1});
      })
      .sample([=] {
        const Variable x = sample_matrix(), y = sample_vector();
        return prod(subtensor(x, {some(y)}) - subtensor(x, {some(y)}) * 2, std::vector<int>{0});
      });
}

const RegisterRules register_masks("masks", declare_masks);

}  // namespace

}  // namespace bitale::rewriting
