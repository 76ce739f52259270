// What ops on matrices share: how they take their inputs, batch, and name runtime functions.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "bitale/core/text.hpp"
#include "bitale/graph/structure.hpp"
#include "bitale/ops/linalg.hpp"
#include "ops/blockwise.hpp"
#include "ops/lowering.hpp"

namespace bitale {

// An op on single matrices, which Blockwise applies to each of a batch.
class MatrixOp : public Op, public OwnError, public StatesStructure {
 public:
  virtual std::string signature() const = 0;
  // The message of its runtime function, for a failure that does not come again.
  virtual std::string_view failure() const = 0;
  Apply vectorize(const Apply&, std::span<const Variable> batched) const override {
    return blockwise(OpRef(this), signature(), batched);
  }
  [[noreturn]] void raise() const override { throw LinAlgError(std::string(failure())); }
  // Of the node itself, or of a Blockwise with this core: inputs' structures are those of the batches' matrices.
  Structure structure(const Apply&, int /*output*/, InputStructures&) const override { return {}; }
};

// One of LAPACK's decompositions, or what is made of them: an op whose outputs one runtime function writes.
class DecompositionOp : public MatrixOp {
 public:
  std::string_view failure() const override;

 protected:
  // Of its runtime function, without the dtype: "bt_svd_f64" is "svd".
  virtual std::string runtime_name() const = 0;
  virtual const char* who() const = 0;
  void call_runtime(Lowering& to, const Apply& node, std::vector<CallArgument> arguments) const;
  // LinAlgError, or MemoryError, NotImplementedError, unless the status of a runtime function is 0.
  void check(std::int64_t status) const;
  // ShapeError unless the variable has so many dimensions.
  void require_ndim(const Variable& x, int ndim) const;
  // The inputs in their common dtype, each a matrix. ShapeError for another number of dimensions.
  Variables matrices_of(std::span<const Variable> inputs, int count) const;
  // The only input.
  Variable matrix_of(std::span<const Variable> inputs) const { return matrices_of(inputs, 1)[0]; }
  // The only input, which is square, and its length as far as it is known. ShapeError if it is not square.
  std::pair<Variable, std::int64_t> square_matrix_of(std::span<const Variable> inputs) const;
};

// The function with a value of the C++ type of a float dtype.
template <class F>
auto with_float(DType dtype, F&& function) {
  return dtype == DType::Float32 ? function(float{}) : function(double{});
}
// The cotangent of an output, zeros where it has none.
Variable cotangent_or_zeros(const Apply& node, std::span<const Variable> cotangents, int output);
// numerator / difference, of differences of eigenvalues or singular values [n, n]; 0 on the diagonal. Where values are
// equal to rounding, the vectors have no derivative: the quotient is 0 if the loss uses neither of the two vectors,
// that is, if `unused`[n] is true of both, and else nan. (A function of the matrix as a whole may have a limit there,
// but no cotangents at one point say which.)
Variable over_differences(const Variable& numerator, const Variable& difference, const Variable& unused,
                          const Variable& values);
// 1 / values; of those that are 0 to rounding: 0 where unused, else nan.
Variable reciprocal_of_used(const Variable& values, const Variable& unused);
// Which columns are all 0.
Variable zero_columns(const Variable& x);
// The matrix, or batch of matrices. ShapeError naming `who` for fewer than two dimensions.
const Variable& require_matrices(const char* who, const Operand& x);
// x[..., i, j] with j <= i as the lower triangle of a symmetric matrix (or the other way), the other one mirrored.
Variable mirrored(const Variable& x, bool lower);
// A^T of the last two dimensions.
inline Variable t(const Variable& x) { return matrix_transpose(x); }

// Of the inverse of a matrix.
Structure inverse_structure(const Structure& a);
// Of the product of two matrices.
Structure product_structure(const Structure& a, const Structure& b);

// The common dtype in which matrices are computed: float32, or float64 for all but float32.
DType matrix_dtype(std::span<const Variable> inputs);
// The smaller one of two static lengths, unknown if one is.
inline std::int64_t least_length(std::int64_t a, std::int64_t b) {
  return a == unknown_length || b == unknown_length ? unknown_length : std::min(a, b);
}
// The static length of both dimensions of a matrix. ShapeError naming `who` unless it is square, as far as is known.
std::int64_t square_length(std::string_view who, const Variable& x);
// ShapeError naming `who` unless the two lengths are equal, as far as they are known.
void require_square(std::string_view who, const Variable& x);
void require_square(std::string_view who, const Array& x);
// The node of an op on a system: a square matrix a and b of b_ndim dimensions, in their common dtype; the solution has
// the shape of b. ShapeError naming `who` for anything else.
Apply system_node(const OpRef& op, std::string_view who, int b_ndim, std::span<const Variable> inputs);
// b_ndim of a function's argument: given, or by default 2 if b has two dimensions or more.
inline int core_ndim(int b_ndim, const Variable& b) { return b_ndim ? b_ndim : std::min(b.ndim(), 2); }
// "raise" or "nan", as attributes have it. ValueError naming `who` for another text.
void require_on_error(std::string_view who, std::string_view on_error);
inline const char* on_error_name(OnError on_error) {
  return on_error == OnError::Raise ? "raise" : on_error == OnError::Nan ? "nan" : "raise_if_finite";
}
// LinAlgError with what says how to have nan instead.
[[noreturn]] void raise_linalg(std::string message, std::string_view hint);

// A core op with its inputs, one by one or in batches; the node's first output.
Variable apply_matrices(const Ref<const MatrixOp>& op, std::span<const Variable> inputs);
// name_f32 or name_f64. ValueError where the flag blas__library names what is no such library.
std::string lapack_name(std::string_view name, DType dtype);

}  // namespace bitale
