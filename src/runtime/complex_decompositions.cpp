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
const Complex<T>* numbers(const T* pairs) {
  return as_numbers(pairs);
}
template <class T>
Complex<T>* numbers(T* pairs) {
  return as_numbers(pairs);
}

// NOLINTNEXTLINE: names are pasted
#define COMPLEX_LAPACK(T, name, ...)                                                              \
  static const auto name = lapack_symbol<void (*)(__VA_ARGS__), T>("z" #name "_", "c" #name "_"); \
  if (!name) return no_lapack

// Runs `call(work, length)` with a length of -1, which asks how much is needed, and then with so much memory.
template <class T, class Call>
bool with_work(Call&& call) {
  Complex<T> size = 0;
  int query = -1;
  call(&size, &query);
  const double wanted = std::ceil(double(size.real()) * 1.0000003);  // a float32 may have rounded it
  if (!(wanted < double(std::numeric_limits<int>::max()))) return false;
  const int length = std::max(1, int(wanted));
  const CallMemory<Complex<T>> work(length);
  if (!work) return false;
  call(work.get(), &length);
  return true;
}

template <class T>
void nan_pairs(T* x, std::int64_t count) {
  fill_nan(x, 2 * count);
}

template <class T>
void unit_pairs(std::int64_t n, T* x) {
  std::fill(x, x + 2 * n * n, T(0));
  for (std::int64_t i = 0; i < n; ++i) x[2 * (i * n + i)] = T(1);
}

}  // namespace

// ---- orthogonal times triangular ------------------------------------------------------------------------------------

namespace {

// The reflections that make the columns a triangle, in place of these; with `places`, columns are exchanged.
template <class T>
std::int64_t reflect_columns(int m, int n, Complex<T>* columns, Complex<T>* tau, int* places) {
  using C = Complex<T>;
  COMPLEX_LAPACK(T, geqrf, const int*, const int*, C*, const int*, C*, C*, const int*, int*);
  COMPLEX_LAPACK(T, geqp3, const int*, const int*, C*, const int*, int*, C*, C*, const int*, T*, int*);
  int info = 0;
  const CallMemory<T> real_work(places ? 2 * std::int64_t(n) : 0);
  if (!real_work) return no_work_memory;
  if (places) std::fill(places, places + n, 0);
  const bool done = with_work<T>([&](C* work, const int* length) {
    places ? geqp3(&m, &n, columns, &m, places, tau, work, length, real_work.get(), &info)
           : geqrf(&m, &n, columns, &m, tau, work, length, &info);
  });
  return done ? info : no_work_memory;
}

// R[width, n], of columns [m, n].
template <class T>
void complex_upper_rows(std::int64_t width, std::int64_t m, std::int64_t n, const Complex<T>* columns, T* R) {
  for (std::int64_t i = 0; i < width; ++i)
    for (std::int64_t j = 0; j < n; ++j) numbers(R)[i * n + j] = i <= j && i < m ? columns[j * m + i] : Complex<T>(0);
}

// P is null without pivoting, and counts from 0.
template <class T>
std::int64_t complex_qr_of(std::int64_t m, std::int64_t n, bool complete, const T* A, T* Q, T* R, std::int32_t* P) {
  using C = Complex<T>;
  COMPLEX_LAPACK(T, ungqr, const int*, const int*, const int*, C*, const int*, const C*, C*, const int*, int*);
  const std::int64_t k = std::min(m, n), width = complete ? m : k;
  if (!lengths_fit(m, n)) return no_work_memory;
  for (std::int64_t j = 0; P && j < n; ++j) P[j] = std::int32_t(j);
  if (!all_finite(A, 2 * m * n)) return nan_pairs(Q, m * width), nan_pairs(R, width * n), 0;
  if (k == 0) {
    std::fill(R, R + 2 * width * n, T(0));
    for (std::int64_t i = 0; i < m * width; ++i) numbers(Q)[i] = i / width == i % width ? C(1) : C(0);
    return 0;
  }
  const CallMemory<C> columns(m * std::max(n, width)), tau(k);
  if (!columns || !tau) return no_work_memory;
  transpose_into(m, n, numbers(A), columns.get());
  if (const auto failed = reflect_columns<T>(int(m), int(n), columns.get(), tau.get(), P)) return failed;
  complex_upper_rows(width, m, n, columns.get(), R);
  const int rows = int(m), made = int(width), reflections = int(k);
  int info = 0;
  if (!with_work<T>([&](C* work, const int* length) {
        ungqr(&rows, &made, &reflections, columns.get(), &rows, tau.get(), work, length, &info);
      }))
    return no_work_memory;
  if (info) return info;
  transpose_into(width, m, columns.get(), numbers(Q));
  for (std::int64_t j = 0; P && j < n; ++j) --P[j];
  return 0;
}

template <class T>
std::int64_t complex_reflections(std::int64_t m, std::int64_t n, const T* A, T* H, T* tau, T* R, std::int32_t* P) {
  const std::int64_t k = std::min(m, n);
  if (!lengths_fit(m, n)) return no_work_memory;
  for (std::int64_t j = 0; P && j < n; ++j) P[j] = std::int32_t(j);
  if (!all_finite(A, 2 * m * n)) return nan_pairs(H, m * n), nan_pairs(tau, k), nan_pairs(R, k * n), 0;
  if (k == 0) return 0;
  const CallMemory<Complex<T>> columns(m * n);
  if (!columns) return no_work_memory;
  transpose_into(m, n, numbers(A), columns.get());
  if (const auto failed = reflect_columns<T>(int(m), int(n), columns.get(), numbers(tau), P)) return failed;
  complex_upper_rows(k, m, n, columns.get(), R);
  transpose_into(n, m, columns.get(), numbers(H));
  for (std::int64_t j = 0; P && j < n; ++j) --P[j];
  return 0;
}

}  // namespace

