// Products of row-major matrices for functions of matrices, by element type: those of runtime/blas for real numbers,
// and BLAS's gemm, where the library has it, for complex ones.
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>

#include "runtime/blas.hpp"
#include "runtime/lapack_calls.hpp"
#include "runtime/numbers.hpp"

namespace bitale::runtime {

// c[m, n] = op(a)[m, k] op(b)[k, n], where op is the adjoint if `adjoint_a` or `adjoint_b`: the transpose of a real
// matrix. All are contiguous.
inline void product_of(std::int64_t m, std::int64_t n, std::int64_t k, bool adjoint_a, bool adjoint_b, const double* a,
                       const double* b, double* c) {
  bt_gemm_f64(m, n, k, adjoint_a, adjoint_b, a, adjoint_a ? m : k, b, adjoint_b ? k : n, c);
}
inline void product_of(std::int64_t m, std::int64_t n, std::int64_t k, bool adjoint_a, bool adjoint_b, const float* a,
                       const float* b, float* c) {
  bt_gemm_f32(m, n, k, adjoint_a, adjoint_b, a, adjoint_a ? m : k, b, adjoint_b ? k : n, c);
}
template <class T>
void product_of(std::int64_t m, std::int64_t n, std::int64_t k, bool adjoint_a, bool adjoint_b,
                const std::complex<T>* a, const std::complex<T>* b, std::complex<T>* c) {
  using C = std::complex<T>;
  static const auto gemm =
      number_symbol<void (*)(const char*, const char*, const int*, const int*, const int*, const C*, const C*,
                             const int*, const C*, const int*, const C*, C*, const int*, std::size_t, std::size_t),
                    C>("", "gemm_");
  constexpr std::int64_t small_product = 4;
  if (gemm && k > 0 && std::max({m, n, k}) > small_product && lengths_fit(m, n) && lengths_fit(k)) {
    // By columns, the memory has the transposed matrices: c^T = op(b)^T op(a)^T.
    const int rows = int(n), columns = int(m), depth = int(k), lda = int(adjoint_a ? m : k),
              ldb = int(adjoint_b ? k : n);
    const C one = 1, zero = 0;
    if (rows == 0 || columns == 0) return;
    return gemm(adjoint_b ? "C" : "N", adjoint_a ? "C" : "N", &rows, &columns, &depth, &one, b, &ldb, a, &lda, &zero, c,
                &rows, 1, 1);
  }
  for (std::int64_t i = 0; i < m; ++i) {
    std::fill(c + i * n, c + (i + 1) * n, C(0));
    for (std::int64_t l = 0; l < k; ++l) {
      const C left = adjoint_a ? std::conj(a[l * m + i]) : a[i * k + l];
      for (std::int64_t j = 0; j < n; ++j)
        c[i * n + j] += times(left, adjoint_b ? std::conj(b[j * k + l]) : b[l * n + j]);
    }
  }
}

// Several matrices of one size in one piece of memory.
template <class N>
class Matrices {
 public:
  Matrices(std::int64_t count, std::int64_t size) : memory_(count * size), size_(size) {}
  explicit operator bool() const { return bool(memory_); }
  N* operator[](std::int64_t i) const { return memory_.get() + i * size_; }

 private:
  CallMemory<N> memory_;
  std::int64_t size_;
};

}  // namespace bitale::runtime
