// x[items...] with NumPy's meaning, decomposed into DimShuffle (new axes), Subtensor (integers and slices) and
// AdvancedSubtensor (integer tensors); updates are composed of the inverse steps in reverse order. A mask stands for
// the positions where it is true; the dimensions that it covers are first joined into one.
#include <algorithm>

#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/indexing/advanced_inc_subtensor.hpp"
#include "ops/indexing/advanced_index.hpp"
#include "ops/indexing/advanced_subtensor.hpp"
#include "ops/indexing/basic_index.hpp"
#include "ops/indexing/check_mask.hpp"
#include "ops/indexing/inc_subtensor.hpp"
#include "ops/indexing/nonzero.hpp"
#include "ops/indexing/subtensor.hpp"
#include "ops/indexing/update_value.hpp"
#include "ops/shapes/runtime_broadcast.hpp"

namespace bitale {
namespace {

using Kind = IndexItem::Kind;

// A constant mask, and the first dimension of x that it covers.
struct KnownMask {
  Variable mask;
  int axis;
};

// The steps of an index, in order: new axes are inserted, the dimensions that a mask covers are joined into one, slices
// are cut, then index tensors gather. Without index tensors, integers are part of the third step; with index tensors,
// integers are index tensors themselves, as in NumPy.
struct Steps {
  std::vector<KnownMask> known_masks;  // checked as part of x, so that their positions stay constants
  std::vector<int> expand, collapse;   // dimshuffle orders that insert the new axes and remove them
  std::vector<int> joined;             // for each dimension after joining, how many are joined into it
  IndexPattern pattern;
  Variables bounds;  // inputs of the pattern
  std::vector<int> axes;
  Variables tensors;   // one per axis
  int separator = -1;  // a dimension of length 1 that is removed from the part

