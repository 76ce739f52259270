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
  std::vector<std::int64_t> run_ends;  // for each of them, up to which row of the node they are consecutive
  const std::int64_t* relative_rows_of(std::size_t s) const { return relative_rows.data() + bounds[s]; }
};

// Whether column j > 0 has the rows of the column before without its first one.
inline bool continues_supernode(const FactorPattern& pattern, std::int64_t j) {
  const std::int64_t *const own = pattern.rows + pattern.bounds[j], *const before =
                                                                        pattern.rows + pattern.bounds[j - 1];
  const std::int64_t count = pattern.bounds[j + 1] - pattern.bounds[j];
  return own - before == count + 1 && before[1] == j &&
         (pattern.is_known_closed || std::equal(own, own + count, before + 1));
}

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

// Adds rows begin to end of the update of child s, an upper triangle, to the rows of its parent's front that `row_of`
// says. Rows that are consecutive in the parent are added as vectors.
template <class T, class RowOf>
void add_rows(const Fronts& fronts, std::size_t s, std::int64_t begin, std::int64_t end, const T* update,
              RowOf&& row_of) {
  const std::int64_t count = fronts.nodes[s].height - fronts.nodes[s].width;
  const std::int64_t *const rows = fronts.relative_rows_of(s), *const run_ends =
                                                                   fronts.run_ends.data() + fronts.bounds[s];
  for (std::int64_t j = begin; j < end; ++j) {
    T* const to = row_of(rows[j]);
    for (std::int64_t i = j; i < count;) {
      const T* const from = update + j * count + i;
      T* const at = to + rows[i];
      const std::int64_t length = run_ends[i] - i;
      for (std::int64_t k = 0; k < length; ++k) at[k] += from[k];
      i += length;
    }
  }
}

// How many of the rows of child s below its columns are among its parent's columns.
inline std::int64_t rows_in_panel(const Fronts& fronts, std::size_t s) {
  const std::int64_t *const rows = fronts.relative_rows_of(s), *const end = fronts.relative_rows_of(s + 1);
  return std::lower_bound(rows, end, fronts.nodes[std::size_t(fronts.nodes[s].parent)].width) - rows;
}

// Adds the update of child s to its parent's panel [width, height], or to the update of the rows below.
template <class T>
void add_to_panel(const Fronts& fronts, std::size_t s, const T* update, T* panel) {
  const std::int64_t height = fronts.nodes[std::size_t(fronts.nodes[s].parent)].height;
  add_rows(fronts, s, 0, rows_in_panel(fronts, s), update, [&](std::int64_t row) { return panel + row * height; });
}
template <class T>
void add_to_update(const Fronts& fronts, std::size_t s, const T* update, T* of_parent) {
  const Supernode& parent = fronts.nodes[std::size_t(fronts.nodes[s].parent)];
  const std::int64_t width = parent.width, below = parent.height - width;
  add_rows(fronts, s, rows_in_panel(fronts, s), fronts.nodes[s].height - fronts.nodes[s].width, update,
           [&](std::int64_t row) { return of_parent + (row - width) * below - width; });
}

}  // namespace bitale::runtime
