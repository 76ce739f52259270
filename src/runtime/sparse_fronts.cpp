// Sparse Cholesky factors and selected inverses by dense matrices (Duff and Reid 1983, "The multifrontal solution of
// indefinite sparse symmetric linear equations"). Consecutive columns with the same rows are a supernode. Its front is
// a dense matrix of their rows: the first of these are its own columns, the others are an update of the front that has
// them, its parent's. The selected inverse goes the other way: each front takes its part of the inverse from its
// parent's.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "runtime/blas.hpp"
#include "runtime/cblas.hpp"
#include "runtime/sparse_cholesky.hpp"

namespace bitale::runtime {

namespace {

constexpr std::int64_t block = 48;           // columns that are eliminated together
constexpr std::int64_t worth_a_call = 4096;  // multiplications, from which the library is faster than loops

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

// Column j - 1 has the rows of column j, and one more above them.
bool have_same_rows(const FactorPattern& pattern, std::int64_t j) {
  const std::int64_t *before = pattern.rows + pattern.bounds[j - 1] + 1, *own = pattern.rows + pattern.bounds[j];
  const std::int64_t height = pattern.bounds[j + 1] - pattern.bounds[j];
  return pattern.rows + pattern.bounds[j] - before == height && std::equal(own, own + height, before);
}

// No nodes if the pattern is not closed.
Fronts fronts_of(const FactorPattern& pattern) {
  const auto [n, bounds, rows] = pattern;
  Fronts out;
  std::vector<std::int64_t> node_of(std::size_t(n), 0);
  for (std::int64_t j = 0; j < n; ++j) {
    if (j > 0 && have_same_rows(pattern, j))
      ++out.nodes.back().width;
    else
      out.nodes.push_back({j, 1, bounds[j + 1] - bounds[j], -1});
    node_of[std::size_t(j)] = std::int64_t(out.nodes.size()) - 1;
  }
  out.bounds.push_back(0);
  for (auto& node : out.nodes) {
    const std::int64_t *row = rows + bounds[node.first] + node.width, *end = rows + bounds[node.first] + node.height;
    if (row != end) {
      node.parent = node_of[std::size_t(*row)];
      const Supernode& parent = out.nodes[std::size_t(node.parent)];
      const std::int64_t* const begin_of_parent = rows + bounds[parent.first];
      const std::int64_t* const end_of_parent = begin_of_parent + parent.height;
      for (const std::int64_t* at = begin_of_parent; row != end; ++row) {
        at = std::lower_bound(at, end_of_parent, *row);
        if (at == end_of_parent || *at != *row) return {};
        out.relative_rows.push_back(at - begin_of_parent);
      }
    }
    out.bounds.push_back(std::int64_t(out.relative_rows.size()));
  }
  return out;
}

// ---- dense matrices in rows -----------------------------------------------------------------------------------------

template <class T>
struct Library {
  void (*gemm)(CblasOrder, CblasTranspose, CblasTranspose, int m, int n, int k, T alpha, const T* a, int lda,
               const T* b, int ldb, T beta, T* c, int ldc);
  void (*syrk)(CblasOrder, CblasTriangle, CblasTranspose, int n, int k, T alpha, const T* a, int lda, T beta, T* c,
               int ldc);
  void (*trsm)(CblasOrder, CblasSide, CblasTriangle, CblasTranspose, CblasDiagonal, int m, int n, T alpha, const T* a,
               int lda, T* b, int ldb);
};

// The functions of the BLAS library, or null pointers.
template <class T>
const Library<T>& library() {
  static const Library<T> found = [] {
    constexpr bool wide = sizeof(T) == sizeof(double);
    Library<T> out{};
    out.gemm = reinterpret_cast<decltype(out.gemm)>(blas_symbol(wide ? "cblas_dgemm" : "cblas_sgemm"));
    out.syrk = reinterpret_cast<decltype(out.syrk)>(blas_symbol(wide ? "cblas_dsyrk" : "cblas_ssyrk"));
    out.trsm = reinterpret_cast<decltype(out.trsm)>(blas_symbol(wide ? "cblas_dtrsm" : "cblas_strsm"));
    return out.gemm && out.syrk && out.trsm ? out : Library<T>{};
  }();
  return found;
}

template <class T>
bool calls_library(std::int64_t multiplications) {
  return multiplications >= worth_a_call && library<T>().gemm != nullptr;
}

// y -= factor * x
template <class T>
void subtract(const T* x, T factor, std::int64_t count, T* y) {
  for (std::int64_t k = 0; k < count; ++k) y[k] -= x[k] * factor;
}

// C[m, n] -= A[k, m]^T B[k, n]
template <class T>
void subtract_product(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, std::int64_t lda, const T* b,
                      std::int64_t ldb, T* c, std::int64_t ldc) {
  if (calls_library<T>(m * n * k))
    return library<T>().gemm(CblasRowMajor, CblasTrans, CblasNoTrans, int(m), int(n), int(k), T(-1), a, int(lda), b,
                             int(ldb), T(1), c, int(ldc));
  for (std::int64_t t = 0; t < k; ++t)
    for (std::int64_t i = 0; i < m; ++i) subtract(b + t * ldb, a[t * lda + i], n, c + i * ldc);
}

// The upper triangle of C[n, n] -= A[k, n]^T A
template <class T>
void subtract_square(std::int64_t n, std::int64_t k, const T* a, std::int64_t lda, T* c) {
  if (calls_library<T>(n * n * k / 2))
    return library<T>().syrk(CblasRowMajor, CblasUpper, CblasTrans, int(n), int(k), T(-1), a, int(lda), T(1), c,
                             int(n));
  for (std::int64_t t = 0; t < k; ++t)
    for (std::int64_t i = 0; i < n; ++i) subtract(a + t * lda + i, a[t * lda + i], n - i, c + i * n + i);
}

// B[w, n] becomes R^-T B, for an upper triangle R[w, w].
template <class T>
void divide_by_transpose(std::int64_t w, std::int64_t n, const T* r, std::int64_t ldr, T* b, std::int64_t ldb) {
  if (calls_library<T>(w * w * n / 2))
    return library<T>().trsm(CblasRowMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, int(w), int(n), T(1), r,
                             int(ldr), b, int(ldb));
  for (std::int64_t t = 0; t < w; ++t) {
    for (std::int64_t i = 0; i < n; ++i) b[t * ldb + i] /= r[t * ldr + t];
    for (std::int64_t s = t + 1; s < w; ++s) subtract(b + t * ldb, r[t * ldr + s], n, b + s * ldb);
  }
}

// B[w, n] becomes R^-1 B.
template <class T>
void divide(std::int64_t w, std::int64_t n, const T* r, std::int64_t ldr, T* b, std::int64_t ldb) {
  if (calls_library<T>(w * w * n / 2))
    return library<T>().trsm(CblasRowMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, int(w), int(n), T(1), r,
                             int(ldr), b, int(ldb));
  for (std::int64_t t = w; t-- > 0;) {
    for (std::int64_t s = t + 1; s < w; ++s) subtract(b + s * ldb, r[t * ldr + s], n, b + t * ldb);
    for (std::int64_t i = 0; i < n; ++i) b[t * ldb + i] /= r[t * ldr + t];
  }
}

// C[m, n] -= A[m, k] B[n, k]^T
template <class T>
void subtract_product_of_rows(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, std::int64_t lda, const T* b,
                              std::int64_t ldb, T* c, std::int64_t ldc) {
  if (calls_library<T>(m * n * k))
    return library<T>().gemm(CblasRowMajor, CblasNoTrans, CblasTrans, int(m), int(n), int(k), T(-1), a, int(lda), b,
                             int(ldb), T(1), c, int(ldc));
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      T sum = 0;
      for (std::int64_t t = 0; t < k; ++t) sum += a[i * lda + t] * b[j * ldb + t];
      c[i * ldc + j] -= sum;
    }
}

// C[m, n] -= A[m, k] B[k, n]
template <class T>
void subtract_plain_product(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, std::int64_t lda, const T* b,
                            std::int64_t ldb, T* c, std::int64_t ldc) {
  if (calls_library<T>(m * n * k))
    return library<T>().gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, int(m), int(n), int(k), T(-1), a, int(lda), b,
                             int(ldb), T(1), c, int(ldc));
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t t = 0; t < k; ++t) subtract(b + t * ldb, a[i * lda + t], n, c + i * ldc);
}

