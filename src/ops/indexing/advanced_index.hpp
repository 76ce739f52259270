// Indexing by integer tensors, shared by AdvancedSubtensor and AdvancedIncSubtensor. Some dimensions of x are indexed
// by integer tensors, which broadcast together where a length is statically 1 (`broadcast_indices` repeats others to a
// common length); the other dimensions are kept whole. As in NumPy, the dimensions of the index replace the indexed
// ones if those are adjacent, and come first if they are not.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bitale/ops/lowering.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

class AdvancedIndex {
 public:
  // axes: the indexed dimensions of x, ascending.
  AdvancedIndex(const std::vector<int>& axes, int x_ndim, int index_ndim);

  int index_ndim() const { return index_ndim_; }
  int position() const { return position_; }  // of the first index dimension in the region
  int region_ndim() const { return int(kept_.size()) + index_ndim_; }
  const std::vector<int>& kept() const { return kept_; }  // dimensions of x kept whole

  // Combines a property of the dimensions of x and of the broadcast index into one of the region's dimensions.
  template <class List>
  List region(const List& of_x, const List& of_index) const {
    List out;
    for (int k = 0; k < position_; ++k) out.push_back(of_x[std::size_t(kept_[std::size_t(k)])]);
    for (auto& entry : of_index) out.push_back(entry);
    for (std::size_t k = std::size_t(position_); k < kept_.size(); ++k) out.push_back(of_x[std::size_t(kept_[k])]);
    return out;
  }

  // The index of x for an index of the region, given the values of the index tensors there.
  std::vector<Expr> source(Index at, std::span<const Expr> indices) const;
  // The part of a region index that is an index of the index tensors.
  Index index_part(Index at) const { return at.subspan(std::size_t(position_), std::size_t(index_ndim_)); }

 private:
  std::vector<int> axes_, kept_;
  int index_ndim_, position_;
};

// Returns the index tensors, checked and padded to one rank. Throws a TypeError, or an IndexError when there are more
// axes than dimensions.
Variables checked_index_tensors(const std::vector<int>& axes, const Variable& x, std::span<const Variable> indices,
                                std::string_view who);
// Throws an IndexError for known positions outside a known length: for graphs that users write.
void check_known_positions(const std::vector<int>& axes, const Variable& x, std::span<const Variable> indices,
                           std::string_view who);
// The common static shape and the common lengths of the index tensors.
Dims broadcast_index_shape(std::span<const Variable> indices, std::string_view who);
Shape broadcast_index_lengths(std::span<const Variable> indices, std::span<const Shape> lengths);

// Byte offsets into x of the index positions, as an int64 array of the broadcast shape. Throws an IndexError that names
// index, position, dimension and length.
Array index_offsets(const std::vector<int>& axes, const Array& x, std::span<const Array> values,
                    std::span<const Variable> indices, std::string_view who);

// Emits the range checks and returns the rule from an index of the region to an index of x. Index inputs start at
// `first`.
TargetRule advanced_source(Lowering& to, const std::vector<int>& axes, const Apply& node, int first,
                           std::string_view who);
// The index tensor, if there is one, that is 0, 1, ... along the axis that it indexes: then no element is selected
// twice. To be called after `advanced_source`. Index tensors of one dimension only.
std::optional<std::size_t> counting_index(Lowering& to, const std::vector<int>& axes, const Apply& node, int first);
// The index of a batch of such operations.
struct AdvancedBatch {
  bool counts = false;  // the index is batched: the batch dimensions of x are indexed too, by counting along them
  std::vector<int> axes;
  Variables indices;
};
AdvancedBatch batched_index(const std::vector<int>& axes, const Batch& batch, int first);
// For each dimension of (batch dimensions, original region): the dimension of the batched region that it is.
std::vector<int> region_order(const std::vector<int>& axes, const AdvancedBatch& batch, int x_ndim, int index_ndim,
                              int gained);

// Lengths of the region in native code.
std::vector<Expr> advanced_region(Lowering& to, const std::vector<int>& axes, const Apply& node, int first);

// For lowering to operations on whole tensors: the positions that the index tensors select (checked, of shape [index
// dimensions, one per axis]), and the lengths of the region.
struct TensorPositions {
  TensorValue at;
  Dims region;
  std::vector<int> from_gathered;  // dimension k of the region, as one of (index dimensions, kept dimensions)
};
TensorPositions tensor_positions(TensorLowering& to, const std::vector<int>& axes, const Apply& node, int first,
                                 std::string_view who);

// "rows, :, cols": the index of pprint.
std::string advanced_index_text(const std::vector<int>& axes, std::span<const std::string> indices);

}  // namespace bitale
