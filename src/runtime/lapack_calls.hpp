// LAPACK's functions by name, in the library that is open for products, and the memory that calls of them need. Fortran
// passes everything by address, and the lengths of texts behind all else.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>

#include "runtime/blas.hpp"

namespace bitale::runtime {

// Memory for a call; `ok` is false where there is none. It is never zero elements.
template <class T>
class CallMemory {
 public:
  explicit CallMemory(std::int64_t count) : data_(new (std::nothrow) T[std::size_t(count > 0 ? count : 1)]) {}
  explicit operator bool() const { return data_ != nullptr; }
  T* get() const { return data_.get(); }

 private:
  std::unique_ptr<T[]> data_;
};

// A function of LAPACK for float64 ("dgeqrf_") or float32 ("sgeqrf_"), looked up once per name and type.
template <class Function, class T>
Function lapack_symbol(const char* wide, const char* narrow) {
  return reinterpret_cast<Function>(blas_symbol(std::is_same_v<T, double> ? wide : narrow));
}
// NOLINTNEXTLINE: names are pasted
#define BITALE_LAPACK_SYMBOL(T, name, ...)                                                                           \
  static const auto name = ::bitale::runtime::lapack_symbol<void (*)(__VA_ARGS__), T>("d" #name "_", "s" #name "_"); \
  if (!name) return ::bitale::runtime::no_lapack

inline bool lengths_fit(std::int64_t a, std::int64_t b = 0) {
  return a <= std::numeric_limits<int>::max() && b <= std::numeric_limits<int>::max();
}

template <class T>
bool all_finite(const T* x, std::int64_t count) {
  T sum = 0;  // nan or infinite if any element is
  for (std::int64_t i = 0; i < count; ++i) sum += x[i] * T(0);
  return sum == T(0);
}
template <class T>
void fill_nan(T* x, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) x[i] = std::numeric_limits<T>::quiet_NaN();
}

// out[n, m] = in[m, n] transposed.
template <class T>
void transpose_into(std::int64_t m, std::int64_t n, const T* in, T* out) {
  constexpr std::int64_t block = 16;
  for (std::int64_t i0 = 0; i0 < m; i0 += block)
    for (std::int64_t j0 = 0; j0 < n; j0 += block)
      for (std::int64_t i = i0; i < m && i < i0 + block; ++i)
        for (std::int64_t j = j0; j < n && j < j0 + block; ++j) out[j * m + i] = in[i * n + j];
}

}  // namespace bitale::runtime
