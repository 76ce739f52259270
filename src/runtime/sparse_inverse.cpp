// Elements of the inverse in the pattern of a sparse factor, and their derivative and the factor's. Those of the
// inverse are found from the last supernode to the first: each front takes its part of the inverse from its parent's.
// For the matrix A of a front's own columns and rows, with R1^T R1 the pivot block P, K = P^-1 A12 and the inverse Z of
// the rows below, the inverse is -K Z beside the pivot block, and P^-1 + K Z K^T on it.
#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/row_matrices.hpp"
#include "runtime/sparse_cholesky.hpp"
#include "runtime/supernodes.hpp"

namespace bitale::runtime {

namespace {

constexpr std::int64_t lines_at_once = 48;  // rows or columns of a triangle that are computed together

// What the factor says of a supernode.
template <class T>
class PivotRows {
 public:
  PivotRows(const FactorPattern& pattern, const Supernode& node, const T* factor)
      : width_(node.width), height_(node.height), panel_(std::size_t(node.width * node.height), T(0)) {
    copy_columns(pattern, node, factor, panel_.data());
  }
  std::int64_t below() const { return height_ - width_; }
  // K = R1^-1 R2
  std::vector<T> multipliers() const {
    std::vector<T> out(std::size_t(width_ * below()));
    for (std::int64_t t = 0; t < width_; ++t)
      std::copy(panel_.data() + t * height_ + width_, panel_.data() + (t + 1) * height_, out.data() + t * below());
    dense::divide(width_, below(), panel_.data(), height_, out.data(), below());
    return out;
  }
  // x[width, count] becomes P^-1 x.
  void solve(std::int64_t count, T* x) const {
    dense::divide_by_transpose(width_, count, panel_.data(), height_, x, count);
    dense::divide(width_, count, panel_.data(), height_, x, count);
  }
  T root(std::int64_t t, std::int64_t i) const { return panel_[std::size_t(t * height_ + i)]; }  // of R1
  // x[width, count] becomes R1^-T x.
  void solve_transposed_root(std::int64_t count, T* x) const {
    dense::divide_by_transpose(width_, count, panel_.data(), height_, x, count);
  }
  // -R1^-1
  std::vector<T> negative_root() const {
    std::vector<T> out(std::size_t(width_ * width_), T(0));
    for (std::int64_t t = 0; t < width_; ++t) out[std::size_t(t * width_ + t)] = -1;
    for (std::int64_t begin = 0; begin < width_;
         begin += lines_at_once) {  // of an upper triangle, by blocks of its columns
      const std::int64_t end = std::min(begin + lines_at_once, width_);
      dense::divide(end, end - begin, panel_.data(), height_, out.data() + begin, width_);
    }
    return out;
  }

 private:
  std::int64_t width_, height_;
  std::vector<T> panel_;
};

// Symmetric matrices of the rows of supernodes, which are kept until the last child has taken its part.
template <class T>
class Descent {
 public:
  explicit Descent(const Fronts& fronts) : fronts_(fronts), waiting_(fronts.nodes.size(), 0), of_(fronts.nodes.size()) {
    for (const auto& each : fronts.nodes)
      if (each.parent >= 0) ++waiting_[std::size_t(each.parent)];
  }
  // The front of a supernode, in which the part below its columns is known.
  T* begin(std::size_t s) {
    const Supernode& node = fronts_.nodes[s];
    const std::int64_t w = node.width, m = node.height;
    of_[s].assign(std::size_t(m * m), T(0));
    if (node.parent >= 0) {
      const auto parent = std::size_t(node.parent);
      const std::int64_t* const relative_rows = fronts_.relative_rows_of(s);
      for (std::int64_t j = 0; j < m - w; ++j) {
        const T* const from = of_[parent].data() + relative_rows[j] * fronts_.nodes[parent].height;
        for (std::int64_t i = 0; i < m - w; ++i) of_[s][std::size_t((w + j) * m + w + i)] = from[relative_rows[i]];
      }
      if (--waiting_[parent] == 0) std::vector<T>().swap(of_[parent]);
    }
    return of_[s].data();
  }
  // The rows of its columns are known too.
  void end(const FactorPattern& pattern, std::size_t s, T* values) {
    const std::int64_t w = fronts_.nodes[s].width, m = fronts_.nodes[s].height;
    T* const front = of_[s].data();
    copy_panel(pattern, fronts_.nodes[s], front, values);
    for (std::int64_t t = 0; t < w; ++t)
      for (std::int64_t i = w; i < m; ++i) front[i * m + t] = front[t * m + i];
    if (waiting_[s] == 0) std::vector<T>().swap(of_[s]);
  }

