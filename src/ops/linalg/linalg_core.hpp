// Shared code of ops on matrices: conversion of their inputs, batching, and names of runtime functions.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "bitale/core/text.hpp"
#include "bitale/graph/structure.hpp"
#include "bitale/ops/linalg.hpp"
#include "bitale/ops/lowering.hpp"
#include "ops/linalg/blockwise.hpp"
#include "ops/linalg/core_lengths.hpp"

namespace bitale {

// An op on single matrices, which Blockwise applies to each matrix of a batch.
class MatrixOp : public Op, public OwnError, public StatesStructure {
 public:
  virtual std::string signature() const = 0;
  // The message of its runtime function, used if the failure does not occur again when the node is re-evaluated.
  virtual std::string_view failure() const = 0;
  Apply vectorize(const Apply&, std::span<const Variable> batched) const override {
    return blockwise(OpRef(this), signature(), batched);
  }
  bool has_linear_pullback() const override { return true; }
  [[noreturn]] void raise() const override { throw LinAlgError(std::string(failure())); }
  // Also used for a Blockwise with this core: the structures of the inputs are then those of the batches' matrices.
  Structure structure(const Apply&, int /*output*/, InputStructures&) const override { return {}; }

 protected:
  virtual const char* who() const = 0;  // the function's name, for errors
  // ShapeErrors for lengths that differ though signature() gives them one name (core_lengths.hpp).
  void check_lengths(std::span<const Array> inputs) const { bitale::check_lengths(who(), signature(), inputs); }
  void check_lengths(std::span<const Variable> inputs) const { bitale::check_lengths(who(), signature(), inputs); }
  void check_lengths(TensorLowering& to) const { bitale::check_lengths(who(), signature(), to); }
  void require_lengths(Lowering& to) const { bitale::require_lengths(who(), signature(), to); }
};

// A decomposition of LAPACK, or a function computed from one: an op whose outputs are written by one runtime function.
class DecompositionOp : public MatrixOp {
 public:
  std::string_view failure() const override;

 protected:
  // The name of its runtime function without prefix and dtype: "svd" for "bt_svd_f64".
  virtual std::string runtime_name() const = 0;
  void call_runtime(Lowering& to, const Apply& node, std::vector<CallArgument> arguments) const;
  // Raises LinAlgError, MemoryError or NotImplementedError unless the status of a runtime function is 0.
  void check(std::int64_t status) const;
  // ShapeError unless the variable has this number of dimensions.
  void require_ndim(const Variable& x, int ndim) const;
  // The inputs in their common dtype, each a matrix. ShapeError for another number of dimensions.
  Variables matrices_of(std::span<const Variable> inputs, int count) const;
};

// Calls the function with a value of the C++ type of a float dtype.
template <class F>
auto with_float(DType dtype, F&& function) {
  return dtype == DType::Float32 ? function(float{}) : function(double{});
}
// The cotangent of an output, zeros if it has none.
Variable cotangent_or_zeros(const Apply& node, std::span<const Variable> cotangents, int output);
// numerator / difference, where difference [n, n] has the differences of eigenvalues or singular values; 0 on the
// diagonal. If two values are equal up to rounding, their vectors have no derivative: the quotient is then 0 if the
// loss uses neither of the two vectors, that is, if `unused`[n] is true for both, and nan otherwise. (A function of the
// matrix as a whole may have a limit there, but cotangents at one point do not determine it.)
Variable over_differences(const Variable& numerator, const Variable& difference, const Variable& unused,
                          const Variable& values);
// 1 / values; for values that are 0 up to rounding: 0 if they are unused, else nan.
Variable reciprocal_of_used(const Variable& values, const Variable& unused);
// A mask of the columns that are all 0.
Variable zero_columns(const Variable& x);
// The matrix, or batch of matrices. ShapeError naming `who` for fewer than two dimensions.
const Variable& require_matrices(const char* who, const Operand& x);
// The symmetric matrix that has the lower triangle of x (or the upper one), mirrored to the other side.
Variable mirrored(const Variable& x, bool lower);
// The transpose of the last two dimensions.
inline Variable t(const Variable& x) { return matrix_transpose(x); }

// The structure of the inverse of a matrix.
Structure inverse_structure(const Structure& a);
// The structure of the product of two matrices.
Structure product_structure(const Structure& a, const Structure& b);

// The dtype in which matrices are computed: float32 if all are float32, otherwise float64.
DType matrix_dtype(std::span<const Variable> inputs);
// The smaller one of two static lengths, unknown if one is.
inline std::int64_t min_length(std::int64_t a, std::int64_t b) {
  return a == unknown_length || b == unknown_length ? unknown_length : std::min(a, b);
}
// The static length of both dimensions of a matrix. ShapeError naming `who` if it is known not to be square.
std::int64_t square_length(std::string_view who, const Variable& x);
// ShapeError naming `who` if the two lengths are known to differ.
void require_square(std::string_view who, const Variable& x);
// The node of an op that solves a system: a square matrix a, and b with b_ndim dimensions, in their common dtype; the
// solution has the shape of b. ShapeError naming `who` for anything else.
Apply system_node(const OpRef& op, std::string_view who, int b_ndim, std::span<const Variable> inputs);
// The value of a function's argument b_ndim: as given, or by default 2 if b has two or more dimensions.
inline int core_ndim(int b_ndim, const Variable& b) { return b_ndim ? b_ndim : std::min(b.ndim(), 2); }
// Checks for "raise" or "nan", the values of the attribute. ValueError naming `who` for another text.
void require_on_error(std::string_view who, std::string_view on_error);
inline const char* on_error_name(OnError on_error) {
  return on_error == OnError::Raise ? "raise" : on_error == OnError::Nan ? "nan" : "raise_if_finite";
}
// LinAlgError with a hint at how to get nan instead.
[[noreturn]] void raise_linalg(std::string message, std::string_view hint);

// A core op applied to single matrices or to batches; the node's first output.
Variable apply_matrices(const Ref<const MatrixOp>& op, std::span<const Variable> inputs);
// bt_name_f32 or bt_name_f64. ValueError if the flag blas__library names something that is not such a library.
std::string lapack_name(std::string_view name, DType dtype);

}  // namespace bitale
