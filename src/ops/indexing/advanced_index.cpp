#include "ops/indexing/advanced_index.hpp"

#include <algorithm>
#include <numeric>

#include "bitale/ops/ops.hpp"
#include "ops/array_loops.hpp"
#include "ops/indexing/nonzero.hpp"
#include "ops/indexing/update_value.hpp"
#include "ops/shapes/arange.hpp"
#include "ops/shapes/dimshuffle.hpp"
#include "ops/shapes/runtime_broadcast.hpp"

namespace bitale {

AdvancedIndex::AdvancedIndex(const std::vector<int>& axes, int x_ndim, int index_ndim)
    : axes_(axes), index_ndim_(index_ndim), position_(0) {
  for (int axis = 0; axis < x_ndim; ++axis)
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) kept_.push_back(axis);
  const bool adjacent = axes.back() - axes.front() + 1 == int(axes.size());
  if (adjacent) position_ = axes.front();
}

std::vector<Expr> AdvancedIndex::source(Index at, std::span<const Expr> indices) const {
  std::vector<Expr> out(axes_.size() + kept_.size());
  for (std::size_t k = 0; k < axes_.size(); ++k) out[std::size_t(axes_[k])] = indices[k];
  for (std::size_t k = 0; k < kept_.size(); ++k) {
    const std::size_t from = k < std::size_t(position_) ? k : k + std::size_t(index_ndim_);
    out[std::size_t(kept_[k])] = at[from];
  }
  return out;
}

Variables checked_index_tensors(const std::vector<int>& axes, const Variable& x, std::span<const Variable> indices,
                                std::string_view who) {
  if (axes.empty() || indices.size() != axes.size())
    throw TypeError(cat(who, ": expected ", axes.size(), " index tensors, got ", indices.size()));
  for (std::size_t k = 0; k < axes.size(); ++k)
    if (axes[k] < 0 || axes[k] >= x.ndim() || (k > 0 && axes[k] <= axes[k - 1]))
      throw IndexError(cat("too many indices for tensor: ", x.str(), " is ", x.ndim(), "-dimensional, but dimension ",
                           axes[k], " was indexed"));
  int ndim = 0;
  for (auto& index : indices) {
    const DType dtype = index.dtype();
    if (!is_integer(dtype))
      throw TypeError(cat(who, ": an index must be an integer, got ", index.str(), " of dtype ", dtype_name(dtype)));
    ndim = std::max(ndim, index.ndim());
  }
  Variables out;
  for (auto& index : indices) out.push_back(padded_to(index, ndim));
  return out;
}

namespace {

// Checks all elements of an index tensor, even if nothing is selected because another one is empty.
void check_positions(const Array& index, int axis, std::int64_t length, std::string_view who) {
  const Array values = index.astype(DType::Int64).contiguous();
  const std::int64_t* v = values.data_as<std::int64_t>();
  const std::int64_t* out = std::find_if(v, v + values.size(), [&](auto at) { return at < -length || at >= length; });
  if (out == v + values.size()) return;
  std::int64_t number = out - v;
  Dims position(std::size_t(values.ndim()));
  for (int k = values.ndim(); k-- > 0; number /= values.shape(k)) position[std::size_t(k)] = number % values.shape(k);
  throw IndexError(cat(who, ": index ", *out, position.empty() ? "" : " at position ",
                       position.empty() ? "" : tuple_text(position), " is out of bounds for axis ", axis, " with size ",
                       length));
}

}  // namespace

void check_known_positions(const std::vector<int>& axes, const Variable& x, std::span<const Variable> indices,
                           std::string_view who) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t length = x.static_shape()[std::size_t(axes[i])];
    if (indices[i].is_constant() && length != unknown_length)
      check_positions(*indices[i].constant(), axes[i], length, who);
  }
}

