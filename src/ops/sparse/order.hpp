// Orders of elimination and patterns of factors, for matrices whose pattern only a call knows
// (runtime/sparse_ordering).
#pragma once

#include "bitale/graph/variable.hpp"

namespace bitale {

// Of a symmetric matrix in compressed rows or columns: the rows in the order of elimination, the position of each row
// in this order, the bounds and rows of the factor, and where it has each stored element. `length`: that of the axis
// which is not compressed. ShapeError in a call for a matrix that is not square, ValueError for one without a proper
// pattern.
struct OrderForCholesky {
  Variable order, inverse, bounds, rows, slots;
};
OrderForCholesky sparse_cholesky_order(const Variable& bounds, const Variable& indices, const Variable& length);

// Of a general matrix in compressed columns: the order of the columns, and the bounds and rows of a symmetric pattern
// of factors, or none.
struct OrderForLu {
  Variable order, bounds, rows;
};
OrderForLu sparse_lu_order(const Variable& bounds, const Variable& rows, const Variable& length);

}  // namespace bitale
