#include "runtime/complex_decompositions.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

#include "runtime/decompositions.hpp"
#include "runtime/lapack_calls.hpp"
#include "runtime/numbers.hpp"
#include "runtime/rows_of_matrices.hpp"

namespace bitale::runtime {

namespace {

template <class T>
using Complex = std::complex<T>;

template <class T>
void nan_pairs(T* x, std::int64_t count) {
  fill_nan(x, 2 * count);
}

}  // namespace

// ---- eigenvalues of any matrix --------------------------------------------------------------------------------------

template <class T>
std::int64_t complex_eig(std::int64_t n, const T* A, T* w, T* V) noexcept {
  using C = Complex<T>;
  BITALE_LAPACK_SYMBOL(C, geev, const char*, const char*, const int*, C*, const int*, C*, C*, const int*, C*,
                       const int*, C*, const int*, T*, int*, std::size_t, std::size_t);
  if (n == 0) return 0;
  if (!lengths_fit(n)) return no_work_memory;
  if (!all_finite(A, 2 * n * n)) {
    if (V) nan_pairs(V, n * n);
    return nan_pairs(w, n), 0;
  }
  const CallMemory<C> a(n * n), vectors(V ? n * n : 1);
  const CallMemory<T> real_work(2 * n);
  if (!a || !vectors || !real_work) return no_work_memory;
  transpose_into(n, n, as_numbers(A), a.get());
  const int order = int(n), one = 1;
  int info = 0;
  C none = 0;
  if (!with_work<C>(n, n, V != nullptr, [&](C* work, const int* length) {
        geev("N", V ? "V" : "N", &order, a.get(), &order, as_numbers(w), &none, &one, vectors.get(), V ? &order : &one,
             work, length, real_work.get(), &info, 1, 1);
      }))
    return no_work_memory;
  if (!info && V) transpose_into(n, n, vectors.get(), as_numbers(V));
  return info;
}

template <class T>
std::int64_t complex_eigvals(std::int64_t n, const T* A, T* w) noexcept {
  return complex_eig<T>(n, A, w, nullptr);
}

template <class T>
std::int64_t eig(std::int64_t n, const T* A, T* w, T* V) noexcept {
  BITALE_LAPACK_SYMBOL(T, geev, const char*, const char*, const int*, T*, const int*, T*, T*, T*, const int*, T*,
                       const int*, T*, const int*, int*, std::size_t, std::size_t);
  if (n == 0) return 0;
  if (!lengths_fit(n)) return no_work_memory;
  if (!all_finite(A, n * n)) {
    if (V) nan_pairs(V, n * n);
    return nan_pairs(w, n), 0;
  }
  const CallMemory<T> a(n * n), vectors(V ? n * n : 1), re(n), im(n);
  if (!a || !vectors || !re || !im) return no_work_memory;
  transpose_into(n, n, A, a.get());
  const int order = int(n), one = 1;
  int info = 0;
  T none = 0;
  if (!with_work<T>(n, n, V != nullptr, [&](T* work, const int* length) {
        geev("N", V ? "V" : "N", &order, a.get(), &order, re.get(), im.get(), &none, &one, vectors.get(),
             V ? &order : &one, work, length, &info, 1, 1);
      }))
    return no_work_memory;
  if (info) return info;
  for (std::int64_t j = 0; j < n; ++j) w[2 * j] = re.get()[j], w[2 * j + 1] = im.get()[j];
  if (!V) return 0;
  // A complex pair has two columns: the real parts, and then the imaginary parts, of the first eigenvector.
  for (std::int64_t j = 0; j < n; ++j) {
    const bool is_first = im.get()[j] > 0, is_second = im.get()[j] < 0;
    const T* real = vectors.get() + (is_second ? j - 1 : j) * n;
    const T* imag = is_first ? vectors.get() + (j + 1) * n : vectors.get() + j * n;
    for (std::int64_t i = 0; i < n; ++i) {
      V[2 * (i * n + j)] = real[i];
      V[2 * (i * n + j) + 1] = is_first ? imag[i] : is_second ? -imag[i] : T(0);
    }
  }
  return 0;
}

template <class T>
std::int64_t eigvals(std::int64_t n, const T* A, T* w) noexcept {
  return eig<T>(n, A, w, nullptr);
}

// ---- determinants ---------------------------------------------------------------------------------------------------

template <class T>
std::int64_t complex_slogdet(std::int64_t n, const T* A, T* sign, T* logarithm) noexcept {
  const CallMemory<Complex<T>> factors(n * n);
  const CallMemory<std::int32_t> pivots(n);
  if (!factors || !pivots) return no_work_memory;
  if (const auto failed = lu_factor(n, n, as_numbers(A), factors.get(), pivots.get())) return failed;
  Complex<T> direction = 1;
  T sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const Complex<T> pivot = factors.get()[i * n + i];
    const T size = std::abs(pivot);
    if (size == 0) {
      sign[0] = sign[1] = 0;
      *logarithm = -std::numeric_limits<T>::infinity();
      return 0;
    }
    direction *= pivot / size;
    if (pivots.get()[i] != i) direction = -direction;
    sum += std::log(size);
  }
  sign[0] = direction.real(), sign[1] = direction.imag();
  *logarithm = sum;
  return 0;
}