Dims broadcast_index_shape(std::span<const Variable> indices, std::string_view who) {
  Dims out(std::size_t(indices[0].ndim()), 1);
  for (auto& index : indices)
    for (int k = 0; k < index.ndim(); ++k) {
      if (index.tensor().broadcasts(k)) continue;
      std::int64_t& length = out[std::size_t(k)];
      const std::int64_t own = index.static_shape()[std::size_t(k)];
      if (length == 1)
        length = own;
      else if (length != own && length != unknown_length && own != unknown_length)
        throw IndexError(cat(who, ": shape mismatch: index tensors of lengths ", length, " and ", own,
                             " can't be broadcast together"));
      else
        length = std::max(length, own);
    }
  return out;
}

Shape broadcast_index_lengths(std::span<const Variable> indices, std::span<const Shape> lengths) {
  Shape out(std::size_t(indices[0].ndim()), int64_constant(1));
  for (std::size_t i = 0; i < indices.size(); ++i)
    for (int k = 0; k < indices[i].ndim(); ++k) {
      auto& length = out[std::size_t(k)];
      if (!indices[i].tensor().broadcasts(k) && (known_integer(length) == 1 || !known_integer(length)))
        length = lengths[i][std::size_t(k)];
    }
  return out;
}

Array index_offsets(const std::vector<int>& axes, const Array& x, std::span<const Array> values,
                    std::span<const Variable> indices, std::string_view who) {
  Dims shape(std::size_t(indices[0].ndim()), 1);
  for (std::size_t i = 0; i < indices.size(); ++i)
    for (int k = 0; k < indices[i].ndim(); ++k)
      if (!indices[i].tensor().broadcasts(k)) shape[std::size_t(k)] = values[i].shape(k);
  Array out = Array::zeros(DType::Int64, shape);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    for (int k = 0; k < indices[i].ndim(); ++k)
      if (!indices[i].tensor().broadcasts(k) && values[i].shape(k) != shape[std::size_t(k)])
        throw IndexError(cat(who, ": shape mismatch: index tensors of lengths ", shape[std::size_t(k)], " and ",
                             values[i].shape(k), " can't be broadcast together"));
    const std::int64_t length = x.shape(axes[i]), stride = x.strides()[std::size_t(axes[i])];
    check_positions(values[i], axes[i], length, who);
    const Array own = values[i].astype(DType::Int64).broadcast_to(shape);
    auto* offsets = out.mutable_data_as<std::int64_t>();
    for_each_offset<1>(shape, {own.strides()}, [&](auto& at) {
      std::int64_t index;
      std::memcpy(&index, static_cast<const char*>(own.data()) + at[0], sizeof index);
      *offsets++ += (index < 0 ? index + length : index) * stride;
    });
  }
  return out;
}

namespace {

// Skips nodes that only add dimensions to an index tensor or repeat it.
Variable elements_behind(Variable index) {
  while (dynamic_cast<const DimShuffle*>(index.owner_op()) || dynamic_cast<const RuntimeBroadcast*>(index.owner_op()))
    index = index.owner().input(0);
  return index;
}

// Whether the graph shows that no element is negative: then indices need not be wrapped.
bool never_negative(Variable index) {
  index = elements_behind(index);
  if (kind(index.dtype()) == DTypeKind::UInt && itemsize(index.dtype()) < 8) return true;
  if (index.ndim() == 0) return is_never_negative(index);
  if (nonzero_behind(index).defined()) return true;
  if (!dynamic_cast<const ARange*>(index.owner_op())) return false;
  auto start = known_integer(index.owner().input(0)), step = known_integer(index.owner().input(2));
  return start && step && *start >= 0 && *step > 0;
}

// The node that counts 0, 1, ..., if these are the elements of the index tensor.
Apply counting_node(Variable index) {
  while (dynamic_cast<const DimShuffle*>(index.owner_op())) index = index.owner().input(0);
  if (!dynamic_cast<const ARange*>(index.owner_op())) return {};
  const Apply range = index.owner();
  return known_integer(range.input(0)) == 0 && known_integer(range.input(2)) == 1 ? range : Apply();
}

// Whether the index tensor is 0, 1, ... along the axis that it indexes.
bool counts_along_axis(Lowering& to, const Variable& index, Expr axis_length) {
  const Apply range = counting_node(index);
  return range.defined() && to.same_length(to.lengths_of(range.output())[0], axis_length);
}

// Whether two lengths are the same, or products of the same lengths.
bool same_product(Lowering& to, Expr a, Expr b) {
  if (to.same_length(a, b)) return true;
  if (a.code() != program::Code::mul || b.code() != program::Code::mul) return false;
  for (std::size_t first : {0u, 1u})
    if (same_product(to, a.argument(0), b.argument(first)) && same_product(to, a.argument(1), b.argument(1 - first)))
      return true;
  return false;
}

// Whether the index tensor holds positions of a mask that is as long as the axis: then all are in range.
bool masks_axis(Lowering& to, const Variable& index, Expr axis_length) {
  const Apply positions = nonzero_behind(elements_behind(index));
  if (!positions.defined()) return false;
  Expr size = to.pool().integer(1);
  for (auto& length : to.lengths_of(positions.input(0))) size = size * length;
  return same_product(to, size, axis_length);
}

}  // namespace

