// Orderings of symmetric sparse matrices in which their Cholesky factors stay sparse, and the patterns of the factors.
#pragma once

#include <cstdint>
#include <vector>

namespace bitale::sparse {

// A symmetric pattern: the neighbours of each row, without the diagonal.
using Neighbours = std::vector<std::vector<std::int64_t>>;

// The rows in the order of elimination: always one that has (nearly) the fewest neighbours that are left. Eigen's
// approximate minimum degree (Amestoy, Davis and Duff 1996).
std::vector<std::int64_t> minimum_degree(const Neighbours& neighbours);

// Compressed columns of the factor's lower triangle, each with its diagonal element first and its rows ascending.
struct FactorColumns {
  std::vector<std::int64_t> bounds, rows;
};
// `neighbours` are those of the matrix in the order of elimination.
FactorColumns factor_columns(const Neighbours& neighbours);

}  // namespace bitale::sparse
