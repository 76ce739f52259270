#include "runtime/cholesky_gradient.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "runtime/blas.hpp"
#include "runtime/cblas.hpp"
#include "runtime/rows_of_matrices.hpp"

namespace bitale::runtime {
namespace {

template <class T>
using GemmOfBlocks = void (*)(CblasOrder, CblasTranspose, CblasTranspose, int m, int n, int k, T alpha, const T* A,
                              int lda, const T* B, int ldb, T beta, T* C, int ldc);
template <class T>
using TrsmOfBlocks = void (*)(CblasOrder, CblasSide, CblasTriangle, CblasTranspose, CblasDiagonal, int m, int n,
                              T alpha, const T* a, int lda, T* b, int ldb);

constexpr std::int64_t block_rows = 32;

// From the last row upwards: undoes the contribution of row k and of the column below it. Loops run along rows.
template <class T>
void take_back(std::int64_t n, std::int64_t ld, const T* L, T* G) {
  for (std::int64_t k = n; k-- > 0;) {
    const T* const l = L + k * ld;
    T* const g = G + k * ld;
    const T inverse = T(1) / l[k];
    T diagonal = g[k];
    for (std::int64_t i = k + 1; i < n; ++i) {
      const T below = G[i * ld + k] *= inverse;
      diagonal -= L[i * ld + k] * below;
    }
    diagonal *= inverse;
    for (std::int64_t j = 0; j < k; ++j) g[j] -= diagonal * l[j];
    for (std::int64_t i = k + 1; i < n; ++i) {
      const T below = G[i * ld + k];
      const T* const other = L + i * ld;
      T* const of_other = G + i * ld;
      for (std::int64_t j = 0; j < k; ++j) {
        g[j] -= below * other[j];
        of_other[j] -= below * l[j];
      }
    }
    g[k] = diagonal / 2;
  }
}

template <class T>
void gradient_by_blocks(std::int64_t n, const T* L, T* G) {
  constexpr bool wide = sizeof(T) == sizeof(double);
  static const auto gemm = reinterpret_cast<GemmOfBlocks<T>>(blas_symbol(wide ? "cblas_dgemm" : "cblas_sgemm"));
  static const auto trsm = reinterpret_cast<TrsmOfBlocks<T>>(blas_symbol(wide ? "cblas_dtrsm" : "cblas_strsm"));
  const int ld = int(n);
  T both[block_rows * block_rows];
  for (std::int64_t end = n; end > 0;) {
    const std::int64_t begin = std::max<std::int64_t>(end - block_rows, 0);
    const int size = int(end - begin), before = int(begin), after = int(n - end);
    const T *const R = L + begin * n, *const D = R + begin, *const B = L + end * n, *const C = B + begin;
    T *const of_R = G + begin * n, *const of_D = of_R + begin, *const of_B = G + end * n, *const of_C = of_B + begin;
    if (after > 0) {
      trsm(CblasRowMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, after, size, T(1), D, ld, of_C, ld);
      if (before > 0)
        gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, after, before, size, T(-1), of_C, ld, R, ld, T(1), of_B, ld);
      gemm(CblasRowMajor, CblasTrans, CblasNoTrans, size, size, after, T(-1), of_C, ld, C, ld, T(1), of_D, ld);
    }
    take_back(size, ld, D, of_D);
    if (before > 0) {
      if (after > 0)
        gemm(CblasRowMajor, CblasTrans, CblasNoTrans, size, before, after, T(-1), of_C, ld, B, ld, T(1), of_R, ld);
      for (std::int64_t i = 0; i < size; ++i)
        for (std::int64_t j = 0; j <= i; ++j) {
          both[i * size + j] = of_D[i * n + j] * (i == j ? T(2) : T(1));
          both[j * size + i] = both[i * size + j];
        }
      gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size, before, size, T(-1), both, size, R, ld, T(1), of_R, ld);
    }
    end = begin;
  }
}

}  // namespace

template <class T>
void cholesky_gradient(std::int64_t n, const T* L, T* G) noexcept {
  const bool has_library = sizeof(T) == sizeof(double) ? blas_symbol("cblas_dgemm") && blas_symbol("cblas_dtrsm")
                                                       : blas_symbol("cblas_sgemm") && blas_symbol("cblas_strsm");
  if (n > block_rows && n <= std::numeric_limits<int>::max() && has_library)
    gradient_by_blocks(n, L, G);
  else
    take_back(n, n, L, G);
  for (std::int64_t i = 0; i < n; ++i) std::fill(G + i * n + i + 1, G + (i + 1) * n, T(0));
}

namespace {

constexpr std::string_view cholesky_gradient_c =
    R"(// G[n, n], the cotangent of a Cholesky factor L[n, n], becomes that of the matrix's lower triangle (Murray 2016).
static void bt_cholesky_gradient_$S(int64_t n, const $T *L, $T *G) {
  for (int64_t k = n; k-- > 0;) {
    const $T inverse = 1 / L[k * n + k];
    $T diagonal = G[k * n + k];
    for (int64_t i = k + 1; i < n; ++i) {
      G[i * n + k] *= inverse;
      diagonal -= L[i * n + k] * G[i * n + k];
    }
    diagonal *= inverse;
    for (int64_t j = 0; j < k; ++j) G[k * n + j] -= diagonal * L[k * n + j];
    for (int64_t i = k + 1; i < n; ++i)
      for (int64_t j = 0; j < k; ++j) {
        G[k * n + j] -= G[i * n + k] * L[i * n + j];
        G[i * n + j] -= G[i * n + k] * L[k * n + j];
      }
    G[k * n + k] = diagonal / 2;
    for (int64_t j = k + 1; j < n; ++j) G[k * n + j] = 0;
  }
}
)";

#define ROW(suffix, T)                                                                                      \
  matrix_row<T>(runtime_function("bt_cholesky_gradient_" #suffix, cholesky_gradient<T>, "n L inout:G"), "", \
                {2, {"n", "n", "n"}, 3}, cholesky_gradient_c)

const RegisterFunctions gradient_functions{ROW(f64, double), ROW(f32, float)};

#undef ROW

}  // namespace
}  // namespace bitale::runtime
