// Groups of columns (or rows) of a sparse matrix that have no nonzero in a common row (column), so that the product of
// the matrix with the sum of a group's unit vectors contains every element of the group. Curtis, Powell and Reid
// (1974), "On the estimation of sparse Jacobian matrices"; rows and columns together: Coleman and Verma (1998), whose
// bidirectional partition is simplified here: the densest rows are computed from the left, the others from the right.
#pragma once

#include <cstdint>
#include <vector>

namespace bitale {

// The possible nonzeros of a matrix: the columns of each row, ascending.
struct SparsityPattern {
  std::int64_t rows = 0, columns = 0;
  std::vector<std::vector<std::int64_t>> columns_of_row;
};

// The group of each element, counted from 0; -1 for elements that need none.
struct Coloring {
  std::vector<std::int64_t> group;
  std::int64_t count = 0;
};

struct MatrixColoring {
  std::vector<bool> from_the_left;  // rows computed by products with row vectors; the others by products with columns
  Coloring rows, columns;
};

// Greedy: few groups in total, but not always the minimum. Deterministic.
MatrixColoring color(const SparsityPattern& pattern);
// All rows from the left.
MatrixColoring color_rows(const SparsityPattern& pattern);

}  // namespace bitale
