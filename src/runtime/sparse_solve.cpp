// Systems with sparse triangular matrices, a supernode at a time: columns with the same rows have these read once, and
// are multiplied as a dense matrix.
#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/row_matrices.hpp"
#include "runtime/sparse_cholesky.hpp"
#include "runtime/supernodes.hpp"

namespace bitale::runtime {

namespace {

// Parents are of no interest.
std::vector<Supernode> supernodes_of(const FactorPattern& pattern) {
  std::vector<Supernode> out;
  for (std::int64_t j = 0; j < pattern.size; ++j) {
    if (j == 0 || !continues_supernode(pattern, j))
      out.push_back({j, 0, pattern.bounds[j + 1] - pattern.bounds[j], -1});
    ++out.back().width;
  }
  return out;
}

// Eliminates rows t to t + count of x[height], or finds them from the rows below, by that many columns together.
template <int count, class T>
void solve_block(const FactorPattern& pattern, const Supernode& node, std::int64_t t, const T* factor, bool transposed,
                 T* x) {
  const T* columns[count];  // column k from the diagonal element of row t + k
  for (int k = 0; k < count; ++k) columns[k] = factor + pattern.bounds[node.first + t + k];
  const std::int64_t below = node.height - t - count;
  T *const own = x + t, *const others = own + count;
  T values[count];
  if (!transposed) {
    for (int k = 0; k < count; ++k) {
      values[k] = own[k] /= columns[k][0];
      for (int i = k + 1; i < count; ++i) own[i] -= columns[k][i - k] * values[k];
    }
    [&]<int... k>(std::integer_sequence<int, k...>) {
      for (std::int64_t q = 0; q < below; ++q) others[q] -= ((columns[k][count - k + q] * values[k]) + ...);
    }
    (std::make_integer_sequence<int, count>());
    return;
  }
  for (T& each : values) each = 0;
  [&]<int... k>(std::integer_sequence<int, k...>) {
    for (std::int64_t q = 0; q < below; ++q) ((values[k] += columns[k][count - k + q] * others[q]), ...);
  }
  (std::make_integer_sequence<int, count>());
  for (int k = count; k-- > 0;) {
    T known = values[k];
    for (int i = k + 1; i < count; ++i) known += columns[k][i - k] * own[i];
    own[k] = (own[k] - known) / columns[k][0];
  }
}

// Of one right-hand side.
template <class T>
void solve_vector(const FactorPattern& pattern, const Supernode& node, const T* factor, bool transposed, T* x,
                  std::vector<T>& rows_of_front) {
  constexpr int block = 4;
  const std::int64_t width = node.width, whole = width - width % block;
  const std::int64_t* const rows = pattern.rows + pattern.bounds[node.first];
  if (std::int64_t(rows_of_front.size()) < node.height) rows_of_front.resize(std::size_t(node.height));
  T* const front = rows_of_front.data();
  std::copy_n(x + node.first, width, front);
  for (std::int64_t q = width; q < node.height; ++q) front[q] = transposed ? x[rows[q]] : T(0);
  const auto by_ones = [&](std::int64_t t) { solve_block<1>(pattern, node, t, factor, transposed, front); };
  const auto by_blocks = [&](std::int64_t t) { solve_block<block>(pattern, node, t, factor, transposed, front); };
  if (!transposed) {
    for (std::int64_t t = 0; t < whole; t += block) by_blocks(t);
    for (std::int64_t t = whole; t < width; ++t) by_ones(t);
    for (std::int64_t q = width; q < node.height; ++q) x[rows[q]] += front[q];
  } else {
    for (std::int64_t t = width; t-- > whole;) by_ones(t);
    for (std::int64_t t = whole; (t -= block) >= 0;) by_blocks(t);
  }
  std::copy_n(front, width, x + node.first);
}

// Of the rows of a matrix [size, columns].
template <class T>
void solve_columns(const FactorPattern& pattern, const Supernode& node, const T* factor, bool transposed,
                   std::int64_t columns, T* x, std::vector<T>& panel, std::vector<T>& others) {
  const std::int64_t width = node.width, height = node.height, below = height - width;
  const std::int64_t* const rows = pattern.rows + pattern.bounds[node.first] + width;
  T* const own = x + node.first * columns;
  panel.resize(std::size_t(width * height));
  copy_columns(pattern, node, factor, panel.data());
  others.assign(std::size_t(below * columns), T(0));
  if (!transposed) {
    dense::divide_by_transpose(width, columns, panel.data(), height, own, columns);
    dense::subtract_product(below, columns, width, panel.data() + width, height, own, columns, others.data(), columns);
    for (std::int64_t q = 0; q < below; ++q)
      for (std::int64_t c = 0; c < columns; ++c) x[rows[q] * columns + c] += others[std::size_t(q * columns + c)];
    return;
  }
  for (std::int64_t q = 0; q < below; ++q) std::copy_n(x + rows[q] * columns, columns, others.begin() + q * columns);
  dense::subtract_plain_product(width, columns, below, panel.data() + width, height, others.data(), columns, own,
                                columns);
  dense::divide(width, columns, panel.data(), height, own, columns);
}

template <class T>
void solve(const FactorPattern& pattern, const std::vector<Supernode>& nodes, const T* factor, bool transposed,
           std::int64_t columns, T* x) {
  std::vector<T> panel, others;
  for (std::size_t step = 0; step < nodes.size(); ++step) {
    const Supernode& node = nodes[transposed ? nodes.size() - 1 - step : step];
    if (columns == 1)
      solve_vector(pattern, node, factor, transposed, x, others);
    else
      solve_columns(pattern, node, factor, transposed, columns, x, panel, others);
  }
}

}  // namespace

template <class T>
void sparse_solve_triangular(const FactorPattern& pattern, const T* factor, bool transposed, std::int64_t columns,
                             T* x) {
  solve(pattern, supernodes_of(pattern), factor, transposed, columns, x);
}

template <class T>
void sparse_solve(const FactorPattern& pattern, const T* factor, std::int64_t columns, T* x) {
  FactorPattern closed = pattern;
  closed.is_known_closed = true;  // as those of factors are
  const std::vector<Supernode> nodes = supernodes_of(closed);
  for (const bool transposed : {false, true}) solve(pattern, nodes, factor, transposed, columns, x);
}

#define BITALE_INSTANTIATE(T)                                                                       \
  template void sparse_solve_triangular<T>(const FactorPattern&, const T*, bool, std::int64_t, T*); \
  template void sparse_solve<T>(const FactorPattern&, const T*, std::int64_t, T*);
BITALE_INSTANTIATE(float)
BITALE_INSTANTIATE(double)
#undef BITALE_INSTANTIATE

}  // namespace bitale::runtime
