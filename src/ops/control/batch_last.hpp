// Nodes that compute batches whose dimension is the last one: elements of a batch are adjacent, so that loops over them
// are the innermost ones, without conflicts where elements are gathered or added by index. Ops say next to their
// definition how they do that (RegisterBatchLast).
#pragma once

#include <typeindex>
#include <vector>

#include "bitale/graph/variable.hpp"

namespace bitale {

// A node and the batches of its inputs.
struct Batched {
  const Apply& node;
  const Variables& inputs;

  const Variable& own(std::size_t i) const { return node.inputs()[i]; }
  bool has(std::size_t i) const;
  // Whether none of the inputs from `first` on is a batch.
  bool none_from(std::size_t first) const;
  Variable length() const;
  // Input i with a last dimension, of length 1 where it is not a batch.
  Variable behind(std::size_t i) const;
  // Input i for each element of the batch.
  Variable repeated(std::size_t i) const;
  // `first`, and the inputs from number `rest` on.
  Variables with(Variables first, std::size_t rest) const;
};

// The outputs, or none where the op has no form for these batches.
using BatchLast = Variables (*)(const Batched& batched);

// What a class of ops declares, next to its definition.
struct RegisterBatchLast {
  RegisterBatchLast(std::type_index op, BatchLast form);
};

// Forms that several ops have. Dimensions behind those that the op names are kept whole; only the first input may be a
// batch.
Variables batch_as_further_dimension(const Batched& batched);
// The same where the first two inputs, what is changed and by what, may be batches.
Variables batch_of_updates(const Batched& batched);
// Batches along the first dimension, between exchanges of dimensions. Views need no form of their own for this.
Variables batch_between_exchanges(const Batched& batched);

// The outputs of the node for inputs some of which have gained a last dimension. NotImplementedError for an op that has
// no form for this, such as decompositions of matrices, whose elements must be adjacent.
Variables with_batch_last(const Apply& node, const Variables& inputs);

}  // namespace bitale