// Rows begin to end of the panel, which the rows before have been subtracted from: eliminates them. Returns 0, or 1 +
// the first of them whose pivot is not positive.
template <class T>
std::int64_t eliminate_block(T* panel, std::int64_t begin, std::int64_t end, std::int64_t height) {
  for (std::int64_t t = begin; t < end; ++t) {
    T* const row = panel + t * height;
    if (!(row[t] > 0) || !std::isfinite(row[t])) return t + 1;
    row[t] = std::sqrt(row[t]);
    for (std::int64_t i = t + 1; i < end; ++i) row[i] /= row[t];
    for (std::int64_t s = t + 1; s < end; ++s) subtract(row + s, row[s], end - s, panel + s * height + s);
  }
  divide_by_transpose(end - begin, height - end, panel + begin * height + begin, height, panel + begin * height + end,
                      height);
  return 0;
}

// The panel [width, height] of a front becomes rows of the transposed factor.
template <class T>
std::int64_t eliminate(T* panel, std::int64_t width, std::int64_t height) {
  for (std::int64_t begin = 0; begin < width; begin += block) {
    const std::int64_t end = std::min(begin + block, width);
    subtract_product(end - begin, height - begin, begin, panel + begin, height, panel + begin, height,
                     panel + begin * height + begin, height);
    if (const std::int64_t failed = eliminate_block(panel, begin, end, height)) return failed;
  }
  return 0;
}

