// Elements of the inverse of L U by dense fronts, from the last supernode to the first, and their derivative: each
// takes its part of the inverse from its parent's. With the factors of a front's own rows and columns, L11 and U11, the
// other rows of its columns, L21, and the other columns of its rows, U12, K = L21 L11^-1 and M = U11^-1 U12: the
// inverse, of which Z22 belongs to the others, is -M Z22 beside Z11, -Z22 K below it, and Z11 = U11^-1 L11^-1 + M Z22
// K.
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "runtime/row_matrices.hpp"
#include "runtime/sparse_lu_nodes.hpp"

namespace bitale::runtime {

namespace {

// What the factors say of a supernode: the panels, M, and K^T.
template <class T>
struct LuMultipliers {
  LuMultipliers(const LuPattern& pattern, const UpperRows& upper, const LuNode& node, const T* factors)
      : panels(pattern, upper, node, factors), right(divided(node, panels.upper)), left(divided(node, panels.lower)) {}
  LuPanels<T> panels;
  std::vector<T> right, left;  // [width, height - width]
};

// (L11 U11)^-1 x, or its transpose's, for x[width, count]
template <class T>
void solve_own(const LuNode& node, const LuPanels<T>& panels, bool transposed, std::int64_t count, T* x) {
  const T *first = panels.lower.data(), *last = panels.upper.data();
  if (transposed) std::swap(first, last);
  dense::divide_by_transpose(node.width, count, first, node.height, x, count);
  dense::divide(node.width, count, last, node.height, x, count);
}

// Matrices of the columns and rows of supernodes, which are kept until the last child has taken its part.
template <class T>
class LuDescent {
 public:
  explicit LuDescent(const LuNodes& found) : found_(found), waiting_(found.nodes.size(), 0), of_(found.nodes.size()) {
    for (const LuNode& each : found.nodes)
      if (each.parent >= 0) ++waiting_[std::size_t(each.parent)];
  }
  // The matrix of a supernode, in which the part of the others is known.
  T* begin(std::size_t s) {
    const LuNode& node = found_.nodes[s];
    const std::int64_t w = node.width, m = node.height;
    of_[s].assign(std::size_t(m * m), T(0));
    if (node.parent < 0) return of_[s].data();
    const auto parent = std::size_t(node.parent);
    const std::int64_t *const row = found_.row_in_parent.data() + found_.begin[s], *const column =
                                                                                       found_.column_in_parent.data() +
                                                                                       found_.begin[s];
    for (std::int64_t j = 0; j < m - w; ++j) {
      const T* const from = of_[parent].data() + column[j] * found_.nodes[parent].height;
      for (std::int64_t i = 0; i < m - w; ++i) of_[s][std::size_t((w + j) * m + w + i)] = from[row[i]];
    }
    if (--waiting_[parent] == 0) std::vector<T>().swap(of_[parent]);
    return of_[s].data();
  }
  // The own rows and columns are known, too: these elements are stored, unless `out` is null.
  void end(const LuPattern& pattern, const UpperRows& upper, std::size_t s, T* out) {
    const LuNode& node = found_.nodes[s];
    const std::int64_t m = node.height;
    for (std::int64_t t = 0; out && t < node.width; ++t) {
      const std::int64_t k = node.first + t, diagonal = pattern.bounds[2 * k + 1];
      for (std::int64_t q = t; q < m; ++q) out[diagonal + q - t] = of_[s][std::size_t(t * m + q)];
      for (std::int64_t q = t + 1; q < m; ++q) out[upper.begin(k)[q - t - 1].position] = of_[s][std::size_t(q * m + t)];
    }
    if (waiting_[s] == 0) std::vector<T>().swap(of_[s]);
  }

