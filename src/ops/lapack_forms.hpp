// Decompositions for a target that works on whole tensors: calls of LAPACK, where the target has it, of the matrices in
// the last two dimensions of a batch, and what is made of them. Several ops share these forms, and those of real and of
// complex matrices do: tensors are of real or of complex numbers here, and pairs become numbers on the way in and out.
#pragma once

#include <functional>

#include "ops/tensor_lowering.hpp"

namespace bitale {

// NotImplementedError naming the node where the target has no LAPACK.
void require_lapack(TensorLowering& to);
// The lengths of the batch, and of what each of it has.
Dims batch_of(const TensorValue& x, int core_ndim);
Dims with_core(const Dims& batch, std::initializer_list<std::int64_t> core);

// Pairs [..., 2] as a tensor of complex numbers; an output that is of pairs where the value is of complex numbers.
TensorValue numbers_of(TensorBuilder& builder, const TensorValue& pairs);
void out_numbers(TensorLowering& to, int output, const TensorValue& value);
// The function of x; or of its real and of its imaginary parts, as complex numbers.
TensorValue by_parts(TensorBuilder& builder, const TensorValue& x,
                     const std::function<TensorValue(const TensorValue&)>& function);
struct TensorParts {
  TensorValue real, imaginary;
};
TensorParts parts_of(TensorBuilder& builder, const TensorValue& numbers);
TensorValue zeros_of(TensorBuilder& builder, DType dtype, const Dims& lengths);
// A bool for each: whether it is not 0.
TensorValue is_nonzero(TensorBuilder& builder, const TensorValue& x);

// Of each matrix, a bool: whether all of it is finite. Iterations of LAPACK need not end where it is not.
TensorValue is_finite(TensorBuilder& builder, const TensorValue& matrices);
// x, of any core, where the bool of the batch holds, and `otherwise` elsewhere.
TensorValue where_batch(TensorBuilder& builder, const TensorValue& holds, const TensorValue& x, double otherwise);
// The triangle of matrices, with 0 elsewhere.
TensorValue triangle(TensorBuilder& builder, const TensorValue& x, bool lower);
TensorValue identity_matrices(TensorBuilder& builder, DType dtype, const Dims& lengths);
// The call fails where LAPACK says that it did not get done.
void require_done(TensorLowering& to, const TensorValue& info, std::string_view failure);

// P A = L U: the factors in one, and the rows that were exchanged, from 0.
struct TensorLU {
  TensorValue factors, pivots;
};
TensorLU lu_of(TensorBuilder& builder, const TensorValue& x);
// What exchanges of place i with place pivots[i] make of 0, 1, ...: int64. `picked`: what is there after them; else
// where each went. Pivots beyond the ends exchange nothing.
TensorValue permutation_of(TensorBuilder& builder, const TensorValue& pivots, bool picked);
// Rows `order` of each matrix.
TensorValue take_rows(TensorBuilder& builder, const TensorValue& x, const TensorValue& order);
// The solution of a x = b for matrices b; of the transpose or the adjoint of a. Of a singular matrix it fails or is
// nan, as on_error says.
TensorValue solve_by_lu(TensorLowering& to, const TensorValue& a, const TensorValue& b, TransposedForm form,
                        std::string_view on_error, std::string_view failure);
// The same of a triangular a.
TensorValue solve_by_substitution(TensorLowering& to, const TensorValue& a, const TensorValue& b,
                                  const TriangularSystem& system, std::string_view on_error, std::string_view failure);
// The Cholesky factor; on_error as that of the op.
TensorValue cholesky_of(TensorLowering& to, const TensorValue& x, bool lower, std::string_view on_error,
                        std::string_view failure);

// The solution of a x + x b = q as one system of all elements of x, since XLA has no trsyl. Refused for more than 4096.
TensorValue solve_sylvester_by_lu(TensorLowering& to, const TensorValue& a, const TensorValue& b, const TensorValue& q,
                                  std::string_view failure);

// What the ops of these names give: the outputs, in their order.
TensorValues qr_of(TensorLowering& to, const TensorValue& x, std::string_view mode, bool pivoting);
TensorValues svd_of(TensorLowering& to, const TensorValue& x, bool full_matrices, bool compute_uv,
                    std::string_view failure);
TensorValues eigh_of(TensorLowering& to, const TensorValue& x, bool lower, bool vectors, std::string_view failure);
TensorValues schur_of(TensorLowering& to, const TensorValue& x, std::string_view sort, std::string_view failure);
// Complex numbers, also of a real matrix.
TensorValues eig_of(TensorLowering& to, const TensorValue& x, bool vectors, std::string_view failure);

}  // namespace bitale
