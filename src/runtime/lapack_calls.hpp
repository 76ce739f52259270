// LAPACK's functions by name, in the library that is open for products, and the memory that calls of them need. Fortran
// passes everything by address, and the lengths of strings after all other arguments.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>

#include "runtime/blas.hpp"
#include "runtime/numbers.hpp"

namespace bitale::runtime {

// Memory for a call; converts to false if the allocation failed. It has at least one element.
template <class T>
class CallMemory {
 public:
  explicit CallMemory(std::int64_t count) : data_(new (std::nothrow) T[std::size_t(count > 0 ? count : 1)]) {}
  explicit operator bool() const { return data_ != nullptr; }
  T* get() const { return data_.get(); }

 private:
  std::unique_ptr<T[]> data_;
};

// A LAPACK function for a type of numbers, looked up once. Where the functions for complex numbers have another name,
// BITALE_LAPACK_SYMBOL_OF takes both: for orgqr and ungqr, it defines a function orgqr.
// NOLINTBEGIN: names are pasted
#define BITALE_LAPACK_SYMBOL_OF(N, name, of_complex, ...)                              \
  static const auto name = ::bitale::runtime::number_symbol<void (*)(__VA_ARGS__), N>( \
      "", ::bitale::runtime::is_complex_number<N> ? #of_complex "_" : #name "_");      \
  if (!name) return ::bitale::runtime::no_lapack
#define BITALE_LAPACK_SYMBOL(N, name, ...) BITALE_LAPACK_SYMBOL_OF(N, name, name, __VA_ARGS__)
// NOLINTEND

// Runs `call(work, length)` with as much memory as the function requests if the length is -1. The request depends on
// the lengths and on modes alone (which `form` numbers), so each thread keeps the last answer of each call. False
// without memory.
template <class N, class Call>
bool with_work(std::int64_t m, std::int64_t n, int form, Call&& call) {
  struct WorkspaceQuery {
    std::int64_t m, n;
    int form, length;
  };
  static thread_local constinit WorkspaceQuery cached{-1, -1, 0, 0};
  if (cached.m != m || cached.n != n || cached.form != form) {
    N size = 0;
    const int query = -1;
    call(&size, &query);
    const double wanted = std::ceil(double(real_part(size)) * 1.0000003);  // it may have been rounded to float32
    if (!(wanted < double(std::numeric_limits<int>::max()))) return false;
    cached = {m, n, form, std::max(1, int(wanted))};
  }
  const int length = cached.length;
  const CallMemory<N> work(length);
  if (!work) return false;
  call(work.get(), &length);
  return true;
}

inline bool lengths_fit(std::int64_t a, std::int64_t b = 0) {
  return a <= std::numeric_limits<int>::max() && b <= std::numeric_limits<int>::max();
}

template <class N>
bool all_finite(const N* x, std::int64_t count) {
  using T = PartOf<N>;
  const T* const parts = reinterpret_cast<const T*>(x);
  T sum = 0;  // nan or infinite if any part is
  for (std::int64_t i = 0; i < count * std::int64_t(sizeof(N) / sizeof(T)); ++i) sum += parts[i] * T(0);
  return sum == T(0);
}
template <class N>
void fill_nan(N* x, std::int64_t count) {
  std::fill(x, x + count, nan_of<N>());
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
