// Groups of columns (or rows) of a sparse matrix that have no nonzero in a common row (column), so that the product of
// the matrix with the sum of a group's unit vectors shows every element of the group. Curtis, Powell and Reid (1974),
// "On the estimation of sparse Jacobian matrices"; rows and columns together: Coleman and Verma (1998), whose
// bidirectional partition is simplified here: the densest rows are found from the left, the others from the right.
#pragma once

#include <cstdint>
#include <vector>

namespace bitale {

// Where a matrix may be other than zero: the columns of each row, ascending.
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
  std::vector<bool> from_the_left;  // rows that products with row vectors find; products with columns find the others
  Coloring rows, columns;
};

// Few groups in all: greedy, so not always the fewest. The same for the same pattern.
MatrixColoring color(const SparsityPattern& pattern);

}  // namespace bitale