TargetRule advanced_source(Lowering& to, const std::vector<int>& axes, const Apply& node, int first,
                           std::string_view who) {
  const auto indices = std::span(node.inputs()).subspan(std::size_t(first));
  std::vector<std::vector<bool>> repeats;
  std::vector<bool> in_range;
  const auto region = advanced_region(to, axes, node, first);
  const AdvancedIndex layout(axes, node.input(0).ndim(), indices[0].ndim());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const int input = first + int(i);
    const Expr length = to.shape_in(0)[std::size_t(axes[i])];
    in_range.push_back(masks_axis(to, indices[i], length));
    if (!in_range.back() && !counts_along_axis(to, indices[i], length))
      to.require_in_range(input, length, cat(who, ": index out of bounds for axis ", axes[i]));
    repeats.emplace_back();
    for (int k = 0; k < indices[i].ndim(); ++k) {
      repeats.back().push_back(indices[i].tensor().broadcasts(k));
      const Expr have = to.shape_in(input)[std::size_t(k)], want = layout.index_part(region)[std::size_t(k)];
      if (!repeats.back().back() && !(have == want))
        to.require(equal(have, want), cat(who, ": the index tensors can't be broadcast together"));
    }
  }
  std::vector<Lowering::Sign> signs;
  for (auto& index : indices)
    signs.push_back(never_negative(index) ? Lowering::Sign::NonNegative : Lowering::Sign::Any);
  return [&to, axes, first, repeats, in_range, signs, layout](Index at) {
    const Index part = layout.index_part(at);
    std::vector<Expr> values;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      std::vector<Expr> position;
      for (std::size_t k = 0; k < part.size(); ++k) position.push_back(repeats[i][k] ? to.pool().integer(0) : part[k]);
      values.push_back(in_range[i]
                           ? to.in(first + int(i), position)
                           : to.index_in(first + int(i), position, to.shape_in(0)[std::size_t(axes[i])], signs[i]));
    }
    return layout.source(at, values);
  };
}

std::optional<std::size_t> counting_index(Lowering& to, const std::vector<int>& axes, const Apply& node, int first) {
  const auto indices = std::span(node.inputs()).subspan(std::size_t(first));
  for (std::size_t i = 0; i < indices.size(); ++i)
    if (indices[i].ndim() == 1 && counts_along_axis(to, indices[i], to.shape_in(0)[std::size_t(axes[i])])) return i;
  return {};
}

std::vector<Expr> advanced_region(Lowering& to, const std::vector<int>& axes, const Apply& node, int first) {
  const auto indices = std::span(node.inputs()).subspan(std::size_t(first));
  std::vector<Expr> index_shape(std::size_t(indices[0].ndim()), to.pool().integer(1));
  for (std::size_t i = 0; i < indices.size(); ++i)
    for (int k = 0; k < indices[i].ndim(); ++k)
      if (!indices[i].tensor().broadcasts(k) &&
          !(index_shape[std::size_t(k)].is_constant() && !index_shape[std::size_t(k)].is_constant(1)))
        index_shape[std::size_t(k)] = to.shape_in(first + int(i))[std::size_t(k)];
  const auto x = to.shape_in(0);
  return AdvancedIndex(axes, node.input(0).ndim(), indices[0].ndim())
      .region(std::vector<Expr>(x.begin(), x.end()), index_shape);
}

