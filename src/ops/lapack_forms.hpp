// Decompositions for a target that works on whole tensors: calls of LAPACK, where the target has it, of the matrices in
// the last two dimensions of a batch, and what is made of them. Several ops share these forms.
#pragma once

#include "ops/tensor_lowering.hpp"

namespace bitale {

// NotImplementedError naming the node where the target has no LAPACK.
void require_lapack(TensorLowering& to);
// The lengths of the batch, and of what each of it has.
Dims batch_of(const TensorValue& x, int core_ndim);
Dims with_core(const Dims& batch, std::initializer_list<std::int64_t> core);

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
// The solution of a x = b, or a^T x = b, for matrices b; of a singular matrix, fails or is nan, as on_error says.
TensorValue solve_by_lu(TensorLowering& to, const TensorValue& a, const TensorValue& b, bool transposed,
                        std::string_view on_error, std::string_view failure);

}  // namespace bitale
