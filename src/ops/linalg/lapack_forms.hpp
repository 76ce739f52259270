// Decompositions for a target that works on whole tensors: calls of LAPACK, where the target has it, for the matrices
// in the last two dimensions of a batch, and expressions over their results. Several ops share these forms, both for
// real and for complex matrices: tensors have real or complex elements here, and pairs are converted to complex numbers
// on the way in and back on the way out.
#pragma once

#include <functional>

#include "ops/tensor_lowering.hpp"

namespace bitale {

// Raises NotImplementedError, naming the node, if the target has no LAPACK.
void require_lapack(TensorLowering& to);
// The batch dimensions of x, and a shape from batch dimensions and core dimensions.
Dims batch_of(const TensorValue& x, int core_ndim);
Dims with_core(const Dims& batch, std::initializer_list<std::int64_t> core);

// Pairs [..., 2] as a tensor of complex numbers; and an output, stored as pairs if the value is complex.
TensorValue numbers_of(TensorBuilder& builder, const TensorValue& pairs);
void out_numbers(TensorLowering& to, int output, const TensorValue& value);
// The function applied to x; for complex x, to its real and imaginary parts separately.
TensorValue by_parts(TensorBuilder& builder, const TensorValue& x,
                     const std::function<TensorValue(const TensorValue&)>& function);
struct TensorParts {
  TensorValue real, imaginary;
};
TensorParts parts_of(TensorBuilder& builder, const TensorValue& numbers);
TensorValue zeros_of(TensorBuilder& builder, DType dtype, const Dims& lengths);
// A bool for each element: whether it is not 0.
TensorValue is_nonzero(TensorBuilder& builder, const TensorValue& x);

// A bool for each matrix: whether all its elements are finite. Iterations of LAPACK may not terminate on others.
TensorValue is_finite(TensorBuilder& builder, const TensorValue& matrices);
// x, with any core dimensions, for the batch elements whose bool holds, and `otherwise` for the others.
TensorValue where_batch(TensorBuilder& builder, const TensorValue& holds, const TensorValue& x, double otherwise);
// A triangle of the matrices, with 0 elsewhere.
TensorValue triangle(TensorBuilder& builder, const TensorValue& x, bool lower);
TensorValue identity_matrices(TensorBuilder& builder, DType dtype, const Dims& lengths);
// The call fails if the status that LAPACK returned is not 0.
void require_done(TensorLowering& to, const TensorValue& info, std::string_view failure);

// P A = L U: both factors in one matrix, and the rows that were exchanged, counted from 0.
struct TensorLU {
  TensorValue factors, pivots;
};
TensorLU lu_of(TensorBuilder& builder, const TensorValue& x);
// The result of exchanging row i with row pivots[i], for i = 0, 1, ..., in the sequence 0, 1, ...: int64. `picked`:
// the row at each index afterwards; else the index that each row moved to. Pivots out of range exchange
// nothing.
TensorValue permutation_of(TensorBuilder& builder, const TensorValue& pivots, bool picked);
// Rows `order` of each matrix.
TensorValue take_rows(TensorBuilder& builder, const TensorValue& x, const TensorValue& order);
// The solution of a x = b for matrices b, or of the system with the transpose or the adjoint of a. For a singular
// matrix it fails or is nan, depending on on_error.
TensorValue solve_by_lu(TensorLowering& to, const TensorValue& a, const TensorValue& b, TransposedForm form,
                        std::string_view on_error, std::string_view failure);
// The same for a triangular a.
TensorValue solve_by_substitution(TensorLowering& to, const TensorValue& a, const TensorValue& b,
                                  const TriangularSystem& system, std::string_view on_error, std::string_view failure);
// The Cholesky factor; on_error is that of the op.
TensorValue cholesky_of(TensorLowering& to, const TensorValue& x, bool lower, std::string_view on_error,
                        std::string_view failure);

// The solution of a x + x b = q as one system of all elements of x, since XLA has no trsyl. More than 4096 elements are
// refused.
TensorValue solve_sylvester_by_lu(TensorLowering& to, const TensorValue& a, const TensorValue& b, const TensorValue& q,
                                  std::string_view failure);

// The outputs of the ops of these names, in their order.
TensorValues qr_of(TensorLowering& to, const TensorValue& x, std::string_view mode, bool pivoting);
TensorValues svd_of(TensorLowering& to, const TensorValue& x, bool full_matrices, bool compute_uv,
                    std::string_view failure);
TensorValues eigh_of(TensorLowering& to, const TensorValue& x, bool lower, bool vectors, std::string_view failure);
TensorValues schur_of(TensorLowering& to, const TensorValue& x, std::string_view sort, std::string_view failure);
// The results are complex, also for a real matrix.
TensorValues eig_of(TensorLowering& to, const TensorValue& x, bool vectors, std::string_view failure);

}  // namespace bitale