  // The lengths of x, from the variable before all updates: updates keep the lengths.
  static Shape lengths_before(Variable x) {
    while (dynamic_cast<const IncSubtensor*>(x.owner_op()) || dynamic_cast<const AdvancedIncSubtensor*>(x.owner_op()))
      x = x.owner().input(0);
    return lengths_of(x);
  }
  // The value in a dtype that x accepts, cast as in PyTensor, and with lengths of 1 repeated as in NumPy.
  static Variable fitted(const Variable& x, const Variable& y, const Shape& region) {
    const Variable value = can_store_dtype(y.dtype(), x.dtype()) ? y : cast(y, x.dtype());
    if (y.ndim() > int(region.size())) return value;  // the update reports the error
    return broadcast_at_run_time(value, Shape(region.end() - y.ndim(), region.end()), false);
  }
  Variable expanded(Variable x) const {
    for (auto& [mask, axis] : known_masks) x = checked_mask(x, mask, x, axis);
    return dimshuffle(x, expand);
  }
  bool joins() const { return joined.size() != expand.size(); }
  Variable with_joined_axes(const Variable& x) const {
    if (!joins()) return x;
    Variables lengths;
    int axis = 0;
    for (int count : joined) {
      Variable length = length_of(x, axis++);
      for (int k = 1; k < count; ++k) length = lengths::mul(length, length_of(x, axis++));
      lengths.push_back(length);
    }
    return reshape(x, lengths);
  }
  Variable cut(const Variable& x) const {
    if (pattern.dims().empty()) return x;
    Variables inputs{x};
    inputs.insert(inputs.end(), bounds.begin(), bounds.end());
    const auto op = make_ref<Subtensor>(pattern);
    const Apply node = op->make_node(inputs);
    check_known_integers(pattern, x, std::span(node.inputs()).subspan(1), op->label());
    return node.output();
  }
  // The number of dimensions of the part after the separator.
  int behind_separator(const Variable& x) const {
    return x.ndim() - 1 - separator -
           int(std::count_if(axes.begin(), axes.end(), [&](int axis) { return axis > separator; }));
  }
  Steps broadcast(const Variable& x) const {
    Steps out = *this;
    out.tensors = broadcast_indices(tensors, x, axes);
    return out;
  }
  Variable gathered(const Variable& x) const {
    if (axes.empty()) return x;
    if (separator < 0) return gathered_with_separator(x);
    const Variable part = gathered_with_separator(x);
    return squeeze(part, std::vector<int>{part.ndim() - 1 - behind_separator(x)});
  }
  Variable gathered_with_separator(const Variable& x) const {
    Variables inputs{x};
    inputs.insert(inputs.end(), tensors.begin(), tensors.end());
    const auto op = make_ref<AdvancedSubtensor>(axes);
    check_known_positions(axes, x, tensors, op->name());
    return (*op)(inputs);
  }
  Variable updated_cut(const Variable& x, const Variable& y, bool set) const {
    const auto op = make_ref<IncSubtensor>(pattern, set);
    const Variables indices = checked_index_inputs(pattern, x, bounds, op->label());
    check_known_integers(pattern, x, indices, op->label());
    Variables inputs{x, fitted(x, y, indexed_lengths(pattern, lengths_before(x), indices))};
    inputs.insert(inputs.end(), indices.begin(), indices.end());
    return cast((*op)(inputs), x.dtype());
  }
  Variable updated_gathered(const Variable& x, Variable y, bool set) const {
    if (separator >= 0 && y.ndim() > behind_separator(x)) y = expand_dims(y, y.ndim() - behind_separator(x));
    const auto op = make_ref<AdvancedIncSubtensor>(axes, set);
    check_known_positions(axes, x, tensors, op->label());
    std::vector<Shape> lengths;
    for (auto& tensor : tensors) lengths.push_back(lengths_of(tensor));
    const Shape region = AdvancedIndex(axes, x.ndim(), tensors[0].ndim())
                             .region(lengths_before(x), broadcast_index_lengths(tensors, lengths));
    Variables inputs{x, fitted(x, y, region)};
    inputs.insert(inputs.end(), tensors.begin(), tensors.end());
    return cast((*op)(inputs), x.dtype());
  }
};

bool is_advanced(const IndexItem& item) {
  return item.kind == Kind::Integer || item.kind == Kind::Tensor || item.kind == Kind::Mask;
}

// The items with the Ellipsis expanded and slices added for the remaining dimensions: one per dimension, besides new
// axes. An Ellipsis for no dimensions is kept: like any other item, it keeps the arrays before and after it from being
// adjacent.
std::vector<IndexItem> completed(const Variable& x, const std::vector<IndexItem>& items) {
  int used = 0, ellipses = 0;
  for (auto& item : items) {
    if (item.kind == Kind::Ellipsis)
      ++ellipses;
    else if (item.kind != Kind::NewAxis)
      used += item.kind == Kind::Mask ? item.index->ndim() : 1;
  }
  if (ellipses > 1) throw IndexError("an index can only have a single ellipsis ('...')");
  if (used > x.ndim())
    throw IndexError(
        cat("too many indices for tensor: ", x.str(), " is ", x.ndim(), "-dimensional, but ", used, " were indexed"));
  std::vector<IndexItem> out;
  auto fill = [&] { out.insert(out.end(), std::size_t(x.ndim() - used), IndexItem(Slice{})); };
  for (auto& item : items) {
    if (item.kind == Kind::Ellipsis && used == x.ndim())
      out.push_back(item);
    else if (item.kind == Kind::Ellipsis)
      fill();
    else
      out.push_back(item);
  }
  if (ellipses == 0) fill();
  return out;
}

Steps decompose_index(const Variable& x, const std::vector<IndexItem>& items) {
  const auto complete = completed(x, items);
  bool gathers = false;
  for (auto& item : complete) gathers |= item.kind == Kind::Tensor || item.kind == Kind::Mask;
  Steps steps;
  std::vector<DimIndex> dims;
  int dimension = 0;
  for (auto& item : complete) {
    if (item.kind == Kind::Ellipsis) {
      const bool separates = gathers && std::any_of(complete.data(), &item, is_advanced) &&
                             std::any_of(&item, complete.data() + complete.size(), is_advanced);
      if (!separates) continue;
      // It becomes a new axis, which is removed from the part again.
      steps.separator = int(dims.size());
    }
    DimIndex dim;
    auto bound = [&](const std::optional<Operand>& value) {
      if (value) steps.bounds.push_back(value->variable);
      return value.has_value();
    };
    // A mask without dimensions is one of length 1 along a new axis.
    const int covered = item.kind == Kind::NewAxis || item.kind == Kind::Ellipsis ? 0
                        : item.kind == Kind::Mask                                 ? item.index->ndim()
                                                                                  : 1;
    const int begin = dimension;
    for (int k = 0; k < covered; ++k) {
      steps.collapse.push_back(int(steps.expand.size()));
      steps.expand.push_back(dimension++);
    }
    if (covered == 0) steps.expand.push_back(new_axis);
    steps.joined.push_back(std::max(covered, 1));
    if (item.kind == Kind::Mask) {
      const Variable& mask = item.index->variable;
      const Variable positions = positions_of_nonzero(mask);
      if (mask.is_constant()) steps.known_masks.push_back({mask, begin});
      steps.axes.push_back(int(dims.size()));
      steps.tensors.push_back(mask.is_constant() ? positions : checked_mask(positions, mask, x, begin));
    } else if (item.kind == Kind::Range) {
      dim.start = bound(item.slice.start);
      dim.stop = bound(item.slice.stop);
      dim.step = bound(item.slice.step);
    } else if (item.kind == Kind::Integer && !gathers) {
      dim.integer = bound(item.index);
    } else if (item.kind == Kind::Integer || item.kind == Kind::Tensor) {
      steps.axes.push_back(int(dims.size()));
      steps.tensors.push_back(item.index->variable);
    }
    dims.push_back(dim);
  }
  steps.pattern = IndexPattern(dims);
  int rank = 0;
  for (auto& tensor : steps.tensors) rank = std::max(rank, tensor.ndim());
  for (auto& tensor : steps.tensors) tensor = padded_to(tensor, rank);
  return steps;
}

Variable updated(const Operand& x, const std::vector<IndexItem>& items, const Operand& y, bool set) {
  LocationScope here(x.where);
  const Steps steps = decompose_index(x.variable, items);
  const Variable expanded = steps.expanded(x.variable), whole = steps.with_joined_axes(expanded);
  Variable result;
  if (steps.axes.empty()) {
    result = steps.updated_cut(whole, y.variable, set);
  } else {
    const Variable part = steps.cut(whole);
    result = steps.broadcast(part).updated_gathered(part, y.variable, set);
    if (!steps.pattern.dims().empty()) result = steps.updated_cut(whole, result, true);
  }
  if (steps.joins()) result = reshape(result, lengths_of(expanded));
  return dimshuffle(result, steps.collapse);
}

}  // namespace

IndexItem::IndexItem(const Operand& index)
    : kind(index.dtype() == DType::Bool ? Kind::Mask
           : index.ndim() == 0          ? Kind::Integer
                                        : Kind::Tensor),
      index(index) {
  if (kind != Kind::Mask && !is_integer(index.dtype()))
    throw IndexError(
        cat("only integers, slices, ellipsis, newaxis and tensors of integers or bools can be indices; got ",
            index.variable.str(), " of dtype ", dtype_name(index.dtype())));
}

IndexItem::IndexItem(const IndexRange& range) : kind(Kind::Range) {
  const auto bound = [](std::optional<std::int64_t> at) { return at ? std::optional<Operand>(*at) : std::nullopt; };
  slice = {bound(range.start), bound(range.stop), bound(range.step)};
}

Variable Variable::operator[](const IndexItems& items) const {
  Operand x(*this);
  x.where = items.where;
  return subtensor(x, items);
}

Variable Variable::operator()(const IndexItem& i, const IndexItem& j, Source where) const {
  return (*this)[IndexItems({i, j}, where)];
}

Variable Variable::operator()(const IndexItem& i, const IndexItem& j, const IndexItem& k, Source where) const {
  return (*this)[IndexItems({i, j, k}, where)];
}

Variable subtensor(const Operand& x, const IndexItems& items) {
  LocationScope here(x.where);
  const Steps steps = decompose_index(x.variable, items);
  const Variable part = steps.cut(steps.with_joined_axes(steps.expanded(x.variable)));
  return steps.broadcast(part).gathered(part);
}

Variable set_subtensor(const Operand& x, const IndexItems& items, const Operand& y) {
  return updated(x, items, y, true);
}

Variable inc_subtensor(const Operand& x, const IndexItems& items, const Operand& y) {
  return updated(x, items, y, false);
}

Variable take(const Operand& x, const Operand& indices, int axis, TakeMode mode) {
  LocationScope here(x.where);
  axis = normal_axis(axis, x.ndim(), "take");
  std::vector<IndexItem> items(std::size_t(axis), IndexItem(Slice{}));
  // Bools are taken as the numbers 0 and 1, not as a mask.
  Variable at = indices.dtype() == DType::Bool ? cast(indices, DType::UInt8) : indices.variable;
  if (mode != TakeMode::Raise) {
    if (!is_integer(at.dtype()))
      throw TypeError(cat("take: expected integers, got ", at.str(), " of dtype ", dtype_name(at.dtype())));
    const Variable length = length_of(x.variable, axis);
    at = cast(at, DType::Int64);
    at = mode == TakeMode::Wrap ? mod(at, length) : minimum(maximum(at, int64_constant(0)), sub(length, 1));
  }
  items.push_back(IndexItem(at));
  return subtensor(x, items);
}

}  // namespace bitale