AdvancedBatch batched_index(const std::vector<int>& axes, const Batch& batch, int first) {
  const int gained = batch.ndim();
  AdvancedBatch out;
  out.counts = batch.any_from(first);
  if (out.counts) {
    const Shape lengths = batch_lengths(batch);
    const int ndim = gained + batch.node.input(first).ndim();
    for (int axis = 0; axis < gained; ++axis) {
      std::vector<int> order(std::size_t(ndim), new_axis);
      order[std::size_t(axis)] = 0;
      out.axes.push_back(axis);
      out.indices.push_back(dimshuffle(arange(lengths[std::size_t(axis)]), order));
    }
  }
  for (int axis : axes) out.axes.push_back(axis + gained);
  out.indices.insert(out.indices.end(), batch.inputs.begin() + first, batch.inputs.end());
  return out;
}

std::vector<int> region_order(const std::vector<int>& axes, const AdvancedBatch& batch, int x_ndim, int index_ndim,
                              int gained) {
  const AdvancedIndex layout(axes, x_ndim, index_ndim);
  const bool adjacent = axes.back() - axes.front() + 1 == int(axes.size());
  std::vector<int> order;
  auto take = [&](int first, int count) {
    for (int k = 0; k < count; ++k) order.push_back(first + k);
  };
  const int kept = int(layout.kept().size());
  if (batch.counts) {  // batched region: batch, index, kept
    take(0, gained);
    take(gained + index_ndim, layout.position());
    take(gained, index_ndim);
    take(gained + index_ndim + layout.position(), kept - layout.position());
  } else if (adjacent) {
    take(0, gained + index_ndim + kept);
  } else {  // batched region: index, batch, kept
    take(index_ndim, gained);
    take(0, index_ndim);
    take(index_ndim + gained, kept);
  }
  return order;
}

std::string advanced_index_text(const std::vector<int>& axes, std::span<const std::string> indices) {
  std::vector<std::string> entries;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    entries.resize(std::size_t(axes[k]), ":");
    entries.push_back(indices[k]);
  }
  return join(entries, ", ");
}

TensorPositions tensor_positions(TensorLowering& to, const std::vector<int>& axes, const Apply& node, int first,
                                 std::string_view who) {
  TensorBuilder& builder = to.builder();
  const Dims x = to.lengths_in(0);
  const int index_ndim = node.input(first).ndim();
  Dims lengths(std::size_t(index_ndim), 1);
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const int input = first + int(k);
    for (int d = 0; d < index_ndim; ++d) {
      if (node.input(input).tensor().broadcasts(d)) continue;
      std::int64_t& length = lengths[std::size_t(d)];
      const std::int64_t own = to.lengths_in(input)[std::size_t(d)];
      if (length != 1 && length != own)
        throw IndexError(cat(who, ": the indices have lengths ", length, " and ", own, " in dimension ", d));
      length = own;
    }
  }
  Dims column = lengths;
  column.push_back(1);
  TensorValues columns;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const int input = first + int(k);
    const std::int64_t length = x[std::size_t(axes[k])];
    const bool counts = counting_node(node.input(input)).defined() && product(to.lengths_in(input)) <= length;
    const TensorValue positions =
        counts ? builder.convert(to.in(input), DType::Int64) : to.positions(input, axes[k], length, who);
    columns.push_back(builder.reshape(builder.repeat(positions, lengths), column));
  }
  const AdvancedIndex index(axes, int(x.size()), index_ndim);
  TensorPositions out{builder.concatenate(columns, index_ndim), index.region(x, lengths), {}};
  for (int k = 0; k < index.position(); ++k) out.from_gathered.push_back(index_ndim + k);
  for (int k = 0; k < index_ndim; ++k) out.from_gathered.push_back(k);
  for (int k = index.position(); k < int(index.kept().size()); ++k) out.from_gathered.push_back(index_ndim + k);
  return out;
}

}  // namespace bitale