template <class T>
std::int64_t complex_qr(std::int64_t m, std::int64_t n, std::int64_t complete, const T* A, T* Q, T* R) noexcept {
  return complex_qr_of<T>(m, n, complete != 0, A, Q, R, nullptr);
}
template <class T>
std::int64_t complex_qr_pivoted(std::int64_t m, std::int64_t n, std::int64_t complete, const T* A, T* Q, T* R,
                                std::int32_t* P) noexcept {
  return complex_qr_of<T>(m, n, complete != 0, A, Q, R, P);
}
template <class T>
std::int64_t complex_qr_raw(std::int64_t m, std::int64_t n, const T* A, T* H, T* tau, T* R) noexcept {
  return complex_reflections<T>(m, n, A, H, tau, R, nullptr);
}
template <class T>
std::int64_t complex_qr_raw_pivoted(std::int64_t m, std::int64_t n, const T* A, T* H, T* tau, T* R,
                                    std::int32_t* P) noexcept {
  return complex_reflections<T>(m, n, A, H, tau, R, P);
}

// ---- singular values ------------------------------------------------------------------------------------------------

namespace {

// By columns the same memory is A^T = conj(V) diag(s) U^T, so LAPACK's left vectors are the rows of Vh, and its right
// ones, transposed, those of U.
template <class T>
std::int64_t complex_svd_of(std::int64_t m, std::int64_t n, const char* job, const T* A, T* U, T* s, T* Vh) {
  using C = Complex<T>;
  COMPLEX_LAPACK(T, gesdd, const char*, const int*, const int*, C*, const int*, T*, C*, const int*, C*, const int*, C*,
                 const int*, T*, int*, int*, std::size_t);
  if (!lengths_fit(m, n)) return no_work_memory;
  const int rows = int(n), columns = int(m), k = std::min(rows, columns), most = std::max(rows, columns);
  const int right = *job == 'A' ? columns : std::max(k, 1);
  const CallMemory<C> a(m * n);
  const CallMemory<int> places(8 * std::int64_t(k));
  const CallMemory<T> real_work(std::int64_t(k) *
                                std::max(5 * std::int64_t(k) + 7, 2 * std::int64_t(most) + 2 * k + 1));
  if (!a || !places || !real_work) return no_work_memory;
  std::copy(numbers(A), numbers(A) + m * n, a.get());
  int info = 0;
  C none = 0;
  const int lead = std::max(rows, 1);
  const bool done = with_work<T>([&](C* work, const int* length) {
    gesdd(job, &rows, &columns, a.get(), &lead, s, Vh ? numbers(Vh) : &none, &lead, U ? numbers(U) : &none, &right,
          work, length, real_work.get(), places.get(), &info, 1);
  });
  return done ? info : no_work_memory;
}

}  // namespace

