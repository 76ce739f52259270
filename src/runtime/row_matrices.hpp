// Dense matrices in rows, for the fronts of sparse factors: products and triangular solutions, by the BLAS library
// where they are large enough for a call, and else by loops.
#pragma once

#include <cstdint>

#include "runtime/blas.hpp"
#include "runtime/cblas.hpp"

namespace bitale::runtime::dense {

constexpr std::int64_t worth_a_call = 4096;  // multiplications, from which the library is faster than loops

template <class T>
struct Library {
  void (*gemm)(CblasOrder, CblasTranspose, CblasTranspose, int m, int n, int k, T alpha, const T* a, int lda,
               const T* b, int ldb, T beta, T* c, int ldc);
  void (*syrk)(CblasOrder, CblasTriangle, CblasTranspose, int n, int k, T alpha, const T* a, int lda, T beta, T* c,
               int ldc);
  void (*syr2k)(CblasOrder, CblasTriangle, CblasTranspose, int n, int k, T alpha, const T* a, int lda, const T* b,
                int ldb, T beta, T* c, int ldc);
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
    out.syr2k = reinterpret_cast<decltype(out.syr2k)>(blas_symbol(wide ? "cblas_dsyr2k" : "cblas_ssyr2k"));
    out.trsm = reinterpret_cast<decltype(out.trsm)>(blas_symbol(wide ? "cblas_dtrsm" : "cblas_strsm"));
    return out.gemm && out.syrk && out.syr2k && out.trsm ? out : Library<T>{};
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

// The upper triangle of C[n, n] becomes that of -A[k, n]^T A, for k > 0.
template <class T>
void negative_square(std::int64_t n, std::int64_t k, const T* a, std::int64_t lda, T* c) {
  if (calls_library<T>(n * n * k / 2))
    return library<T>().syrk(CblasRowMajor, CblasUpper, CblasTrans, int(n), int(k), T(-1), a, int(lda), T(0), c,
                             int(n));
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = i; j < n; ++j) c[i * n + j] = -(a[i] * a[j]);
  for (std::int64_t t = 1; t < k; ++t)
    for (std::int64_t i = 0; i < n; ++i) subtract(a + t * lda + i, a[t * lda + i], n - i, c + i * n + i);
}

// The upper triangle of C[n, n] -= A[k, n]^T B[k, n] + B^T A
template <class T>
void subtract_symmetric_product(std::int64_t n, std::int64_t k, const T* a, const T* b, T* c) {
  if (calls_library<T>(n * n * k))
    return library<T>().syr2k(CblasRowMajor, CblasUpper, CblasTrans, int(n), int(k), T(-1), a, int(n), b, int(n), T(1),
                              c, int(n));
  for (std::int64_t t = 0; t < k; ++t)
    for (std::int64_t i = 0; i < n; ++i) {
      subtract(b + t * n + i, a[t * n + i], n - i, c + i * n + i);
      subtract(a + t * n + i, b[t * n + i], n - i, c + i * n + i);
    }
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

// B[w, n] becomes L^-1 B, for a lower triangle L[w, w] with ones on its diagonal, which are not read.
template <class T>
void divide_by_unit_lower(std::int64_t w, std::int64_t n, const T* l, std::int64_t ldl, T* b, std::int64_t ldb) {
  if (calls_library<T>(w * w * n / 2))
    return library<T>().trsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, int(w), int(n), T(1), l,
                             int(ldl), b, int(ldb));
  for (std::int64_t t = 0; t < w; ++t)
    for (std::int64_t s = t + 1; s < w; ++s) subtract(b + t * ldb, l[s * ldl + t], n, b + s * ldb);
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

}  // namespace bitale::runtime::dense
