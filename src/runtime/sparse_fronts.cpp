// Sparse Cholesky factors by dense matrices: the front of each supernode (supernodes.hpp) is the sum of the matrix's
// elements and of the updates of its children. Its own columns are eliminated, and what is left of the other rows is an
// update of its parent.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "runtime/row_matrices.hpp"
#include "runtime/sparse_cholesky.hpp"
#include "runtime/supernodes.hpp"

namespace bitale::runtime {

namespace {

constexpr std::int64_t columns_at_once = 48;  // columns that are eliminated together

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
  for (std::int64_t begin = 0; begin < width; begin += columns_at_once) {
    const std::int64_t end = std::min(begin + columns_at_once, width);
    dense::subtract_product(end - begin, height - begin, begin, panel + begin, height, panel + begin, height,
                            panel + begin * height + begin, height);
    if (const std::int64_t failed = eliminate_block(panel, begin, end, height)) return failed;
  }
  return 0;
}

}  // namespace

template <class T>
std::int64_t sparse_cholesky(const FactorPattern& pattern, const T* triangle, T* factor) {
  const Fronts fronts = fronts_of(pattern);
  const auto& nodes = fronts.nodes;
  if (nodes.empty()) return pattern.size == 0 ? 0 : -1;
  std::vector<std::vector<std::size_t>> children(nodes.size());
  std::vector<std::unique_ptr<T[]>> updates(nodes.size());
  std::vector<T> panel;  // Below its diagonal is what an earlier front left, which nothing reads.
  for (std::size_t s = 0; s < nodes.size(); ++s) {
    const Supernode& node = nodes[s];
    const std::int64_t below = node.height - node.width;
    if (panel.size() < std::size_t(node.width * node.height)) panel.resize(std::size_t(node.width * node.height));
    copy_columns(pattern, node, triangle, panel.data());
    for (const std::size_t child : children[s]) add_to_panel(fronts, child, updates[child].get(), panel.data());
    if (const std::int64_t failed = eliminate(panel.data(), node.width, node.height)) return node.first + failed;
    updates[s] = std::make_unique_for_overwrite<T[]>(std::size_t(below * below));
    dense::negative_square(below, node.width, panel.data() + node.width, node.height, updates[s].get());
    for (const std::size_t child : children[s]) {
      add_to_update(fronts, child, updates[child].get(), updates[s].get());
      updates[child].reset();
    }
    copy_panel(pattern, node, panel.data(), factor);
    if (node.parent >= 0) children[std::size_t(node.parent)].push_back(s);
  }
  return 0;
}

template std::int64_t sparse_cholesky<float>(const FactorPattern&, const float*, float*);
template std::int64_t sparse_cholesky<double>(const FactorPattern&, const double*, double*);

}  // namespace bitale::runtime
