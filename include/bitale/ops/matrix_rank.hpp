// The rank of matrices, and their pseudo-inverse with a tolerance: how many singular values count. Names and arguments
// are NumPy's, and those of the array-API standard.
#pragma once

#include <optional>

#include "bitale/ops/operand.hpp"

namespace bitale {

struct RankOptions {
  std::optional<Operand> tol = {}, rtol = {};  // a number for each matrix, or one for all
};
// How many singular values of each matrix are larger than tol, or than rtol (by default max(m, n) eps) times the
// largest: int64. Of vectors and scalars: whether an element is not 0. ValueError for both tol and rtol.
Variable matrix_rank(const Operand& x, const RankOptions& options = {});
// The pseudo-inverse, for which singular values up to rtol times the largest count as 0. rtol: a number for each
// matrix, or one for all.
Variable pinv(const Operand& x, const Operand& rtol);

}  // namespace bitale
