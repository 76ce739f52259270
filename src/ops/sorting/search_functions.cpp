// Functions of search.hpp that are formulas over sorting, gathers, scatters and cumulative sums.
#include <algorithm>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/arrange.hpp"
#include "bitale/ops/cumulative.hpp"
#include "bitale/ops/debugging.hpp"
#include "bitale/ops/search.hpp"
#include "bitale/ops/sorting.hpp"
#include "graph/literal.hpp"
#include "ops/analysis/lengths.hpp"

namespace bitale {

namespace {

void require_integers(const Operand& x, const char* who, const char* what) {
  if (!is_discrete(x.dtype()) || x.dtype() == DType::Bool)
    throw TypeError(
        cat(who, ": expected integers as ", what, ", got ", x.variable.str(), " of dtype ", dtype_name(x.dtype())));
}

Variable zero() { return int64_constant(0); }

// Indices mapped to [0, length) according to mode. By default a negative index becomes `length`, which is out of range.
Variable in_range(const Variable& index, const Variable& length, TakeMode mode) {
  const Variable i = cast(index, DType::Int64);
  switch (mode) {
    case TakeMode::Clip: return clip(i, zero(), sub(length, int64_constant(1)));
    case TakeMode::Wrap: return mod(i, length);
    default: return switch_(lt(i, zero()), length, i);
  }
}

}  // namespace

UniqueValues unique(const Operand& x) {
  const LocationScope here(x.where);
  const Variable flat = flatten(x), order = argsort(flat, 0), sorted = take(flat, order, 0);
  const Variable before = subtensor(sorted, {IndexItem(Slice{{}, -1, {}})}),
                 after = subtensor(sorted, {IndexItem(Slice{1, {}, {}})});
  Variable differs = neq(before, after);
  if (is_float(flat.dtype())) differs = and_(differs, invert(and_(isnan(before), isnan(after))));
  // The first element, if there is one, starts a group of equal values.
  const Variable n = length_of(flat, 0);
  const Variable first = ones({lengths::min(n, int64_constant(1))}, DType::Bool);
  const Variable starts = flatnonzero(concatenate(Operands({first, differs})));
  UniqueValues out;
  out.values = take(sorted, starts, 0);
  out.index = take(order, starts, 0);
  const Variable ends = concatenate(Operands({subtensor(starts, {IndexItem(Slice{1, {}, {}})}),
                                              subtensor(reshape(n, Operands({int64_constant(1)})),
                                                        {IndexItem(Slice{{}, Operand(length_of(first, 0)), {}})})}));
  out.counts = sub(ends, starts);
  const Variable numbers = sub(cumsum(concatenate(Operands({first, differs})), 0), int64_constant(1));
  const Variable scattered = set_subtensor(alloc(zero(), {n}), {IndexItem(order)}, numbers);
  out.inverse = reshape(scattered, Operands(lengths_of(x.variable)));
  return out;
}

Variable bincount(const Operand& x, const std::optional<Operand>& weights, const Operand& min_length) {
  const LocationScope here(x.where);
  require_integers(x, "bincount", "values");
  if (x.ndim() != 1)
    throw TypeError(cat("bincount: expected a vector, got ", x.variable.str(), " with ", x.ndim(), " dimensions"));
  if (weights && weights->ndim() != 1)
    throw TypeError(cat("bincount: expected a vector of weights, got ", weights->variable.str(), " with ",
                        weights->ndim(), " dimensions"));
  const Variable index = cast(x, DType::Int64);
  const Variable checked =
      check_and_raise(index, {all(ge(index, zero()))}, "ValueError", "bincount: the values must not be negative");
  const Variable at_least = as_length(min_length.variable, "bincount");
  // The largest of no values is -1.
  const Variable largest = max(concatenate(Operands({checked, alloc(int64_constant(-1), {int64_constant(1)})})));
  const Variable length = lengths::max(add(largest, int64_constant(1)), at_least);
  const DType dtype =
      weights ? weights->dtype() == DType::Float32 ? DType::Float64 : promote(weights->dtype(), DType::Float64)
              : DType::Int64;
  const Variable none = alloc(cast(Operand(0), dtype), {length});
  if (!weights) return inc_subtensor(none, {IndexItem(checked)}, int64_constant(1));
  std::vector<std::optional<Operand>> lengths{Operand(length_of(index, 0))};
  return inc_subtensor(none, {IndexItem(checked)}, cast(specify_shape(*weights, lengths), dtype));
}

Variable digitize(const Operand& x, const Operand& bins, const DigitizeOptions& options) {
  const LocationScope here(x.where);
  if (bins.ndim() != 1)
    throw ValueError(
        cat("digitize: expected a vector of limits, got ", bins.variable.str(), " with ", bins.ndim(), " dimensions"));
  const SearchSide side = options.right ? SearchSide::Left : SearchSide::Right;
  const Variable n = length_of(bins.variable, 0);
  const Variable increasing = searchsorted(bins, x, side);
  const Variable decreasing = sub(n, searchsorted(flip(bins), x, side));
  const Variable falls = any(lt(diff(bins), 0));
  return switch_(falls, decreasing, increasing);
}

Variable take_along_axis(const Operand& x, const Operand& indices, int axis) {
  const LocationScope here(x.where);
  require_integers(indices, "take_along_axis", "indices");
  if (x.ndim() != indices.ndim())
    throw ValueError(cat("take_along_axis: expected indices with the ", x.ndim(), " dimensions of ", x.variable.str(),
                         ", got ", indices.ndim()));
  const int along = normal_axis(axis, x.ndim(), "take_along_axis");
  std::vector<IndexItem> items;
  for (int a = 0; a < x.ndim(); ++a) {
    if (a == along) {
      items.push_back(IndexItem(indices));
      continue;
    }
    std::vector<int> order(std::size_t(x.ndim()), new_axis);
    order[std::size_t(a)] = 0;
    items.push_back(IndexItem(dimshuffle(arange(length_of(x.variable, a)), order)));
  }
  return subtensor(x, items);
}

Variable choose(const Operand& which, const Operands& choices, TakeMode mode) {
  const LocationScope here(which.where);
  require_integers(which, "choose", "the numbers of choices");
  if (choices.variables.empty()) throw ValueError("choose: expected at least one choice");
  Variables all = with_literal_widths(choices.variables);
  all.insert(all.begin(), which.variable);
  const Variables wide = broadcast_arrays(all);
  const Variable stacked = stack(Variables(wide.begin() + 1, wide.end()));
  // Rewriting may remove the computation of `wide`, and with it the error about its lengths.
  std::vector<std::optional<Operand>> lengths;
  for (int axis = 1; axis < stacked.ndim(); ++axis) lengths.push_back(Operand(length_of(stacked, axis)));
  const Variable index =
      specify_shape(in_range(wide[0], int64_constant(std::int64_t(choices.variables.size())), mode), lengths);
  return squeeze(take_along_axis(stacked, expand_dims(index, 0), 0), std::vector<int>{0});
}

Variable ravel_multi_index(const Operands& multi_index, const Operands& dims, TakeMode mode) {
  const LocationScope here(multi_index.where);
  if (multi_index.variables.size() != dims.variables.size())
    throw ValueError(cat("ravel_multi_index: expected ", dims.variables.size(),
                         " index tensors, one for each length, got ", multi_index.variables.size()));
  Variable out;
  for (std::size_t i = 0; i < dims.variables.size(); ++i) {
    const Variable &index = multi_index.variables[i], length = as_length(dims.variables[i], "ravel_multi_index");
    require_integers(index, "ravel_multi_index", "indices");
    Variable checked = in_range(index, length, mode);
    if (mode == TakeMode::Raise)
      checked = check_and_raise(checked, {bitale::all(lt(checked, length))}, "ValueError",
                                "ravel_multi_index: an index is out of range");
    out = out.defined() ? add(mul(out, length), checked) : checked;
  }
  if (!out.defined()) throw ValueError("ravel_multi_index: expected at least one dimension");
  return out;
}

Variables unravel_index(const Operand& indices, const Operands& dims) {
  const LocationScope here(indices.where);
  require_integers(indices, "unravel_index", "indices");
  Variables lengths;
  for (const Variable& length : dims.variables) lengths.push_back(as_length(length, "unravel_index"));
  const Variable flat = cast(indices, DType::Int64), total = lengths::product(lengths);
  Variable rest = check_and_raise(flat, {all(and_(ge(flat, zero()), lt(flat, total)))}, "ValueError",
                                  "unravel_index: an index is out of range");
  Variables out(lengths.size());
  for (std::size_t i = lengths.size(); i-- > 0;) {
    out[i] = mod(rest, lengths[i]);
    rest = int_div(rest, lengths[i]);
  }
  return out;
}

Variable inverse_permutation(const Operand& permutation) {
  const LocationScope here(permutation.where);
  require_integers(permutation, "inverse_permutation", "a permutation");
  return argsort(permutation, -1);
}

Variable permute_row_elements(const Operand& x, const Operand& permutation, const PermutationOptions& options) {
  const LocationScope here(x.where);
  const Variable order = options.inverse ? argsort(permutation) : permutation.variable;
  const int ndim = std::max(x.ndim(), order.ndim());
  const Variable rows = atleast_Nd(x, ndim), orders = atleast_Nd(order, ndim);
  if (ndim == 1) return subtensor(rows, {IndexItem(orders)});
  const auto first = [](const Variable& v) { return subtensor(v, {Ellipsis{}, IndexItem(Slice{{}, Operand(1), {}})}); };
  const Shape common = lengths_of(broadcast_arrays(Operands({first(rows), first(orders)}))[0]);
  const auto wide = [&](const Variable& v) {
    Variables lengths(common.begin(), common.end());
    lengths.back() = length_of(v, ndim - 1);
    return alloc(v, Operands(lengths));
  };
  return take_along_axis(wide(rows), wide(orders), ndim - 1);
}

ExtremeElements topk_and_argtopk(const Operand& x, int k, std::optional<int> axis) {
  const LocationScope here(x.where);
  if (k == 0) throw ValueError("topk: k is 0; it counts elements, the largest, or the smallest if negative");
  const Variable values = axis ? x.variable : flatten(x);
  const int along = normal_axis(axis.value_or(0), values.ndim(), "topk");
  const Slice kept = k > 0 ? Slice{Operand(-k), {}, {}} : Slice{{}, Operand(-k), {}};
  std::vector<std::optional<Operand>> lengths(std::size_t(values.ndim()));
  lengths[std::size_t(along)] = Operand(std::int64_t(std::abs(k)));
  const Variable positions = specify_shape(subtensor(argsort(values, along), slice_at_axis(kept, along)), lengths);
  return {take_along_axis(values, positions, along), positions};
}

Variable topk(const Operand& x, int k, std::optional<int> axis) { return topk_and_argtopk(x, k, axis).values; }
Variable argtopk(const Operand& x, int k, std::optional<int> axis) { return topk_and_argtopk(x, k, axis).positions; }

}  // namespace bitale
