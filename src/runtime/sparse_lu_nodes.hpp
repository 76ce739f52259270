// Supernodes of LU factors that were computed by fronts: consecutive columns of L with the same rows, and rows of U
// with the same columns, whose other rows and columns are among those of one other supernode.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "runtime/row_matrices.hpp"
#include "runtime/sparse_lu_rows.hpp"

namespace bitale::runtime {

struct LuNode {
  std::int64_t first, width, height, parent;  // parent: -1 for a root
};

// Consecutive columns of L that have the same rows in the same order, and rows of U with the same columns.
class LuNodes {
 public:
  LuNodes(const LuPattern& pattern, const UpperRows& upper) : pattern_(pattern), upper_(upper) {
    std::vector<std::int64_t> node_of(std::size_t(pattern.size), 0);
    for (std::int64_t k = 0; k < pattern.size; ++k) {
      if (k == 0 || !continues(k)) nodes.push_back({k, 0, count(k), -1});
      ++nodes.back().width;
      node_of[std::size_t(k)] = std::int64_t(nodes.size()) - 1;
      if (upper.count(k) != count(k) - 1) return;
    }
    begin.push_back(0);
    std::vector<std::int64_t> row_at(node_of.size(), -1), column_at(node_of.size(), -1);
    // Children in the order of their parents, so that a parent's places are noted once.
    std::vector<std::vector<std::size_t>> children(nodes.size());
    for (std::size_t s = 0; s < nodes.size(); ++s) {
      LuNode& node = nodes[s];
      begin.push_back(begin.back() + node.height - node.width);
      if (node.height == node.width) continue;
      std::int64_t next = pattern.size;
      for (std::int64_t q = node.width; q < node.height; ++q) next = std::min({next, row(node, q), column(node, q)});
      node.parent = node_of[std::size_t(next)];
      if (node.parent <= std::int64_t(s)) return;
      children[std::size_t(node.parent)].push_back(s);
    }
    row_in_parent.resize(std::size_t(begin.back()));
    column_in_parent.resize(std::size_t(begin.back()));
    for (std::size_t parent = 0; parent < nodes.size(); ++parent) {
      const LuNode& above = nodes[parent];
      for (std::int64_t q = 0; q < above.height; ++q) {
        row_at[std::size_t(row(above, q))] = q;
        column_at[std::size_t(column(above, q))] = q;
      }
      for (const std::size_t child : children[parent]) {
        const LuNode& node = nodes[child];
        for (std::int64_t q = node.width; q < node.height; ++q) {
          const std::int64_t i = row_at[std::size_t(row(node, q))], j = column_at[std::size_t(column(node, q))];
          if (i < 0 || i >= above.height || row(above, i) != row(node, q)) return;
          if (j < 0 || j >= above.height || column(above, j) != column(node, q)) return;
          row_in_parent[std::size_t(begin[child] + q - node.width)] = i;
          column_in_parent[std::size_t(begin[child] + q - node.width)] = j;
        }
      }
    }
    are_fronts = true;
  }

  // Row and column q of a node, the own ones first.
  std::int64_t row(const LuNode& node, std::int64_t q) const {
    return pattern_.rows[pattern_.bounds[2 * node.first + 1] + q];
  }
  std::int64_t column(const LuNode& node, std::int64_t q) const {
    return q == 0 ? node.first : upper_.begin(node.first)[q - 1].column;
  }

  std::vector<LuNode> nodes;
  std::vector<std::int64_t> begin, row_in_parent, column_in_parent;  // those of node s begin at begin[s]
  bool are_fronts = false;

 private:
  std::int64_t count(std::int64_t k) const { return pattern_.bounds[2 * k + 2] - pattern_.bounds[2 * k + 1]; }
  bool continues(std::int64_t k) const {
    if (count(k - 1) != count(k) + 1 || upper_.count(k - 1) != upper_.count(k) + 1) return false;
    const std::int64_t *own = pattern_.rows + pattern_.bounds[2 * k + 1],
                       *before = pattern_.rows + pattern_.bounds[2 * k - 1];
    if (!std::equal(own, own + count(k), before + 1) || upper_.begin(k - 1)->column != k) return false;
    return std::equal(upper_.begin(k), upper_.end(k), upper_.begin(k - 1) + 1,
                      [](const auto& a, const auto& b) { return a.column == b.column; });
  }

  const LuPattern pattern_;
  const UpperRows& upper_;
};

// The own rows of U, and of the transposed L with ones on its diagonal: both are upper triangles and what is next to
// them, [width, height].
template <class T>
struct LuPanels {
  LuPanels(const LuPattern& pattern, const UpperRows& rows, const LuNode& node, const T* factors)
      : upper(std::size_t(node.width * node.height), T(0)), lower(upper) {
    for (std::int64_t t = 0; t < node.width; ++t) {
      const std::int64_t k = node.first + t, diagonal = pattern.bounds[2 * k + 1];
      T *const u = upper.data() + t * node.height + t, *const l = lower.data() + t * node.height + t;
      u[0] = factors[diagonal];
      l[0] = 1;
      for (std::int64_t q = 1; q < node.height - t; ++q) {
        u[q] = factors[rows.begin(k)[q - 1].position];
        l[q] = factors[diagonal + q];
      }
    }
  }
  std::vector<T> upper, lower;
};

// R^-1 B, for the upper triangle R of a panel and what is next to it, B: [width, below].
template <class T>
std::vector<T> divided(const LuNode& node, const std::vector<T>& panel) {
  const std::int64_t w = node.width, m = node.height, below = m - w;
  std::vector<T> out(std::size_t(w * below));
  for (std::int64_t t = 0; t < w; ++t)
    std::copy(panel.data() + t * m + w, panel.data() + (t + 1) * m, out.data() + t * below);
  dense::divide(w, below, panel.data(), m, out.data(), below);
  return out;
}

}  // namespace bitale::runtime
