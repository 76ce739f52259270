#include "runtime/fft.hpp"

#include <pocketfft_hdronly.h>
#include <complex>

#include "runtime/rows_of_matrices.hpp"

namespace bitale::runtime {

namespace {

// Calls `transform` with the shape of `count` rows of length n, and with the strides of real rows and of complex rows.
template <class T, class Transform>
std::int64_t transform_rows(std::int64_t count, std::int64_t n, std::int64_t complex_length, Transform&& transform) {
  if (count == 0) return 0;
  const auto strides = [](std::int64_t length, std::size_t size) {
    return pocketfft::stride_t{std::ptrdiff_t(length) * std::ptrdiff_t(size), std::ptrdiff_t(size)};
  };
  try {
    transform(pocketfft::shape_t{std::size_t(count), std::size_t(n)}, strides(n, sizeof(T)),
              strides(complex_length, 2 * sizeof(T)));
  } catch (const std::exception&) {  // std::bad_alloc: lengths and strides are valid
    return no_work_memory;
  }
  return 0;
}

template <class T>
const std::complex<T>* as_complex(const T* x) {
  return reinterpret_cast<const std::complex<T>*>(x);
}
template <class T>
std::complex<T>* as_complex(T* x) {
  return reinterpret_cast<std::complex<T>*>(x);
}

}  // namespace

template <class T>
std::int64_t rfft(std::int64_t count, std::int64_t n, const T* X, T* Y) noexcept {
  return transform_rows<T>(count, n, n / 2 + 1, [&](const auto& shape, const auto& real, const auto& complex) {
    pocketfft::r2c(shape, real, complex, 1, pocketfft::FORWARD, X, as_complex(Y), T(1));
  });
}

template <class T>
std::int64_t irfft(std::int64_t count, std::int64_t n, const T* Y, T* X) noexcept {
  return transform_rows<T>(count, n, n / 2 + 1, [&](const auto& shape, const auto& real, const auto& complex) {
    pocketfft::c2r(shape, complex, real, 1, pocketfft::BACKWARD, as_complex(Y), X, T(1));
  });
}

template <class T>
std::int64_t fft(std::int64_t count, std::int64_t n, std::int64_t inverse, const T* X, T* Y) noexcept {
  return transform_rows<T>(count, n, n, [&](const auto& shape, const auto&, const auto& complex) {
    pocketfft::c2c(shape, complex, complex, {1}, inverse ? pocketfft::BACKWARD : pocketfft::FORWARD, as_complex(X),
                   as_complex(Y), T(1));
  });
}

namespace {

constexpr std::string_view no_fft_memory = "fft: there is not enough memory for the workspace";

#define ROW(T, suffix, name, parameters) \
  matrix_row<T>(runtime_function("bt_" #name "_" #suffix, name<T>, parameters), no_fft_memory, {25, {"count", "n"}})
#define ROWS(T, suffix) \
  ROW(T, suffix, rfft, "count n X Y"), ROW(T, suffix, irfft, "count n Y X"), ROW(T, suffix, fft, "count n inverse X Y")

const RegisterFunctions fft_rows{ROWS(double, f64), ROWS(float, f32)};

#undef ROWS
#undef ROW

}  // namespace
}  // namespace bitale::runtime
