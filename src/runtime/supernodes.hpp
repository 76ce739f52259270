// Supernodes of a sparse factor: consecutive columns with the same rows. The front of a supernode is a dense matrix of
// their rows (Duff and Reid 1983, "The multifrontal solution of indefinite sparse symmetric linear equations"): the
// first of these are its own columns, the others are among the rows of its parent.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "runtime/sparse_cholesky.hpp"

namespace bitale::runtime {

// Fronts are upper triangles in rows, so that a row is a column of the factor.
struct Supernode {
  std::int64_t first, width, height;  // the first column, the number of columns, and that of the first one's rows
  std::int64_t parent;                // -1 for a root
};

// The supernodes, and where the rows of each one below its columns are in the front of its parent.
struct Fronts {
  std::vector<Supernode> nodes;
  std::vector<std::int64_t> relative_rows, bounds;  // those of node s begin at bounds[s]
  const std::int64_t* relative_rows_of(std::size_t s) const { return relative_rows.data() + bounds[s]; }
};

// No nodes if the pattern is not closed.
Fronts fronts_of(const FactorPattern& pattern);

// The rows [width, height] of the transposed factor, or of another matrix in its pattern, become the panel's.
template <class T>
void copy_columns(const FactorPattern& pattern, const Supernode& node, const T* values, T* panel) {
  for (std::int64_t t = 0; t < node.width; ++t)
    std::copy(values + pattern.bounds[node.first + t], values + pattern.bounds[node.first + t + 1],
              panel + t * node.height + t);
}

template <class T>
void copy_panel(const FactorPattern& pattern, const Supernode& node, const T* panel, T* values) {
  for (std::int64_t t = 0; t < node.width; ++t)
    std::copy(panel + t * node.height + t, panel + (t + 1) * node.height, values + pattern.bounds[node.first + t]);
}

// Adds the update of a child, an upper triangle [count, count], to the panel and the update of its parent.
template <class T>
void add_update(const std::int64_t* relative_rows, std::int64_t count, const T* from, const Supernode& parent, T* panel,
                T* update) {
  const std::int64_t below = parent.height - parent.width;
  for (std::int64_t j = 0; j < count; ++j) {
    const std::int64_t row = relative_rows[j];
    T* const to =
        row < parent.width ? panel + row * parent.height : update + (row - parent.width) * below - parent.width;
    for (std::int64_t i = j; i < count; ++i) to[relative_rows[i]] += from[j * count + i];
  }
}

}  // namespace bitale::runtime
