// Basic indexing, shared by Subtensor and IncSubtensor: the part of a tensor that a basic index selects, as a static
// shape, as lengths, as a view of an Array, and as a map of Program indices.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/indexing/slice_arithmetic.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

// Converts the index inputs to int64 scalars, constants where known. Throws a TypeError for other inputs and a
// ValueError for a step of 0. `inputs` are those after x (and y).
Variables checked_index_inputs(const IndexPattern& pattern, const Variable& x, std::span<const Variable> inputs,
                               std::string_view who);
// Throws an IndexError for a known integer outside a known length: for graphs that users write. In nodes that rewriting
// creates, such an integer makes the call fail instead.
void check_known_integers(const IndexPattern& pattern, const Variable& x, std::span<const Variable> indices,
                          std::string_view who);
Dims indexed_static_shape(const IndexPattern& pattern, const Dims& shape, std::span<const Variable> indices);
Shape indexed_lengths(const IndexPattern& pattern, const Shape& shape, std::span<const Variable> indices);
// Throws an IndexError that names index, dimension and length, or a ValueError for a step of 0.
Array indexed_view(const IndexPattern& pattern, const Array& x, std::span<const Array> indices, std::string_view who);

// The index of a batch of tensors x (batch dimensions in front) when integers of the index are batched themselves: each
// batch dimension gets an index that counts along it. The result then has the batch dimensions first.
std::vector<IndexItem> batched_items(const IndexPattern& pattern, const Batch& batch, int first, const Variable& x);

// The selection in native code. Index inputs of the node start at `first`.
class BasicSelection {
 public:
  // Adds the run-time checks to `to`.
  BasicSelection(Lowering& to, const IndexPattern& pattern, int first, std::string_view who);
  std::vector<Expr> domain() const;          // lengths of the selection
  std::vector<Expr> source(Index at) const;  // the index in x of element `at` of the selection

 private:
  std::vector<DimRange<Expr>> ranges_;
};

// The selection from a tensor whose lengths are known. Integers may depend on values, bounds of slices may not. Index
// inputs of the node start at `first`.
class TensorSelection {
 public:
  // Adds the checks to `to`; throws an IndexError for a known integer out of bounds.
  TensorSelection(TensorLowering& to, const IndexPattern& pattern, int first, std::string_view who);
  Dims lengths() const;  // of the selection
  TensorValue of(TensorBuilder& builder, const TensorValue& x) const;
  // x with the selection replaced by `y`, which has the selection's lengths, or with `y` added to it.
  TensorValue updated(TensorBuilder& builder, const TensorValue& x, const TensorValue& y, bool set) const;

 private:
  Dims whole_lengths() const;  // including dimensions that integers drop
  bool is_dynamic() const;
  std::vector<TensorValue> starts(TensorBuilder& builder) const;
  TensorValue taken(TensorBuilder& builder, const TensorValue& x) const;
  TensorValue put(TensorBuilder& builder, const TensorValue& x, const TensorValue& y, bool set) const;

  std::vector<DimRange<std::int64_t>> ranges_;
  std::vector<std::optional<TensorValue>> positions_;  // of integers that depend on values
  Dims part_;                                          // lengths of the part of x that these select
};

}  // namespace bitale