// ---- the generalized Schur form -------------------------------------------------------------------------------------

namespace {

// The selection of the eigenvalues alpha / beta that come first. An eigenvalue with beta = 0 is infinite.
template <class T>
int complex_quotient_in_left_half(const Complex<T>* alpha, const Complex<T>* beta) {
  return *beta != T(0) && (*alpha / *beta).real() < 0;
}
template <class T>
int complex_quotient_in_right_half(const Complex<T>* alpha, const Complex<T>* beta) {
  return *beta != T(0) && (*alpha / *beta).real() > 0;
}
template <class T>
int complex_quotient_inside_circle(const Complex<T>* alpha, const Complex<T>* beta) {
  return *beta != T(0) && std::abs(*alpha / *beta) < 1;
}
template <class T>
int complex_quotient_outside_circle(const Complex<T>* alpha, const Complex<T>* beta) {
  return *beta == T(0) ? *alpha != T(0) : std::abs(*alpha / *beta) > 1;
}

}  // namespace

template <class T>
std::int64_t complex_qz(std::int64_t n, std::int64_t sort, const T* A, const T* B, T* S, T* P, T* Q, T* Z, T* alpha,
                        T* beta) noexcept {
  using C = Complex<T>;
  using Select = int (*)(const C*, const C*);
  BITALE_LAPACK_SYMBOL(C, gges, const char*, const char*, const char*, Select, const int*, C*, const int*, C*,
                       const int*, int*, C*, C*, C*, const int*, C*, const int*, C*, const int*, T*, int*, int*,
                       std::size_t, std::size_t, std::size_t);
  if (n == 0) return 0;
  if (!lengths_fit(n)) return no_work_memory;
  const std::int64_t size = n * n;
  if (!all_finite(A, 2 * size) || !all_finite(B, 2 * size)) {
    for (T* out : {S, P, Q, Z}) nan_pairs(out, size);
    return nan_pairs(alpha, n), nan_pairs(beta, n), 0;
  }
  constexpr Select selects[] = {nullptr, complex_quotient_in_left_half<T>, complex_quotient_in_right_half<T>,
                                complex_quotient_inside_circle<T>, complex_quotient_outside_circle<T>};
  const CallMemory<C> memory(4 * size);
  const CallMemory<T> real_work(8 * n);
  const CallMemory<int> integer_work(n);
  if (!memory || !real_work || !integer_work) return no_work_memory;
  C *const a = memory.get(), *const b = a + size, *const left = b + size, *const right = left + size;
  transpose_into(n, n, as_numbers(A), a);
  transpose_into(n, n, as_numbers(B), b);
  const int order = int(n);
  int info = 0, selected = 0;
  if (!with_work<C>(n, n, 0, [&](C* work, const int* length) {
        gges("V", "V", sort ? "S" : "N", selects[sort], &order, a, &order, b, &order, &selected, as_numbers(alpha),
             as_numbers(beta), left, &order, right, &order, work, length, real_work.get(), integer_work.get(), &info, 1,
             1, 1);
      }))
    return no_work_memory;
  if (info != 0 && info != order + 2) return info;  // order + 2: rounding changed what an eigenvalue was sorted by
  transpose_into(n, n, a, as_numbers(S));
  transpose_into(n, n, b, as_numbers(P));
  transpose_into(n, n, left, as_numbers(Q));
  transpose_into(n, n, right, as_numbers(Z));
  return 0;
}

// ---- rows -----------------------------------------------------------------------------------------------------------

namespace {

constexpr std::string_view does_not_converge = "a decomposition did not converge";

#define ROW(T, suffix, name, parameters, ...) \
  matrix_row<T>(runtime_function("bt_" #name "_" #suffix, name<T>, parameters), does_not_converge, Flops __VA_ARGS__)
#define ROWS(T, suffix)                                                                                               \
  ROW(T, suffix, complex_qz, "n sort A B S P Q Z alpha beta", {264, {"n", "n", "n"}}),                                \
      ROW(T, suffix, complex_eig, "n A w V", {100, {"n", "n", "n"}}),                                                 \
      ROW(T, suffix, complex_eigvals, "n A w", {40, {"n", "n", "n"}}),                                                \
      ROW(T, suffix, eig, "n A w V", {25, {"n", "n", "n"}}), ROW(T, suffix, eigvals, "n A w", {10, {"n", "n", "n"}}), \
      ROW(T, suffix, complex_slogdet, "n A sign logarithm", {8, {"n", "n", "n"}, 3})

const RegisterFunctions complex_decomposition_functions{ROWS(double, f64), ROWS(float, f32)};

#undef ROWS
#undef ROW

}  // namespace
}  // namespace bitale::runtime
