// Sparse Cholesky factors by dense matrices: the front of each supernode (supernodes.hpp) is the sum of the matrix's
// elements and of the updates of its children. Its own columns are eliminated, and what is left of the other rows is an
// update of its parent.
#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/row_matrices.hpp"
#include "runtime/sparse_cholesky.hpp"
#include "runtime/supernodes.hpp"

namespace bitale::runtime {

namespace {

constexpr std::int64_t block = 48;  // columns that are eliminated together

// Rows begin to end of the panel, which the rows before have been subtracted from: eliminates them. Returns 0, or 1 +
// the first of them whose pivot is not positive.
template <class T>
std::int64_t eliminate_block(T* panel, std::int64_t begin, std::int64_t end, std::int64_t height) {
  for (std::int64_t t = begin; t < end; ++t) {
    T* const row = panel + t * height;
    if (!(row[t] > 0) || !std::isfinite(row[t])) return t + 1;
    row[t] = std::sqrt(row[t]);
    for (std::int64_t i = t + 1; i < end; ++i) row[i] /= row[t];
    for (std::int64_t s = t + 1; s < end; ++s) dense::subtract(row + s, row[s], end - s, panel + s * height + s);
  }
  dense::divide_by_transpose(end - begin, height - end, panel + begin * height + begin, height,
                             panel + begin * height + end, height);
  return 0;
}

// The panel [width, height] of a front becomes rows of the transposed factor.
template <class T>
std::int64_t eliminate(T* panel, std::int64_t width, std::int64_t height) {
  for (std::int64_t begin = 0; begin < width; begin += block) {
    const std::int64_t end = std::min(begin + block, width);
    dense::subtract_product(end - begin, height - begin, begin, panel + begin, height, panel + begin, height,
                            panel + begin * height + begin, height);
    if (const std::int64_t failed = eliminate_block(panel, begin, end, height)) return failed;
  }
  return 0;
}

}  // namespace

template <class T>
std::int64_t sparse_cholesky(const FactorPattern& pattern, T* values) {
  const Fronts fronts = fronts_of(pattern);
  const auto& nodes = fronts.nodes;
  if (nodes.empty()) return pattern.size == 0 ? 0 : -1;
  std::vector<std::vector<std::size_t>> children(nodes.size());
  std::vector<std::vector<T>> updates(nodes.size());
  std::vector<T> panel;
  for (std::size_t s = 0; s < nodes.size(); ++s) {
    const Supernode& node = nodes[s];
    const std::int64_t below = node.height - node.width;
    panel.assign(std::size_t(node.width * node.height), T(0));
    updates[s].assign(std::size_t(below * below), T(0));
    copy_columns(pattern, node, values, panel.data());
    for (const std::size_t child : children[s]) {
      add_update(fronts.relative_rows_of(child), nodes[child].height - nodes[child].width, updates[child].data(), node,
                 panel.data(), updates[s].data());
      std::vector<T>().swap(updates[child]);
    }
    if (const std::int64_t failed = eliminate(panel.data(), node.width, node.height)) return node.first + failed;
    dense::subtract_square(below, node.width, panel.data() + node.width, node.height, updates[s].data());
    copy_panel(pattern, node, panel.data(), values);
    if (node.parent >= 0) children[std::size_t(node.parent)].push_back(s);
  }
  return 0;
}

template std::int64_t sparse_cholesky<float>(const FactorPattern&, float*);
template std::int64_t sparse_cholesky<double>(const FactorPattern&, double*);

}  // namespace bitale::runtime
