// Discrete Fourier transforms for generated code and for `perform`, by pocketfft. `count` transforms of length n >= 1
// are stored consecutively; complex numbers are pairs of a real and an imaginary part. Nothing is normalized. Each
// function returns 0, or no_work_memory.
#pragma once

#include <cstdint>

#include "runtime/decompositions.hpp"

namespace bitale::runtime {

// For X[count, n], the sums Y[count, n / 2 + 1, 2] of x[j] exp(-2 pi i j k / n), for k up to n / 2.
template <class T>
std::int64_t rfft(std::int64_t count, std::int64_t n, const T* X, T* Y) noexcept;

// For Y[count, n / 2 + 1, 2], the sums X[count, n] of y[k] exp(2 pi i j k / n) over all k, where y[n - k] is the
// conjugate of y[k]. The imaginary parts of y[0], and of y[n / 2] for an even n, are ignored.
template <class T>
std::int64_t irfft(std::int64_t count, std::int64_t n, const T* Y, T* X) noexcept;

// The sums of x[j] exp(-2 pi i j k / n), or with `inverse` of x[j] exp(2 pi i j k / n): X and Y[count, n, 2].
template <class T>
std::int64_t fft(std::int64_t count, std::int64_t n, std::int64_t inverse, const T* X, T* Y) noexcept;

}  // namespace bitale::runtime