 private:
  const Fronts& fronts_;
  std::vector<std::int64_t> waiting_;
  std::vector<std::vector<T>> of_;
};

// The rows of a supernode's columns in the inverse, given those below.
template <class T>
void invert_front(const Supernode& node, const PivotRows<T>& rows, const std::vector<T>& multipliers, T* front) {
  const std::int64_t w = node.width, m = node.height, below = m - w;
  T* const beside = front + w;
  dense::subtract_plain_product(w, below, below, multipliers.data(), below, front + w * m + w, m, beside, m);
  // (-R1^-1) R1^-T is subtracted, the upper triangle by blocks of rows: those of R1^-1 begin at the diagonal.
  const std::vector<T> root = rows.negative_root();
  std::vector<T> negative(root);
  for (auto& each : negative) each = -each;
  for (std::int64_t begin = 0; begin < w; begin += lines_at_once) {
    const std::int64_t count = std::min(lines_at_once, w - begin), rest = w - begin;
    const std::int64_t at = begin * w + begin;
    T* const own = front + begin * m + begin;
    dense::subtract_product_of_rows(count, rest, rest, root.data() + at, w, negative.data() + at, w, own, m);
    dense::subtract_product_of_rows(count, rest, below, beside + begin * m, m, multipliers.data() + begin * below,
                                    below, own, m);
  }
  for (std::int64_t t = 0; t < w; ++t)
    for (std::int64_t i = t + 1; i < w; ++i) front[i * m + t] = front[t * m + i];
}

// The direction's part of a front, once it has been brought to the rows below: `own` is that of the pivot block,
// `beside` that of the multipliers times the pivot block.
template <class T>
struct Direction {
  Direction(const Supernode& node, const T* panel)
      : own(std::size_t(node.width * node.width)), beside(std::size_t(node.width * (node.height - node.width))) {
    const std::int64_t w = node.width, m = node.height;
    for (std::int64_t t = 0; t < w; ++t) {
      for (std::int64_t i = t; i < w; ++i) own[std::size_t(t * w + i)] = own[std::size_t(i * w + t)] = panel[t * m + i];
      std::copy(panel + t * m + w, panel + (t + 1) * m, beside.data() + t * (m - w));
    }
  }
  std::vector<T> own, beside;
};

// The derivatives of the pivot block P, of A12 and of the rest, E11, E12 and E22, become those of P, of P K and of the
// rest after elimination: dP = E11, P dK = E12 - E11 K, and E22 - (K^T H + H^T K) with H = E12 - E11 K / 2.
template <class T>
void eliminate_direction(const FactorPattern& pattern, const Fronts& fronts, const T* factor, T* direction) {
  const auto& nodes = fronts.nodes;
  std::vector<std::vector<std::size_t>> children(nodes.size());
  std::vector<std::vector<T>> updates(nodes.size());
  for (std::size_t s = 0; s < nodes.size(); ++s) {
    const Supernode& node = nodes[s];
    const std::int64_t w = node.width, m = node.height, below = m - w;
    std::vector<T> panel(std::size_t(w * m), T(0));
    updates[s].assign(std::size_t(below * below), T(0));
    copy_columns(pattern, node, direction, panel.data());
    for (const std::size_t child : children[s]) {
      add_to_panel(fronts, child, updates[child].data(), panel.data());
      add_to_update(fronts, child, updates[child].data(), updates[s].data());
      std::vector<T>().swap(updates[child]);
    }
    const std::vector<T> multipliers = PivotRows<T>(pattern, node, factor).multipliers();
    Direction<T> of(node, panel.data());
    std::vector<T> half(of.beside);
    dense::subtract_plain_product(w, below, w, of.own.data(), w, multipliers.data(), below, of.beside.data(), below);
    for (std::size_t i = 0; i < half.size(); ++i) half[i] = (half[i] + of.beside[i]) / 2;
    dense::subtract_symmetric_product(below, w, multipliers.data(), half.data(), updates[s].data());
    for (std::int64_t t = 0; t < w; ++t)
      std::copy(of.beside.data() + t * below, of.beside.data() + (t + 1) * below, panel.data() + t * m + w);
    copy_panel(pattern, node, panel.data(), direction);
    if (node.parent >= 0) children[std::size_t(node.parent)].push_back(s);
  }
}

}  // namespace

template <class T>
bool sparse_selected_inverse(const FactorPattern& pattern, const T* factor, T* inverse) {
  const Fronts fronts = fronts_of(pattern);
  if (fronts.nodes.empty()) return pattern.size == 0;
  Descent<T> descent(fronts);
  for (std::size_t s = fronts.nodes.size(); s-- > 0;) {
    const PivotRows<T> rows(pattern, fronts.nodes[s], factor);
    invert_front(fronts.nodes[s], rows, rows.multipliers(), descent.begin(s));
    descent.end(pattern, s, inverse);
  }
  return true;
}

// The derivatives of what invert_front computes: -dK Z - K dZ beside the pivot block; on it -P^-1 dP P^-1, and that of
// K Z K^T, which is the part beside it times -K^T.
template <class T>
bool sparse_inverse_derivative(const FactorPattern& pattern, const T* factor, T* direction) {
  const Fronts fronts = fronts_of(pattern);
  if (fronts.nodes.empty()) return pattern.size == 0;
  eliminate_direction(pattern, fronts, factor, direction);
  Descent<T> inverses(fronts), derivatives(fronts);
  std::vector<T> inverse(std::size_t(pattern.bounds[pattern.size]));
  for (std::size_t s = fronts.nodes.size(); s-- > 0;) {
    const Supernode& node = fronts.nodes[s];
    const std::int64_t w = node.width, m = node.height, below = m - w;
    const PivotRows<T> rows(pattern, node, factor);
    const std::vector<T> multipliers = rows.multipliers();
    T *const z = inverses.begin(s), *const dz = derivatives.begin(s);
    invert_front(node, rows, multipliers, z);
    std::vector<T> panel(std::size_t(w * m), T(0));
    copy_columns(pattern, node, direction, panel.data());
    Direction<T> of(node, panel.data());
    std::vector<T>& changes = of.beside;  // dK
    rows.solve(below, changes.data());
    dense::subtract_plain_product(w, below, below, changes.data(), below, z + w * m + w, m, dz + w, m);
    dense::subtract_plain_product(w, below, below, multipliers.data(), below, dz + w * m + w, m, dz + w, m);
    rows.solve(w, of.own.data());
    for (std::int64_t t = 0; t < w; ++t)
      for (std::int64_t i = t + 1; i < w; ++i)
        std::swap(of.own[std::size_t(t * w + i)], of.own[std::size_t(i * w + t)]);
    rows.solve(w, of.own.data());
    for (std::int64_t t = 0; t < w; ++t)
      for (std::int64_t i = 0; i < w; ++i) dz[t * m + i] = -of.own[std::size_t(t * w + i)];
    dense::subtract_product_of_rows(w, w, below, dz + w, m, multipliers.data(), below, dz, m);
    dense::subtract_product_of_rows(w, w, below, z + w, m, changes.data(), below, dz, m);
    inverses.end(pattern, s, inverse.data());
    derivatives.end(pattern, s, direction);
  }
  return true;
}

// With the derivative of the pivot block, dP = dR1^T R1 + R1^T dR1: dR1 R1^-1 is the upper triangle of R1^-T dP R1^-1,
// with half its diagonal, and that of R2 = R1 K is dR1 K + R1^-T (P dK).
template <class T>
bool sparse_cholesky_derivative(const FactorPattern& pattern, const T* factor, T* direction) {
  const Fronts fronts = fronts_of(pattern);
  if (fronts.nodes.empty()) return pattern.size == 0;
  eliminate_direction(pattern, fronts, factor, direction);
  for (const Supernode& node : fronts.nodes) {
    const std::int64_t w = node.width, m = node.height, below = m - w;
    const PivotRows<T> rows(pattern, node, factor);
    const std::vector<T> multipliers = rows.multipliers();
    std::vector<T> panel(std::size_t(w * m), T(0));
    copy_columns(pattern, node, direction, panel.data());
    Direction<T> of(node, panel.data());
    rows.solve_transposed_root(w, of.own.data());
    for (std::int64_t t = 0; t < w; ++t)
      for (std::int64_t i = t + 1; i < w; ++i)
        std::swap(of.own[std::size_t(t * w + i)], of.own[std::size_t(i * w + t)]);
    rows.solve_transposed_root(w, of.own.data());
    std::vector<T> negative(std::size_t(w * w), T(0));  // -dR1
    for (std::int64_t t = 0; t < w; ++t)
      for (std::int64_t k = t; k < w; ++k) {
        const T share = of.own[std::size_t(t * w + k)] / T(k == t ? 2 : 1);
        for (std::int64_t i = k; i < w; ++i) negative[std::size_t(t * w + i)] -= share * rows.root(k, i);
      }
    rows.solve_transposed_root(below, of.beside.data());
    dense::subtract_plain_product(w, below, w, negative.data(), w, multipliers.data(), below, of.beside.data(), below);
    for (std::int64_t t = 0; t < w; ++t) {
      for (std::int64_t i = t; i < w; ++i) panel[std::size_t(t * m + i)] = -negative[std::size_t(t * w + i)];
      std::copy(of.beside.data() + t * below, of.beside.data() + (t + 1) * below, panel.data() + t * m + w);
    }
    copy_panel(pattern, node, panel.data(), direction);
  }
  return true;
}

#define BITALE_INSTANTIATE(T)                                                      \
  template bool sparse_cholesky_derivative<T>(const FactorPattern&, const T*, T*); \
  template bool sparse_selected_inverse<T>(const FactorPattern&, const T*, T*);    \
  template bool sparse_inverse_derivative<T>(const FactorPattern&, const T*, T*);
BITALE_INSTANTIATE(float)
BITALE_INSTANTIATE(double)
#undef BITALE_INSTANTIATE

}  // namespace bitale::runtime