template <class T>
std::int64_t complex_svd(std::int64_t m, std::int64_t n, std::int64_t full, const T* A, T* U, T* s, T* Vh) noexcept {
  const std::int64_t k = std::min(m, n);
  if (k == 0) {
    if (full) unit_pairs(m, U), unit_pairs(n, Vh);
    return 0;
  }
  if (!all_finite(A, 2 * m * n)) {
    nan_pairs(U, m * (full ? m : k)), nan_pairs(Vh, n * (full ? n : k));
    return fill_nan(s, k), 0;
  }
  return complex_svd_of(m, n, full ? "A" : "S", A, U, s, Vh);
}

template <class T>
std::int64_t complex_svdvals(std::int64_t m, std::int64_t n, const T* A, T* s) noexcept {
  if (m == 0 || n == 0) return 0;
  if (!all_finite(A, 2 * m * n)) return fill_nan(s, std::min(m, n)), 0;
  return complex_svd_of<T>(m, n, "N", A, nullptr, s, nullptr);
}

// ---- eigenvalues of Hermitian matrices ------------------------------------------------------------------------------

namespace {

// By columns the same memory is conj(A), with its other triangle: it has the same values, and the vectors' conjugates.
template <class T>
std::int64_t complex_eigh_of(std::int64_t n, bool vectors, bool lower, Complex<T>* a, T* w) {
  using C = Complex<T>;
  COMPLEX_LAPACK(T, heevd, const char*, const char*, const int*, C*, const int*, T*, C*, const int*, T*, const int*,
                 int*, const int*, int*, std::size_t, std::size_t);
  if (!lengths_fit(n)) return no_work_memory;
  const int order = int(n);
  const char *job = vectors ? "V" : "N", *triangle = lower ? "U" : "L";
  int query = -1, info = 0, integers = 0;
  C size = 0;
  T reals = 0;
  heevd(job, triangle, &order, a, &order, w, &size, &query, &reals, &query, &integers, &query, &info, 1, 1);
  const int length = std::max(1, int(std::ceil(double(size.real()) * 1.0000003)));
  const int real_length = std::max(1, int(std::ceil(double(reals) * 1.0000003)));
  const CallMemory<C> work(length);
  const CallMemory<T> real_work(real_length);
  const CallMemory<int> places(integers);
  if (!work || !real_work || !places) return no_work_memory;
  heevd(job, triangle, &order, a, &order, w, work.get(), &length, real_work.get(), &real_length, places.get(),
        &integers, &info, 1, 1);
  return info;
}

template <class T>
bool complex_triangle_is_finite(std::int64_t n, bool lower, const T* A) {
  for (std::int64_t i = 0; i < n; ++i)
    if (!all_finite(A + 2 * (i * n + (lower ? 0 : i)), 2 * (lower ? i + 1 : n - i))) return false;
  return true;
}

}  // namespace

