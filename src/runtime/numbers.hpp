// What loops over matrices and calls of LAPACK need of number types, so that the same code serves real and complex
// numbers: in memory, a complex number is a pair of real ones.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "runtime/blas.hpp"

namespace bitale::runtime {

template <class T>
struct NumberParts {
  using Part = T;
};
template <class T>
struct NumberParts<std::complex<T>> {
  using Part = T;
};
template <class T>
using PartOf = typename NumberParts<T>::Part;
template <class T>
constexpr bool is_complex_number = !std::is_same_v<T, PartOf<T>>;

template <class T>
T conjugate(T x) {
  if constexpr (is_complex_number<T>)
    return std::conj(x);
  else
    return x;
}
template <class T>
PartOf<T> real_part(T x) {
  if constexpr (is_complex_number<T>)
    return x.real();
  else
    return x;
}
// Computed by parts: the operator of std::complex checks for infinities, at several times the cost.
template <class T>
T times(T a, T b) {
  if constexpr (is_complex_number<T>)
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  else
    return a * b;
}
// LAPACK's measure of a pivot.
template <class T>
PartOf<T> size_of_pivot(T x) {
  if constexpr (is_complex_number<T>)
    return std::fabs(x.real()) + std::fabs(x.imag());
  else
    return std::fabs(x);
}
template <class T>
T nan_of() {
  constexpr PartOf<T> nan = std::numeric_limits<PartOf<T>>::quiet_NaN();
  if constexpr (is_complex_number<T>)
    return {nan, nan};
  else
    return nan;
}

template <class T>
constexpr char lapack_letter() {
  constexpr bool wide = std::is_same_v<PartOf<T>, double>;
  return is_complex_number<T> ? (wide ? 'z' : 'c') : (wide ? 'd' : 's');
}
// The function with the name `before`, the letter of the type, `after`: "dpotrf_", "cblas_ztrsm". Null if the library
// has none.
template <class Function, class T>
Function number_symbol(const char* before, const char* after) {
  return reinterpret_cast<Function>(blas_symbol((std::string(before) + lapack_letter<T>() + after).c_str()));
}

template <class T>
const std::complex<T>* as_numbers(const T* pairs) {
  return reinterpret_cast<const std::complex<T>*>(pairs);
}
template <class T>
std::complex<T>* as_numbers(T* pairs) {
  return reinterpret_cast<std::complex<T>*>(pairs);
}

// Turns a function of complex numbers into one of pairs, which is what Programs use: complex<T>* becomes T*.
template <class P>
struct PairsOf {
  using Type = P;
  static P numbers(P x) { return x; }
};
template <class T>
struct PairsOf<const std::complex<T>*> {
  using Type = const T*;
  static const std::complex<T>* numbers(const T* x) { return as_numbers(x); }
};
template <class T>
struct PairsOf<std::complex<T>*> {
  using Type = T*;
  static std::complex<T>* numbers(T* x) { return as_numbers(x); }
};
template <auto function>
struct OverPairs;
template <class... Args, std::int64_t (*function)(Args...) noexcept>
struct OverPairs<function> {
  static std::int64_t call(typename PairsOf<Args>::Type... x) noexcept {
    return function(PairsOf<Args>::numbers(x)...);
  }
};
template <auto function>
inline constexpr auto over_pairs = OverPairs<function>::call;

}  // namespace bitale::runtime