// ---- fronts ---------------------------------------------------------------------------------------------------------

template <class T>
void copy_columns(const FactorPattern& pattern, const Supernode& node, const T* values, T* panel) {
  for (std::int64_t t = 0; t < node.width; ++t)
    std::copy(values + pattern.bounds[node.first + t], values + pattern.bounds[node.first + t + 1],
              panel + t * node.height + t);
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
    subtract_square(below, node.width, panel.data() + node.width, node.height, updates[s].data());
    for (std::int64_t t = 0; t < node.width; ++t)
      std::copy(panel.data() + t * node.height + t, panel.data() + (t + 1) * node.height,
                values + pattern.bounds[node.first + t]);
    if (node.parent >= 0) children[std::size_t(node.parent)].push_back(s);
  }
  return 0;
}

// With the factor's rows R = [R1 R2] of a supernode, K = R1^-1 R2 and the inverse Z of the rows below: the inverse is
// -K Z beside the diagonal block, and R1^-1 R1^-T + K Z K^T on it.
template <class T>
bool sparse_selected_inverse(const FactorPattern& pattern, const T* factor, T* inverse) {
  const Fronts plan = fronts_of(pattern);
  const auto& nodes = plan.nodes;
  if (nodes.empty()) return pattern.size == 0;
  std::vector<std::int64_t> waiting(nodes.size(), 0);  // children that have yet to read the front
  for (const auto& each : nodes)
    if (each.parent >= 0) ++waiting[std::size_t(each.parent)];
  std::vector<std::vector<T>> fronts(nodes.size());
  std::vector<T> panel, below_part, root_part;
  for (std::size_t s = nodes.size(); s-- > 0;) {
    const Supernode& node = nodes[s];
    const std::int64_t w = node.width, m = node.height, below = m - w;
    panel.assign(std::size_t(w * m), T(0));
    copy_columns(pattern, node, factor, panel.data());
    auto& front = fronts[s];
    front.assign(std::size_t(m * m), T(0));
    if (node.parent >= 0) {
      const auto parent = std::size_t(node.parent);
      const std::int64_t* const relative_rows = plan.relative_rows_of(s);
      const T* const from = fronts[parent].data();
      for (std::int64_t j = 0; j < below; ++j)
        for (std::int64_t i = 0; i < below; ++i)
          front[std::size_t((w + j) * m + w + i)] = from[relative_rows[j] * nodes[parent].height + relative_rows[i]];
      if (--waiting[parent] == 0) std::vector<T>().swap(fronts[parent]);
    }
    below_part.assign(std::size_t(w * below), T(0));
    for (std::int64_t t = 0; t < w; ++t)
      std::copy(panel.data() + t * m + w, panel.data() + (t + 1) * m, below_part.data() + t * below);
    divide(w, below, panel.data(), m, below_part.data(), below);
    root_part.assign(std::size_t(w * w), T(0));
    for (std::int64_t t = 0; t < w; ++t) root_part[std::size_t(t * w + t)] = -1;
    divide(w, w, panel.data(), m, root_part.data(), w);
    T* const beside = front.data() + w;
    subtract_plain_product(w, below, below, below_part.data(), below, front.data() + w * m + w, m, beside, m);
    // (-R1^-1) R1^-T is subtracted.
    std::vector<T> negative(root_part);
    for (auto& each : negative) each = -each;
    subtract_product_of_rows(w, w, w, root_part.data(), w, negative.data(), w, front.data(), m);
    subtract_product_of_rows(w, w, below, beside, m, below_part.data(), below, front.data(), m);
    for (std::int64_t t = 0; t < w; ++t) {
      std::copy(front.data() + t * m + t, front.data() + (t + 1) * m, inverse + pattern.bounds[node.first + t]);
      for (std::int64_t i = w; i < m; ++i) front[std::size_t(i * m + t)] = front[std::size_t(t * m + i)];
    }
    if (waiting[s] == 0) std::vector<T>().swap(front);
  }
  return true;
}

#define BITALE_INSTANTIATE(T)                                         \
  template std::int64_t sparse_cholesky<T>(const FactorPattern&, T*); \
  template bool sparse_selected_inverse<T>(const FactorPattern&, const T*, T*);
BITALE_INSTANTIATE(float)
BITALE_INSTANTIATE(double)
#undef BITALE_INSTANTIATE

}  // namespace bitale::runtime
