// x[items...] with NumPy's meaning, taken apart into DimShuffle (new axes), Subtensor (integers and slices) and
// AdvancedSubtensor (integer tensors); and the same for updates, put together again the other way round. A mask is the
// positions where it is true; the dimensions that it covers are first made one.
#include <algorithm>

#include "bitale/ops/ops.hpp"
#include "ops/advanced_inc_subtensor.hpp"
#include "ops/advanced_subtensor.hpp"
#include "ops/check_mask.hpp"
#include "ops/inc_subtensor.hpp"
#include "ops/lengths.hpp"
#include "ops/nonzero.hpp"
#include "ops/subtensor.hpp"

namespace bitale {
namespace {

using Kind = IndexItem::Kind;

// A mask of known values, and the dimension of x that it begins at.
struct KnownMask {
  Variable mask;
  int axis;
};

// The steps that an index takes, in order: new axes are put in, what a mask covers becomes one dimension, slices cut,
// then tensors gather. Without tensors, integers are part of the third step; with tensors they are tensors themselves,
// as in NumPy.
struct Steps {
  std::vector<KnownMask> known_masks;  // checked by way of x, so that their positions stay constants
  std::vector<int> expand, collapse;   // dimshuffle orders that put the new axes in and take them out
  std::vector<int> joined;             // how many dimensions become one, for each that there is then
  IndexPattern pattern;
  Variables bounds;  // inputs of the pattern
  std::vector<int> axes;
  Variables tensors;  // one per axis

  Variable expanded(Variable x) const {
    for (auto& [mask, axis] : known_masks) x = checked_mask(x, mask, x, axis);
    return dimshuffle(x, expand);
  }
  bool joins() const { return joined.size() != expand.size(); }
  Variable made_one(const Variable& x) const {
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
    return (*make_ref<Subtensor>(pattern))(inputs);
  }
  Variable gathered(const Variable& x) const {
    if (axes.empty()) return x;
    Variables inputs{x};
    inputs.insert(inputs.end(), tensors.begin(), tensors.end());
    return (*make_ref<AdvancedSubtensor>(axes))(inputs);
  }
  Variable updated_cut(const Variable& x, const Variable& y, bool set) const {
    Variables inputs{x, y};
    inputs.insert(inputs.end(), bounds.begin(), bounds.end());
    return (*make_ref<IncSubtensor>(pattern, set))(inputs);
  }
  Variable updated_gathered(const Variable& x, const Variable& y, bool set) const {
    Variables inputs{x, y};
    inputs.insert(inputs.end(), tensors.begin(), tensors.end());
    return (*make_ref<AdvancedIncSubtensor>(axes, set))(inputs);
  }
};

// The items with the Ellipsis written out and the dimensions not mentioned added: one per dimension, besides new axes.
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
    if (item.kind == Kind::Ellipsis)
      fill();
    else
      out.push_back(item);
  }
  if (ellipses == 0) fill();
  return out;
}

Steps take_apart(const Variable& x, const std::vector<IndexItem>& items) {
  const auto complete = completed(x, items);
  bool gathers = false;
  for (auto& item : complete) gathers |= item.kind == Kind::Tensor || item.kind == Kind::Mask;
  Steps steps;
  std::vector<DimIndex> dims;
  int dimension = 0;
  for (auto& item : complete) {
    DimIndex dim;
    auto bound = [&](const std::optional<Operand>& value) {
      if (value) steps.bounds.push_back(value->variable);
      return value.has_value();
    };
    // A mask of no dimensions is one of length 1 along a new axis.
    const int covered = item.kind == Kind::NewAxis ? 0 : item.kind == Kind::Mask ? item.index->ndim() : 1;
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
  return steps;
}

Variable updated(const Operand& x, const std::vector<IndexItem>& items, const Operand& y, bool set) {
  LocationScope here(x.where);
  const Steps steps = take_apart(x.variable, items);
  const Variable expanded = steps.expanded(x.variable), whole = steps.made_one(expanded);
  Variable result;
  if (steps.axes.empty()) {
    result = steps.updated_cut(whole, y.variable, set);
  } else if (steps.pattern.dims().empty()) {
    result = steps.updated_gathered(whole, y.variable, set);
  } else {
    result = steps.updated_cut(whole, steps.updated_gathered(steps.cut(whole), y.variable, set), true);
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

Variable subtensor(const Operand& x, const std::vector<IndexItem>& items) {
  LocationScope here(x.where);
  const Steps steps = take_apart(x.variable, items);
  return steps.gathered(steps.cut(steps.made_one(steps.expanded(x.variable))));
}

Variable set_subtensor(const Operand& x, const std::vector<IndexItem>& items, const Operand& y) {
  return updated(x, items, y, true);
}

Variable inc_subtensor(const Operand& x, const std::vector<IndexItem>& items, const Operand& y) {
  return updated(x, items, y, false);
}

Variable take(const Operand& x, const Operand& indices, int axis) {
  LocationScope here(x.where);
  std::vector<IndexItem> items(std::size_t(normal_axis(axis, x.ndim(), "take")), IndexItem(Slice{}));
  // As numbers, also where they are false and true.
  items.push_back(IndexItem(indices.dtype() == DType::Bool ? cast(indices, DType::UInt8) : indices.variable));
  return subtensor(x, items);
}

}  // namespace bitale