 private:
  const LuNodes& found_;
  std::vector<std::int64_t> waiting_;
  std::vector<std::vector<T>> of_;
};

// The inverse z of a supernode, given that of the others. Returns (L11 U11)^-1.
template <class T>
std::vector<T> invert_front(const LuNode& node, const LuMultipliers<T>& by, T* z) {
  const std::int64_t w = node.width, m = node.height, below = m - w;
  T *const beside = z + w, *const under = z + w * m, *const others = under + w;
  dense::subtract_plain_product(w, below, below, by.right.data(), below, others, m, beside, m);
  dense::subtract_product_of_rows(below, w, below, others, m, by.left.data(), below, under, m);
  std::vector<T> own(std::size_t(w * w), T(0));
  for (std::int64_t t = 0; t < w; ++t) own[std::size_t(t * w + t)] = 1;
  solve_own(node, by.panels, false, w, own.data());
  for (std::int64_t t = 0; t < w; ++t) std::copy_n(own.data() + t * w, w, z + t * m);
  dense::subtract_product_of_rows(w, w, below, beside, m, by.left.data(), below, z, m);
  return own;
}

// A direction in the rows and columns of a supernode, once it has been brought to the others: E11, E12 - E11 M, and the
// transposed E21 - K E11.
template <class T>
struct LuDirection {
  LuDirection(const LuPattern& pattern, const UpperRows& upper, const LuNode& node, const T* direction)
      : own(std::size_t(node.width * node.width)),
        right(std::size_t(node.width * (node.height - node.width))),
        left(right.size()) {
    const std::int64_t w = node.width, below = node.height - w;
    for (std::int64_t t = 0; t < w; ++t) {
      const std::int64_t k = node.first + t, diagonal = pattern.bounds[2 * k + 1];
      for (std::int64_t q = t; q < node.height; ++q) {
        const T of_column = direction[diagonal + q - t];
        if (q < w)
          own[std::size_t(q * w + t)] = of_column;
        else
          left[std::size_t(t * below + q - w)] = of_column;
        if (q == t) continue;
        (q < w ? own[std::size_t(t * w + q)] : right[std::size_t(t * below + q - w)]) =
            direction[upper.begin(k)[q - t - 1].position];
      }
    }
  }
  // Adds the update of a child, a matrix of its other rows and columns; what belongs to the others here is added to
  // `update`.
  void add(const LuNode& node, std::int64_t count, const std::int64_t* row, const std::int64_t* column, const T* from,
           T* update) {
    const std::int64_t w = node.width, below = node.height - w;
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t j = 0; j < count; ++j) {
        const T value = from[i * count + j];
        if (row[i] < w)
          (column[j] < w ? own[std::size_t(row[i] * w + column[j])]
                         : right[std::size_t(row[i] * below + column[j] - w)]) += value;
        else
          (column[j] < w ? left[std::size_t(column[j] * below + row[i] - w)]
                         : update[(row[i] - w) * below + column[j] - w]) += value;
      }
  }
  std::vector<T> own, right, left;
};

// Of all supernodes: elimination of the direction, of which E22 - E21 M - K (E12 - E11 M) is left for the others.
template <class T>
std::vector<LuDirection<T>> eliminate_direction(const LuPattern& pattern, const UpperRows& upper, const LuNodes& found,
                                                const T* factors, const T* direction) {
  const auto& nodes = found.nodes;
  std::vector<LuDirection<T>> out;
  std::vector<std::vector<std::size_t>> children(nodes.size());
  std::vector<std::vector<T>> updates(nodes.size());
  for (std::size_t s = 0; s < nodes.size(); ++s) {
    const LuNode& node = nodes[s];
    const std::int64_t w = node.width, below = node.height - w;
    LuDirection<T>& own = out.emplace_back(pattern, upper, node, direction);
    updates[s].assign(std::size_t(below * below), T(0));
    T* const update = updates[s].data();
    for (const std::size_t child : children[s]) {
      own.add(node, nodes[child].height - nodes[child].width, found.row_in_parent.data() + found.begin[child],
              found.column_in_parent.data() + found.begin[child], updates[child].data(), update);
      std::vector<T>().swap(updates[child]);
    }
    if (node.parent < 0) continue;
    children[std::size_t(node.parent)].push_back(s);
    const LuMultipliers<T> by(pattern, upper, node, factors);
    dense::subtract_product(below, below, w, own.left.data(), below, by.right.data(), below, update, below);
    dense::subtract_plain_product(w, below, w, own.own.data(), w, by.right.data(), below, own.right.data(), below);
    dense::subtract_product(below, below, w, by.left.data(), below, own.right.data(), below, update, below);
    dense::subtract_product(w, below, w, own.own.data(), w, by.left.data(), below, own.left.data(), below);
  }
  return out;
}

// The derivative of a supernode's inverse z, given that of the others: that of each line of invert_front, with the
// derivatives of M and K, (L11 U11)^-1 (E12 - E11 M) and (E21 - K E11) (L11 U11)^-1.
template <class T>
void differentiate_front(const LuNode& node, const LuMultipliers<T>& by, const T* z, const std::vector<T>& own_inverse,
                         LuDirection<T>& direction, T* derivative) {
  const std::int64_t w = node.width, m = node.height, below = m - w;
  solve_own(node, by.panels, false, below, direction.right.data());
  solve_own(node, by.panels, true, below, direction.left.data());
  solve_own(node, by.panels, false, w, direction.own.data());
  T *const beside = derivative + w, *const under = derivative + w * m, *const others = under + w;
  const T* const z_others = z + w * m + w;
  dense::subtract_plain_product(w, below, below, direction.right.data(), below, z_others, m, beside, m);
  dense::subtract_plain_product(w, below, below, by.right.data(), below, others, m, beside, m);
  dense::subtract_product_of_rows(below, w, below, others, m, by.left.data(), below, under, m);
  dense::subtract_product_of_rows(below, w, below, z_others, m, direction.left.data(), below, under, m);
  dense::subtract_plain_product(w, w, w, direction.own.data(), w, own_inverse.data(), w, derivative, m);
  dense::subtract_product_of_rows(w, w, below, beside, m, by.left.data(), below, derivative, m);
  dense::subtract_product_of_rows(w, w, below, z + w, m, direction.left.data(), below, derivative, m);
}

}  // namespace

