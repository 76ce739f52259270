// Batches: a node whose inputs have gained dimensions computes many results at once. These dimensions are before the
// inputs' own ones, or behind them. Behind them, elements of a batch are adjacent, so that loops over the batch are the
// innermost ones, without conflicts where elements are gathered or added by index.
#pragma once

#include <span>

#include "bitale/graph/op.hpp"

namespace bitale {

enum class BatchAxis { first, last };

// A node, and batches of its inputs.
struct Batch {
  const Apply& node;
  std::span<const Variable> inputs;
  BatchAxis axis = BatchAxis::first;

  // The number of dimensions that an input has gained.
  int ndim(int input) const;
  // The largest of these numbers. NotImplementedError where two inputs have gained different ones, other than 0.
  int ndim() const;
  // How many dimensions of a batch come before those of its elements.
  int before() const { return axis == BatchAxis::first ? ndim() : 0; }
  // Whether an input from this one on is a batch.
  bool any_from(int first) const;
};

// Interface of ops that compute batches on either side of their dimensions. Other ops have `vectorize` for leading
// dimensions only.
class VectorizesAlong {
 public:
  virtual ~VectorizesAlong() = default;
  // The node whose outputs have the batch dimensions where the inputs have them. An undefined one where there is none
  // for batch.axis, which must be BatchAxis::last then.
  virtual Apply vectorize_along(const Batch& batch) const = 0;
};

}  // namespace bitale
