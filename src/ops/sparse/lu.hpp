// Ops on LU factors of general sparse matrices. A matrix is its elements in compressed columns and the order in which
// its columns are eliminated; its factors are the outputs of SparseLu (runtime/sparse_lu.hpp), whose lengths depend on
// the values. Ops on factors also get the matrix: derivatives are by its elements, and the factors only save work.
#pragma once

#include "bitale/graph/op.hpp"
#include "bitale/graph/variable.hpp"
#include "bitale/ops/registry.hpp"
#include "runtime/sparse_lu.hpp"

namespace bitale {

struct SparseLuMatrix {
  Variable values, bounds, rows, order;
};
struct SparseLuFactors {
  Variable values, bounds, rows, row_order;
};

// `pattern`: nothing, or the bounds and rows of a symmetric pattern that has the matrix's elements, closed for the
// order of the columns (FactorPattern), for which the factors are computed by fronts where the pivots allow it.
// LinAlgError that names the column in a call where the matrix is singular.
SparseLuFactors sparse_lu(const SparseLuMatrix& a, std::span<const Variable> pattern = {});
// x with A x == b, or A^T x == b.
Variable sparse_lu_solve(const SparseLuMatrix& a, const SparseLuFactors& factors, const Variable& b, bool transposed);
// The sign of the determinant, and the logarithm of its absolute value.
Variables sparse_lu_slogdet(const SparseLuMatrix& a, const SparseLuFactors& factors);
// The sign of the determinant of a complex matrix, its real and its imaginary part. `a` and `factors` are of the real
// form (real_form.hpp), of which elements are A's own: `real` and `imaginary` are the indices of their parts, for A in
// compressed columns that are eliminated in an order.
struct SparseComplexColumns {
  Variable real, imaginary, bounds, rows, order;
};
Variables sparse_lu_complex_sign(const SparseLuMatrix& a, const SparseLuFactors& factors,
                                 const SparseComplexColumns& columns);
// For each stored element (i, j) of the matrix the element (j, i) of its inverse.
Variable sparse_lu_selected_inverse(const SparseLuMatrix& a, const SparseLuFactors& factors);
// Their derivative when the matrix changes in a direction, a vector of elements like the matrix's.
Variable sparse_lu_inverse_derivative(const SparseLuMatrix& a, const SparseLuFactors& factors,
                                      const Variable& direction);

namespace sparse_lu_inputs {

// Whether this permutation is a product of an odd number of exchanges.
bool is_odd(const std::int64_t* order, std::int64_t size);
constexpr int count = 8;  // of the matrix and its factors
Variables of(const SparseLuMatrix& a, const SparseLuFactors& factors);
SparseLuMatrix matrix(const Apply& node);
SparseLuFactors factors(const Apply& node);

// The matrix in a call. ValueError unless it has positions in range and the order is a permutation.
struct Matrix {
  explicit Matrix(std::span<const Array> inputs);
  runtime::SparseColumns columns() const;
  const std::int64_t* column_order() const { return order.data_as<std::int64_t>(); }
  Array values, bounds, rows, order;
};
// Its factors. ValueError unless they have the parts that LuPattern describes.
struct Factors {
  Factors(std::span<const Array> inputs, std::int64_t size);
  runtime::LuPattern pattern() const;
  const std::int64_t* order() const { return row_order.data_as<std::int64_t>(); }
  Array values, bounds, rows, row_order;
};

// A node of the op on a matrix of three rows, with its factors if asked for, a right-hand side of so many dimensions,
// if any, and the pattern of its factors if asked for.
Sample sample(const OpRef& op, bool with_factors, int right_hand_side, bool with_pattern = false);

}  // namespace sparse_lu_inputs
}  // namespace bitale
