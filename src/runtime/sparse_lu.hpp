// LU factors of general sparse matrices, by partial pivoting: P A Q = L U, where the order of the columns is given and
// that of the rows follows from the values, and with it the pattern of the factors.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/sparse_cholesky.hpp"

namespace bitale::runtime {

constexpr double min_pivot_share = 0.1;  // of its column's largest element, for a pivot that is preferred to it

// A square matrix of compressed columns, whose rows may be in any order.
struct SparseColumns {
  std::int64_t size;
  const std::int64_t* bounds;  // size + 1: where each column begins
  const std::int64_t* rows;
};

// Column k of both factors is stored together: from bounds[2 k] the elements of U above the diagonal, at
// bounds[2 k + 1] that on it, and then those of L below it; the diagonal of L is 1. Rows are in no order within these.
// The pattern is closed: where row i is in column k and row k in column j, row i is in column j.
struct LuPattern {
  std::int64_t size;
  const std::int64_t* bounds;  // 2 size + 1
  const std::int64_t* rows;    // in the order of elimination
};
template <class T>
struct LuFactors {
  LuPattern pattern() const { return {std::int64_t(row_order.size()), bounds.data(), rows.data()}; }
  std::vector<std::int64_t> bounds, rows;
  std::vector<std::int64_t> row_order;  // the matrix's row that was eliminated k-th
  std::vector<T> values;
};

// Computes the factors of a matrix that is eliminated in the given order of columns. Returns 0, or 1 + the number of
// steps after which no pivot other than 0 is left. A column's own row is the pivot where its element is at least a
// tenth of the largest one. A column at a time (Gilbert and Peierls 1988, "Sparse partial pivoting in time proportional
// to arithmetic operations"), with the searches of Eisenstat and Liu (1993, "Exploiting structural symmetry in a sparse
// partial pivoting code"). Also of complex matrices.
template <class T>
std::int64_t sparse_lu(const SparseColumns& a, const T* values, const std::int64_t* column_order, LuFactors<T>& out);
// The same factors by dense fronts, for an order in which a symmetric pattern that has the matrix's elements has this
// factor (Duff and Reid 1984, "The multifrontal solution of unsymmetric sets of linear equations"). The elements of
// both factors in this pattern are stored, also where they are 0. False, with `out` undefined, if the pattern does not
// fit, or if at some step no row of the front has a pivot that is a tenth of its column's largest element.
template <class T>
bool sparse_lu_by_fronts(const SparseColumns& a, const T* values, const std::int64_t* order,
                         const FactorPattern& pattern, LuFactors<T>& out);
// x, of `columns` columns and in the order of elimination, becomes the solution of a system with L U, or with its
// transpose.
template <class T>
void sparse_lu_solve(const LuPattern& pattern, const T* factors, bool transposed, std::int64_t columns, T* x);
// The elements (j, i) of the inverse of L U for the elements (i, j) of the pattern; `inverse` is zeros before (Erisman
// and Tinney 1975, "On computing certain elements of the inverse of a sparse matrix").
template <class T>
void sparse_lu_selected_inverse(const LuPattern& pattern, const T* factors, T* inverse);
// The same by dense fronts. False, with `inverse` as before, unless the rows and columns of each supernode below its
// own ones are among those of one other supernode, as they are in factors that were computed by fronts.
template <class T>
bool sparse_lu_selected_inverse_by_fronts(const LuPattern& pattern, const T* factors, T* inverse);
// The derivative of these elements when the product A of the factors changes in the direction of D, those of
// -A^-1 D A^-1, by the derivatives of elimination and of the inverse. `direction` has the elements (i, j) of D, and
// then the result's (j, i).
template <class T>
void sparse_lu_inverse_derivative(const LuPattern& pattern, const T* factors, T* direction);
// The same by dense fronts. False, with `direction` as before, for other factors, as above.
template <class T>
bool sparse_lu_inverse_derivative_by_fronts(const LuPattern& pattern, const T* factors, T* direction);

}  // namespace bitale::runtime
