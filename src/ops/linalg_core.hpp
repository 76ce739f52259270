// What ops on matrices share: how they take their inputs, batch, and name runtime functions.
#pragma once

#include <string>

#include "bitale/core/text.hpp"
#include "bitale/ops/linalg.hpp"
#include "ops/blockwise.hpp"

namespace bitale {

// An op on single matrices, which Blockwise applies to each of a batch.
class MatrixOp : public Op, public OwnError {
 public:
  virtual std::string signature() const = 0;
  // The message of its runtime function, for a failure that does not come again.
  virtual std::string_view failure() const = 0;
  Apply vectorize(const Apply&, std::span<const Variable> batched) const override {
    return blockwise(OpRef(this), signature(), batched);
  }
  [[noreturn]] void raise() const override { throw LinAlgError(std::string(failure())); }
};

// The common dtype in which matrices are computed: float32, or float64 for all but float32.
DType matrix_dtype(std::span<const Variable> inputs);
// ShapeError naming `who` unless the two lengths are equal, as far as they are known.
void require_square(std::string_view who, const Variable& x);
void require_square(std::string_view who, const Array& x);
// A core op with its inputs, one by one or in batches; the node's first output.
Variable apply_matrices(const Ref<const MatrixOp>& op, std::span<const Variable> inputs);
// name_f32 or name_f64. ValueError where the flag blas__library names what is no such library.
std::string lapack_name(std::string_view name, DType dtype);

}  // namespace bitale
