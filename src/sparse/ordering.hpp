// Orderings of sparse matrices in which their factors stay sparse, and the patterns of Cholesky factors.
#pragma once

#include <cstdint>
#include <vector>

#include "bitale/sparse/pattern.hpp"

namespace bitale::sparse {

// A symmetric pattern: the neighbours of each row, without the diagonal.
using Neighbours = std::vector<std::vector<std::int64_t>>;
// Of a square matrix's elements together with those of its transpose.
Neighbours neighbours_of(const Elements& elements);

// The rows in the order of elimination: always one that has (nearly) the fewest neighbours that are left. Eigen's
// approximate minimum degree (Amestoy, Davis and Duff 1996).
std::vector<std::int64_t> minimum_degree(const Neighbours& neighbours);

// The columns of a square matrix in an order of elimination by which LU factors stay sparse, whichever rows are pivots:
// Eigen's column approximate minimum degree (Davis, Gilbert, Larimore and Ng 2004). `rows` are compressed columns.
std::vector<std::int64_t> column_minimum_degree(const std::vector<std::int64_t>& bounds,
                                                const std::vector<std::int64_t>& rows);

// Compressed columns of the factor's lower triangle, each with its diagonal element first and its rows ascending.
struct FactorColumns {
  std::vector<std::int64_t> bounds, rows;
};
// `inverse` has the position of each row in the order of elimination.
FactorColumns factor_columns(const Neighbours& neighbours, const std::vector<std::int64_t>& order,
                             const std::vector<std::int64_t>& inverse);
// Stores all elements of a triangle of which two fifths or more are stored: one front by dense kernels is faster than
// many small ones (the table is in docs/sparse.md). Whether it did.
bool make_dense_if_faster(FactorColumns& columns);
std::vector<std::int64_t> inverse_of(const std::vector<std::int64_t>& order);
// Positions as a constant of a graph.
Variable index_vector(const std::vector<std::int64_t>& positions);

}  // namespace bitale::sparse