template <class T>
std::int64_t complex_eigh(std::int64_t n, std::int64_t lower, const T* A, T* w, T* V) noexcept {
  if (n == 0) return 0;
  if (!complex_triangle_is_finite(n, lower != 0, A)) return fill_nan(w, n), nan_pairs(V, n * n), 0;
  Complex<T>* v = numbers(V);
  std::copy(numbers(A), numbers(A) + n * n, v);
  if (const auto failed = complex_eigh_of(n, true, lower != 0, v, w)) return failed;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < i; ++j) std::swap(v[i * n + j], v[j * n + i]);
  }
  for (std::int64_t i = 0; i < n * n; ++i) v[i] = std::conj(v[i]);
  return 0;
}

template <class T>
std::int64_t complex_eigvalsh(std::int64_t n, std::int64_t lower, const T* A, T* w) noexcept {
  if (n == 0) return 0;
  if (!complex_triangle_is_finite(n, lower != 0, A)) return fill_nan(w, n), 0;
  const CallMemory<Complex<T>> a(n * n);
  if (!a) return no_work_memory;
  std::copy(numbers(A), numbers(A) + n * n, a.get());
  return complex_eigh_of(n, false, lower != 0, a.get(), w);
}

// ---- eigenvalues of any matrix --------------------------------------------------------------------------------------

