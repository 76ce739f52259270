// Orderings of sparse matrices in which their factors stay sparse, and the patterns of factors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bitale::runtime {

// The elements of a square matrix.
struct SparsePositions {
  std::int64_t size;
  std::span<const std::int64_t> rows, columns;
};

// Compressed columns of a factor's lower triangle, each with its diagonal element first and its rows ascending.
struct FactorColumns {
  std::vector<std::int64_t> bounds, rows;
};

// For a symmetric matrix of which these and their transposed elements are stored: the rows in the order of elimination,
// always one that has (nearly) the fewest neighbours that are left (Eigen's approximate minimum degree; Amestoy, Davis
// and Duff 1996), the position of each row in this order, the pattern of the factor, and where it has each element.
// The pattern has all elements of a triangle of which two fifths or more are stored, `dense`: one front by dense
// kernels is faster than many small ones (the table is in docs/sparse.md).
struct CholeskyPlan {
  std::vector<std::int64_t> order, inverse;
  FactorColumns columns;
  std::vector<std::int64_t> slots;
  bool dense;
};
CholeskyPlan cholesky_plan(const SparsePositions& elements);

// The order of the columns for LU factors, and the pattern of factors whose pivots are on the diagonal, or nothing. Of
// a matrix whose elements mostly have a partner on the other side of the diagonal, which is itself not empty, the order
// of a symmetric one; pivots are then mostly on the diagonal. Otherwise one by which factors stay sparse, whichever
// rows are pivots: Eigen's column approximate minimum degree (Davis, Gilbert, Larimore and Ng 2004), and no pattern.
// `with_factors`: whether the pattern is wanted.
struct LuPlan {
  std::vector<std::int64_t> order;
  FactorColumns factors;
};
LuPlan lu_plan(const SparsePositions& elements, bool with_factors);

}  // namespace bitale::runtime