template <class T>
bool sparse_lu_selected_inverse_by_fronts(const LuPattern& pattern, const T* factors, T* inverse) {
  if (pattern.size == 0) return true;
  const UpperRows upper(pattern);
  const LuNodes found(pattern, upper);
  if (!found.are_fronts) return false;
  LuDescent<T> descent(found);
  for (std::size_t s = found.nodes.size(); s-- > 0;) {
    const LuNode& node = found.nodes[s];
    invert_front(node, LuMultipliers<T>(pattern, upper, node, factors), descent.begin(s));
    descent.end(pattern, upper, s, inverse);
  }
  return true;
}

template <class T>
bool sparse_lu_inverse_derivative_by_fronts(const LuPattern& pattern, const T* factors, T* direction) {
  if (pattern.size == 0) return true;
  const UpperRows upper(pattern);
  const LuNodes found(pattern, upper);
  if (!found.are_fronts) return false;
  std::vector<LuDirection<T>> directions = eliminate_direction(pattern, upper, found, factors, direction);
  LuDescent<T> descent(found), derivatives(found);
  for (std::size_t s = found.nodes.size(); s-- > 0;) {
    const LuNode& node = found.nodes[s];
    const LuMultipliers<T> by(pattern, upper, node, factors);
    T *const z = descent.begin(s), *const derivative = derivatives.begin(s);
    const std::vector<T> own_inverse = invert_front(node, by, z);
    differentiate_front(node, by, z, own_inverse, directions[s], derivative);
    directions.pop_back();
    descent.end(pattern, upper, s, nullptr);
    derivatives.end(pattern, upper, s, direction);
  }
  return true;
}

#define BITALE_INSTANTIATE(T)                                                            \
  template bool sparse_lu_selected_inverse_by_fronts<T>(const LuPattern&, const T*, T*); \
  template bool sparse_lu_inverse_derivative_by_fronts<T>(const LuPattern&, const T*, T*);
BITALE_INSTANTIATE(float)
BITALE_INSTANTIATE(double)
#undef BITALE_INSTANTIATE

}  // namespace bitale::runtime