template <class T>
std::int64_t complex_eig(std::int64_t n, const T* A, T* w, T* V) noexcept {
  using C = Complex<T>;
  COMPLEX_LAPACK(T, geev, const char*, const char*, const int*, C*, const int*, C*, C*, const int*, C*, const int*, C*,
                 const int*, T*, int*, std::size_t, std::size_t);
  if (n == 0) return 0;
  if (!lengths_fit(n)) return no_work_memory;
  if (!all_finite(A, 2 * n * n)) {
    if (V) nan_pairs(V, n * n);
    return nan_pairs(w, n), 0;
  }
  const CallMemory<C> a(n * n), vectors(V ? n * n : 1);
  const CallMemory<T> real_work(2 * n);
  if (!a || !vectors || !real_work) return no_work_memory;
  transpose_into(n, n, numbers(A), a.get());
  const int order = int(n), one = 1;
  int info = 0;
  C none = 0;
  if (!with_work<T>([&](C* work, const int* length) {
        geev("N", V ? "V" : "N", &order, a.get(), &order, numbers(w), &none, &one, vectors.get(), V ? &order : &one,
             work, length, real_work.get(), &info, 1, 1);
      }))
    return no_work_memory;
  if (!info && V) transpose_into(n, n, vectors.get(), numbers(V));
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
  int info = 0, query = -1;
  T none = 0, size = 0;
  const auto call = [&](T* work, const int* length) {
    geev("N", V ? "V" : "N", &order, a.get(), &order, re.get(), im.get(), &none, &one, vectors.get(), V ? &order : &one,
         work, length, &info, 1, 1);
  };
  call(&size, &query);
  const int length = std::max(1, int(std::ceil(double(size) * 1.0000003)));
  const CallMemory<T> work(length);
  if (!work) return no_work_memory;
  call(work.get(), &length);
  if (info) return info;
  for (std::int64_t j = 0; j < n; ++j) w[2 * j] = re.get()[j], w[2 * j + 1] = im.get()[j];
  if (!V) return 0;
  // Of a complex pair, one column has the real parts, and the next one the imaginary parts of the first.
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

// ---- lower times upper ----------------------------------------------------------------------------------------------

namespace {

template <class T>
void plain_complex_lu(std::int64_t m, std::int64_t n, Complex<T>* M, std::int32_t* pivots) {
  for (std::int64_t k = 0; k < std::min(m, n); ++k) {
    std::int64_t best = k;
    for (std::int64_t i = k + 1; i < m; ++i)
      if (size_of_pivot(M[i * n + k]) > size_of_pivot(M[best * n + k])) best = i;
    pivots[k] = std::int32_t(best);
    if (M[best * n + k] == Complex<T>(0)) continue;
    if (best != k) std::swap_ranges(M + k * n, M + (k + 1) * n, M + best * n);
    for (std::int64_t i = k + 1; i < m; ++i) {
      const Complex<T> factor = M[i * n + k] /= M[k * n + k];
      for (std::int64_t j = k + 1; j < n; ++j) M[i * n + j] -= times(factor, M[k * n + j]);
    }
  }
}

}  // namespace

template <class T>
std::int64_t complex_lu_factor(std::int64_t m, std::int64_t n, const T* A, T* LU, std::int32_t* pivots) noexcept {
  using C = Complex<T>;
  using Getrf = void (*)(const int*, const int*, C*, const int*, int*, int*);
  static const auto getrf = lapack_symbol<Getrf, T>("zgetrf_", "cgetrf_");
  const std::int64_t k = std::min(m, n);
  if (k == 0) return 0;
  if (std::max(m, n) <= 16 || !getrf || !lengths_fit(m, n)) {
    std::copy(A, A + 2 * m * n, LU);
    plain_complex_lu(m, n, numbers(LU), pivots);
    return 0;
  }
  const CallMemory<C> columns(m * n);
  if (!columns) return no_work_memory;
  transpose_into(m, n, numbers(A), columns.get());
  const int rows = int(m), width = int(n);
  int info = 0;
  getrf(&rows, &width, columns.get(), &rows, pivots, &info);
  transpose_into(n, m, columns.get(), numbers(LU));
  for (std::int64_t i = 0; i < k; ++i) --pivots[i];
  return 0;
}

template <class T>
std::int64_t complex_slogdet(std::int64_t n, const T* A, T* sign, T* logarithm) noexcept {
  const CallMemory<T> factors(2 * n * n);
  const CallMemory<std::int32_t> pivots(n);
  if (!factors || !pivots) return no_work_memory;
  if (const auto failed = complex_lu_factor<T>(n, n, A, factors.get(), pivots.get())) return failed;
  Complex<T> direction = 1;
  T sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const Complex<T> pivot = numbers(factors.get())[i * n + i];
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

// ---- Schur ----------------------------------------------------------------------------------------------------------

namespace {

template <class T>
int is_in_left_half(const Complex<T>* w) {
  return w->real() < 0;
}
template <class T>
int is_in_right_half(const Complex<T>* w) {
  return w->real() >= 0;
}
template <class T>
int is_inside_circle(const Complex<T>* w) {
  return std::abs(*w) <= 1;
}
template <class T>
int is_outside_circle(const Complex<T>* w) {
  return std::abs(*w) > 1;
}

}  // namespace

namespace {

// Of n columns, which become the triangle; of the vectors, too.
template <class T>
std::int64_t schur_of_columns(std::int64_t n, std::int64_t sort, Complex<T>* a, Complex<T>* vectors) {
  using C = Complex<T>;
  using Select = int (*)(const C*);
  COMPLEX_LAPACK(T, gees, const char*, const char*, Select, const int*, C*, const int*, int*, C*, C*, const int*, C*,
                 const int*, T*, int*, int*, std::size_t, std::size_t);
  constexpr Select selects[] = {nullptr, is_in_left_half<T>, is_in_right_half<T>, is_inside_circle<T>,
                                is_outside_circle<T>};
  const CallMemory<C> values(n);
  const CallMemory<T> real_work(n);
  const CallMemory<int> places(n);
  if (!values || !real_work || !places) return no_work_memory;
  const int order = int(n);
  int info = 0, selected = 0;
  if (!with_work<T>([&](C* work, const int* length) {
        gees("V", sort ? "S" : "N", selects[sort], &order, a, &order, &selected, values.get(), vectors, &order, work,
             length, real_work.get(), places.get(), &info, 1, 1);
      }))
    return no_work_memory;
  return info == order + 2 ? 0 : info;  // order + 2: rounding changed what an eigenvalue was sorted by
}

}  // namespace

template <class T>
std::int64_t complex_schur(std::int64_t n, std::int64_t sort, const T* A, T* upper, T* Z) noexcept {
  if (n == 0) return 0;
  if (!lengths_fit(n)) return no_work_memory;
  if (!all_finite(A, 2 * n * n)) return nan_pairs(upper, n * n), nan_pairs(Z, n * n), 0;
  const CallMemory<Complex<T>> a(n * n), vectors(n * n);
  if (!a || !vectors) return no_work_memory;
  transpose_into(n, n, numbers(A), a.get());
  if (const auto failed = schur_of_columns<T>(n, sort, a.get(), vectors.get())) return failed;
  transpose_into(n, n, a.get(), numbers(upper));
  transpose_into(n, n, vectors.get(), numbers(Z));
  return 0;
}

// By columns, the memory has the transposed matrices, and these satisfy B' Y + Y A' = Q'. With B' = V S V^H and
// A' = U R U^H it is S Z + Z R = V^H Q' U for Z = V^H Y U.
template <class T>
std::int64_t complex_solve_sylvester(std::int64_t m, std::int64_t n, const T* A, const T* B, const T* Q,
                                     T* X) noexcept {
  using C = Complex<T>;
  COMPLEX_LAPACK(T, trsyl, const char*, const char*, const int*, const int*, const int*, const C*, const int*, const C*,
                 const int*, C*, const int*, T*, int*, std::size_t, std::size_t);
  COMPLEX_LAPACK(T, gemm, const char*, const char*, const int*, const int*, const int*, const C*, const C*, const int*,
                 const C*, const int*, const C*, C*, const int*, std::size_t, std::size_t);
  if (m == 0 || n == 0) return 0;
  if (!lengths_fit(m, n)) return no_work_memory;
  if (!all_finite(A, 2 * m * m) || !all_finite(B, 2 * n * n) || !all_finite(Q, 2 * m * n))
    return nan_pairs(X, m * n), 0;
  const CallMemory<C> left(2 * n * n), right(2 * m * m), other(m * n);
  if (!left || !right || !other) return no_work_memory;
  C *const S = left.get(), *const V = S + n * n, *const R = right.get(), *const U = R + m * m, *const Y = numbers(X);
  std::copy(numbers(B), numbers(B) + n * n, S);
  std::copy(numbers(A), numbers(A) + m * m, R);
  if (const auto failed = schur_of_columns<T>(n, 0, S, V)) return failed;
  if (const auto failed = schur_of_columns<T>(m, 0, R, U)) return failed;
  const int rows = int(n), columns = int(m), sign = 1;
  const C one = 1, zero = 0;
  const auto from_left = [&](const char* form, const C* of, C* to) {
    gemm(form, "N", &rows, &columns, &rows, &one, V, &rows, of, &rows, &zero, to, &rows, 1, 1);
  };
  const auto from_right = [&](const char* form, const C* of, C* to) {
    gemm("N", form, &rows, &columns, &columns, &one, of, &rows, U, &columns, &zero, to, &rows, 1, 1);
  };
  from_left("C", numbers(Q), other.get());
  from_right("N", other.get(), Y);
  T scale = 1;
  int info = 0;
  trsyl("N", "N", &sign, &rows, &columns, S, &rows, R, &columns, Y, &rows, &scale, &info, 1, 1);
  if (info != 0) return 1;
  for (std::int64_t i = 0; i < m * n; ++i) Y[i] /= scale;
  from_left("N", Y, other.get());
  from_right("C", other.get(), Y);
  return 0;
}

// ---- the generalized Schur form -------------------------------------------------------------------------------------

namespace {

// Which eigenvalues alpha / beta come first. An eigenvalue with beta = 0 is infinite.
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
  COMPLEX_LAPACK(T, gges, const char*, const char*, const char*, Select, const int*, C*, const int*, C*, const int*,
                 int*, C*, C*, C*, const int*, C*, const int*, C*, const int*, T*, int*, int*, std::size_t, std::size_t,
                 std::size_t);
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
  const CallMemory<int> places(n);
  if (!memory || !real_work || !places) return no_work_memory;
  C *const a = memory.get(), *const b = a + size, *const left = b + size, *const right = left + size;
  transpose_into(n, n, numbers(A), a);
  transpose_into(n, n, numbers(B), b);
  const int order = int(n);
  int info = 0, selected = 0;
  if (!with_work<T>([&](C* work, const int* length) {
        gges("V", "V", sort ? "S" : "N", selects[sort], &order, a, &order, b, &order, &selected, numbers(alpha),
             numbers(beta), left, &order, right, &order, work, length, real_work.get(), places.get(), &info, 1, 1, 1);
      }))
    return no_work_memory;
  if (info != 0 && info != order + 2) return info;  // order + 2: rounding changed what an eigenvalue was sorted by
  transpose_into(n, n, a, numbers(S));
  transpose_into(n, n, b, numbers(P));
  transpose_into(n, n, left, numbers(Q));
  transpose_into(n, n, right, numbers(Z));
  return 0;
}

// ---- rows -----------------------------------------------------------------------------------------------------------

namespace {

constexpr std::string_view does_not_converge = "a decomposition did not converge";

#define ROW(T, suffix, name, parameters, ...) \
  matrix_row<T>(runtime_function("bt_" #name "_" #suffix, name<T>, parameters), does_not_converge, Flops __VA_ARGS__)
#define ROWS(T, suffix)                                                                                               \
  ROW(T, suffix, complex_qr, "m n complete A Q R", {16, {"m", "n", "n"}}),                                            \
      ROW(T, suffix, complex_qr_pivoted, "m n complete A Q R P", {16, {"m", "n", "n"}}),                              \
      ROW(T, suffix, complex_qr_raw, "m n A H tau R", {8, {"m", "n", "n"}}),                                          \
      ROW(T, suffix, complex_qr_raw_pivoted, "m n A H tau R P", {8, {"m", "n", "n"}}),                                \
      ROW(T, suffix, complex_qz, "n sort A B S P Q Z alpha beta", {264, {"n", "n", "n"}}),                            \
      ROW(T, suffix, complex_svd, "m n full A U s Vh", {64, {"m", "n", "n"}}),                                        \
      ROW(T, suffix, complex_svdvals, "m n A s", {16, {"m", "n", "n"}}),                                              \
      ROW(T, suffix, complex_eigh, "n lower A w V", {36, {"n", "n", "n"}}),                                           \
      ROW(T, suffix, complex_eigvalsh, "n lower A w", {16, {"n", "n", "n"}, 3}),                                      \
      ROW(T, suffix, complex_eig, "n A w V", {100, {"n", "n", "n"}}),                                                 \
      ROW(T, suffix, complex_eigvals, "n A w", {40, {"n", "n", "n"}}),                                                \
      ROW(T, suffix, eig, "n A w V", {25, {"n", "n", "n"}}), ROW(T, suffix, eigvals, "n A w", {10, {"n", "n", "n"}}), \
      ROW(T, suffix, complex_lu_factor, "m n A LU pivots", {4, {"m", "n", "n"}}),                                     \
      ROW(T, suffix, complex_slogdet, "n A sign logarithm", {8, {"n", "n", "n"}, 3}),                                 \
      ROW(T, suffix, complex_schur, "n sort A upper Z", {100, {"n", "n", "n"}}),                                      \
      matrix_row<T>(                                                                                                  \
          runtime_function("bt_complex_solve_sylvester_" #suffix, complex_solve_sylvester<T>, "m n A B Q X"),         \
          "solve_sylvester: the equation has no unique solution", Flops{100, {"m", "m", "n"}})

const RegisterFunctions complex_decomposition_functions{ROWS(double, f64), ROWS(float, f32)};

#undef ROWS
#undef ROW

}  // namespace
}  // namespace bitale::runtime
