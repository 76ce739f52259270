#include "runtime/decompositions.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/lapack_calls.hpp"
#include "runtime/rows_of_matrices.hpp"

namespace bitale::runtime {

const char* status_text(std::int64_t status) {
  if (status == no_work_memory) return "there is not enough memory to work in";
  if (status == no_lapack) return "the library of matrix products has no LAPACK; the flag blas__library names another";
  return "the iteration did not converge";
}

// ---- orthogonal times triangular ------------------------------------------------------------------------------------

namespace {

// The first `rows` rows of the upper triangle of a column-major [m, n].
template <class T>
void upper_rows(std::int64_t rows, std::int64_t m, std::int64_t n, const T* columns, T* R) {
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < n; ++j) R[i * n + j] = i <= j && i < m ? columns[j * m + i] : T(0);
}

// geqrf or geqp3 on a column-major [m, n].
template <class T>
std::int64_t reflect(int m, int n, T* columns, T* tau, int* places) {
  using Pivoted = void (*)(const int*, const int*, T*, const int*, int*, T*, T*, const int*, int*);
  BITALE_LAPACK_SYMBOL(T, geqrf, const int*, const int*, T*, const int*, T*, T*, const int*, int*);
  static const auto geqp3 = lapack_symbol<Pivoted, T>("dgeqp3_", "sgeqp3_");
  if (places && !geqp3) return no_lapack;
  int query = -1, info = 0;
  T size = 0;
  const auto call = [&](T* work, const int* length) {
    places ? geqp3(&m, &n, columns, &m, places, tau, work, length, &info)
           : geqrf(&m, &n, columns, &m, tau, work, length, &info);
  };
  call(&size, &query);
  const int length = std::max(1, int(size));
  const CallMemory<T> work(length);
  if (!work) return no_work_memory;
  call(work.get(), &length);
  return info;
}

// The first k columns of the product of `reflections`, in place of them: column-major [m, k].
template <class T>
std::int64_t unfold(int m, int k, int reflections, T* columns, const T* tau) {
  BITALE_LAPACK_SYMBOL(T, orgqr, const int*, const int*, const int*, T*, const int*, const T*, T*, const int*, int*);
  int query = -1, info = 0;
  T size = 0;
  orgqr(&m, &k, &reflections, columns, &m, tau, &size, &query, &info);
  const int length = std::max(1, int(size));
  const CallMemory<T> work(length);
  if (!work) return no_work_memory;
  orgqr(&m, &k, &reflections, columns, &m, tau, work.get(), &length, &info);
  return info;
}

template <class T>
std::int64_t qr_of(std::int64_t m, std::int64_t n, bool complete, const T* A, T* Q, T* R, std::int32_t* P) {
  const std::int64_t k = std::min(m, n), width = complete ? m : k;
  if (!lengths_fit(m, n)) return no_work_memory;
  if (P)
    for (std::int64_t j = 0; j < n; ++j) P[j] = std::int32_t(j);
  if (!all_finite(A, m * n)) {
    fill_nan(Q, m * width);
    fill_nan(R, width * n);
    return 0;
  }
  if (k == 0) {
    std::fill(R, R + width * n, T(0));
    for (std::int64_t i = 0; i < m * width; ++i) Q[i] = i / width == i % width ? T(1) : T(0);
    return 0;
  }
  const CallMemory<T> columns(m * std::max(n, width)), tau(k);
  const CallMemory<int> places(n);
  if (!columns || !tau || !places) return no_work_memory;
  transpose_into(m, n, A, columns.get());
  std::fill(places.get(), places.get() + n, 0);
  if (const auto failed = reflect(int(m), int(n), columns.get(), tau.get(), P ? places.get() : nullptr)) return failed;
  upper_rows(width, m, n, columns.get(), R);
  if (const auto failed = unfold(int(m), int(width), int(k), columns.get(), tau.get())) return failed;
  transpose_into(width, m, columns.get(), Q);
  if (P)
    for (std::int64_t j = 0; j < n; ++j) P[j] = places.get()[j] - 1;
  return 0;
}

}  // namespace

template <class T>
std::int64_t qr(std::int64_t m, std::int64_t n, std::int64_t complete, const T* A, T* Q, T* R) noexcept {
  return qr_of<T>(m, n, complete != 0, A, Q, R, nullptr);
}

template <class T>
std::int64_t qr_pivoted(std::int64_t m, std::int64_t n, std::int64_t complete, const T* A, T* Q, T* R,
                        std::int32_t* P) noexcept {
  return qr_of<T>(m, n, complete != 0, A, Q, R, P);
}

namespace {

// H and tau are null where only R is wanted, P without pivoting.
template <class T>
std::int64_t reflections_of(std::int64_t m, std::int64_t n, const T* A, T* H, T* tau, T* R, std::int32_t* P) {
  const std::int64_t k = std::min(m, n);
  if (!lengths_fit(m, n)) return no_work_memory;
  for (std::int64_t j = 0; P && j < n; ++j) P[j] = std::int32_t(j);
  if (!all_finite(A, m * n)) {
    if (H) fill_nan(H, m * n);
    if (H) fill_nan(tau, k);
    fill_nan(R, k * n);
    return 0;
  }
  if (k == 0) return 0;
  const CallMemory<T> columns(m * n), factors(k);
  if (!columns || !factors) return no_work_memory;
  transpose_into(m, n, A, columns.get());
  if (P) std::fill(P, P + n, 0);
  if (const auto failed = reflect<T>(int(m), int(n), columns.get(), factors.get(), P)) return failed;
  for (std::int64_t j = 0; P && j < n; ++j) --P[j];
  upper_rows(k, m, n, columns.get(), R);
  if (!H) return 0;
  transpose_into(n, m, columns.get(), H);
  std::copy(factors.get(), factors.get() + k, tau);
  return 0;
}

}  // namespace

template <class T>
std::int64_t qr_raw(std::int64_t m, std::int64_t n, const T* A, T* H, T* tau, T* R) noexcept {
  return reflections_of<T>(m, n, A, H, tau, R, nullptr);
}

template <class T>
std::int64_t qr_raw_pivoted(std::int64_t m, std::int64_t n, const T* A, T* H, T* tau, T* R, std::int32_t* P) noexcept {
  return reflections_of<T>(m, n, A, H, tau, R, P);
}

template <class T>
std::int64_t qr_r(std::int64_t m, std::int64_t n, const T* A, T* R) noexcept {
  return reflections_of<T>(m, n, A, nullptr, nullptr, R, nullptr);
}

// ---- singular values ------------------------------------------------------------------------------------------------

namespace {

// Matrices up to this length go through gesvd, whose iteration is gesdd's there, with less around it. They get more
// memory to work in than it could use, instead of asking how much that is.
constexpr std::int64_t small_svd = 25;
constexpr int work_of_small_svd = 8192;

// By columns the same memory is A^T = V diag(s) U^T, so LAPACK's left vectors are rows of Vt, and nothing is
// transposed.
template <class T>
std::int64_t svd_of(std::int64_t m, std::int64_t n, const char* job, const T* A, T* U, T* s, T* Vt) {
  BITALE_LAPACK_SYMBOL(T, gesdd, const char*, const int*, const int*, T*, const int*, T*, T*, const int*, T*,
                       const int*, T*, const int*, int*, int*, std::size_t);
  BITALE_LAPACK_SYMBOL(T, gesvd, const char*, const char*, const int*, const int*, T*, const int*, T*, T*, const int*,
                       T*, const int*, T*, const int*, int*, std::size_t, std::size_t);
  if (!lengths_fit(m, n)) return no_work_memory;
  const int rows = int(n), columns = int(m), k = std::min(rows, columns);
  const int right = *job == 'A' ? columns : std::max(k, 1);
  const CallMemory<T> a(m * n);
  if (!a) return no_work_memory;
  std::copy(A, A + m * n, a.get());
  int query = -1, info = 0;
  T size = 0, none = 0;
  const int lead = std::max(rows, 1);
  T *const left_vectors = Vt ? Vt : &none, *const right_vectors = U ? U : &none;
  if (std::max(m, n) <= small_svd) {
    const CallMemory<T> work(work_of_small_svd);
    if (!work) return no_work_memory;
    gesvd(job, job, &rows, &columns, a.get(), &lead, s, left_vectors, &lead, right_vectors, &right, work.get(),
          &work_of_small_svd, &info, 1, 1);
    return info;
  }
  const CallMemory<int> places(8 * std::int64_t(k));
  if (!places) return no_work_memory;
  const auto call = [&](T* work, const int* length) {
    gesdd(job, &rows, &columns, a.get(), &lead, s, left_vectors, &lead, right_vectors, &right, work, length,
          places.get(), &info, 1);
  };
  call(&size, &query);
  const double wanted = std::ceil(double(size) * 1.0000003);  // a float32 may have rounded it
  if (!(wanted < double(std::numeric_limits<int>::max()))) return no_work_memory;
  const int length = std::max(1, int(wanted));
  const CallMemory<T> work(length);
  if (!work) return no_work_memory;
  call(work.get(), &length);
  return info;
}

template <class T>
void unit_matrix(std::int64_t n, T* x) {
  std::fill(x, x + n * n, T(0));
  for (std::int64_t i = 0; i < n; ++i) x[i * n + i] = T(1);
}

}  // namespace

template <class T>
std::int64_t svd(std::int64_t m, std::int64_t n, std::int64_t full, const T* A, T* U, T* s, T* Vt) noexcept {
  const std::int64_t k = std::min(m, n);
  if (k == 0) {
    if (full) unit_matrix(m, U), unit_matrix(n, Vt);
    return 0;
  }
  if (!all_finite(A, m * n)) {
    fill_nan(U, m * (full ? m : k));
    fill_nan(s, k);
    fill_nan(Vt, n * (full ? n : k));
    return 0;
  }
  return svd_of(m, n, full ? "A" : "S", A, U, s, Vt);
}

template <class T>
std::int64_t svdvals(std::int64_t m, std::int64_t n, const T* A, T* s) noexcept {
  if (m == 0 || n == 0) return 0;
  if (!all_finite(A, m * n)) return fill_nan(s, std::min(m, n)), 0;
  return svd_of<T>(m, n, "N", A, nullptr, s, nullptr);
}

// ---- symmetric eigenvalues ------------------------------------------------------------------------------------------

namespace {

// `a` becomes the eigenvectors, one after the other.
template <class T>
std::int64_t eigh_of(std::int64_t n, bool vectors, bool lower, T* a, T* w) {
  BITALE_LAPACK_SYMBOL(T, syevd, const char*, const char*, const int*, T*, const int*, T*, T*, const int*, int*,
                       const int*, int*, std::size_t, std::size_t);
  if (!lengths_fit(n)) return no_work_memory;
  const int order = int(n);
  const char *job = vectors ? "V" : "N", *triangle = lower ? "U" : "L";  // by columns it is the other one
  int query = -1, info = 0, integers = 0;
  T size = 0;
  syevd(job, triangle, &order, a, &order, w, &size, &query, &integers, &query, &info, 1, 1);
  const double wanted = std::ceil(double(size) * 1.0000003);
  if (!(wanted < double(std::numeric_limits<int>::max()))) return no_work_memory;
  const int length = std::max(1, int(wanted));
  const CallMemory<T> work(length);
  const CallMemory<int> places(integers);
  if (!work || !places) return no_work_memory;
  syevd(job, triangle, &order, a, &order, w, work.get(), &length, places.get(), &integers, &info, 1, 1);
  return info;
}

template <class T>
bool triangle_is_finite(std::int64_t n, bool lower, const T* A) {
  for (std::int64_t i = 0; i < n; ++i)
    if (!all_finite(A + i * n + (lower ? 0 : i), lower ? i + 1 : n - i)) return false;
  return true;
}

}  // namespace

template <class T>
std::int64_t eigh(std::int64_t n, std::int64_t lower, const T* A, T* w, T* V) noexcept {
  if (n == 0) return 0;
  if (!triangle_is_finite(n, lower != 0, A)) return fill_nan(w, n), fill_nan(V, n * n), 0;
  std::copy(A, A + n * n, V);
  if (const auto failed = eigh_of(n, true, lower != 0, V, w)) return failed;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < i; ++j) std::swap(V[i * n + j], V[j * n + i]);
  return 0;
}

template <class T>
std::int64_t eigvalsh(std::int64_t n, std::int64_t lower, const T* A, T* w) noexcept {
  if (n == 0) return 0;
  if (!triangle_is_finite(n, lower != 0, A)) return fill_nan(w, n), 0;
  const CallMemory<T> a(n * n);
  if (!a) return no_work_memory;
  std::copy(A, A + n * n, a.get());
  return eigh_of(n, false, lower != 0, a.get(), w);
}

// ---- lower times upper ----------------------------------------------------------------------------------------------

namespace {

// By rows, without a library.
template <class T>
void plain_lu_factor(std::int64_t m, std::int64_t n, T* M, std::int32_t* pivots) {
  for (std::int64_t k = 0; k < std::min(m, n); ++k) {
    std::int64_t best = k;
    for (std::int64_t i = k + 1; i < m; ++i)
      if (std::abs(M[i * n + k]) > std::abs(M[best * n + k])) best = i;
    pivots[k] = std::int32_t(best);
    if (M[best * n + k] == 0) continue;
    if (best != k) std::swap_ranges(M + k * n, M + (k + 1) * n, M + best * n);
    for (std::int64_t i = k + 1; i < m; ++i) {
      const T factor = M[i * n + k] /= M[k * n + k];
      for (std::int64_t j = k + 1; j < n; ++j) M[i * n + j] -= factor * M[k * n + j];
    }
  }
}

constexpr std::int64_t small_lu_factor = 16;

}  // namespace

template <class T>
std::int64_t lu_factor(std::int64_t m, std::int64_t n, const T* A, T* LU, std::int32_t* pivots) noexcept {
  using Getrf = void (*)(const int*, const int*, T*, const int*, int*, int*);
  static const auto getrf = lapack_symbol<Getrf, T>("dgetrf_", "sgetrf_");
  const std::int64_t k = std::min(m, n);
  if (k == 0) return 0;
  if (std::max(m, n) <= small_lu_factor || !getrf || !lengths_fit(m, n)) {
    std::copy(A, A + m * n, LU);
    plain_lu_factor(m, n, LU, pivots);
    return 0;
  }
  const CallMemory<T> columns(m * n);
  if (!columns) return no_work_memory;
  transpose_into(m, n, A, columns.get());
  const int rows = int(m), width = int(n);
  int info = 0;
  getrf(&rows, &width, columns.get(), &rows, pivots, &info);
  transpose_into(n, m, columns.get(), LU);
  for (std::int64_t i = 0; i < k; ++i) --pivots[i];
  return 0;
}

// ---- Schur ----------------------------------------------------------------------------------------------------------

namespace {

template <class T>
int in_left_half(const T* re, const T*) {
  return *re < 0;
}
template <class T>
int in_right_half(const T* re, const T*) {
  return *re >= 0;
}
template <class T>
int inside_circle(const T* re, const T* im) {
  return std::hypot(*re, *im) <= 1;
}
template <class T>
int outside_circle(const T* re, const T* im) {
  return std::hypot(*re, *im) > 1;
}

}  // namespace

template <class T>
std::int64_t schur(std::int64_t n, std::int64_t sort, const T* A, T* upper, T* Z) noexcept {
  using Select = int (*)(const T*, const T*);
  BITALE_LAPACK_SYMBOL(T, gees, const char*, const char*, Select, const int*, T*, const int*, int*, T*, T*, T*,
                       const int*, T*, const int*, int*, int*, std::size_t, std::size_t);
  if (n == 0) return 0;
  if (!lengths_fit(n)) return no_work_memory;
  if (!all_finite(A, n * n)) return fill_nan(upper, n * n), fill_nan(Z, n * n), 0;
  constexpr Select selects[] = {nullptr, in_left_half<T>, in_right_half<T>, inside_circle<T>, outside_circle<T>};
  const CallMemory<T> a(n * n), vectors(n * n), re(n), im(n);
  const CallMemory<int> places(n);
  if (!a || !vectors || !re || !im || !places) return no_work_memory;
  transpose_into(n, n, A, a.get());
  const int order = int(n);
  int query = -1, info = 0, selected = 0;
  T size = 0;
  const auto call = [&](T* work, const int* length) {
    gees("V", sort ? "S" : "N", selects[sort], &order, a.get(), &order, &selected, re.get(), im.get(), vectors.get(),
         &order, work, length, places.get(), &info, 1, 1);
  };
  call(&size, &query);
  const int length = std::max(1, int(size));
  const CallMemory<T> work(length);
  if (!work) return no_work_memory;
  call(work.get(), &length);
  if (info != 0 && info != order + 2) return info;  // order + 2: rounding changed what an eigenvalue was sorted by
  transpose_into(n, n, a.get(), upper);
  transpose_into(n, n, vectors.get(), Z);
  return 0;
}

// ---- rows -----------------------------------------------------------------------------------------------------------

namespace {

constexpr std::string_view no_convergence = "a decomposition did not converge";

#define ROW(T, suffix, name, parameters, ...) \
  matrix_row<T>(runtime_function("bt_" #name "_" #suffix, name<T>, parameters), no_convergence, Flops __VA_ARGS__)
#define ROWS(T, suffix)                                                         \
  ROW(T, suffix, qr, "m n complete A Q R", {4, {"m", "n", "n"}}),               \
      ROW(T, suffix, qr_r, "m n A R", {2, {"m", "n", "n"}}),                    \
      ROW(T, suffix, qr_raw, "m n A H tau R", {2, {"m", "n", "n"}}),            \
      ROW(T, suffix, qr_raw_pivoted, "m n A H tau R P", {2, {"m", "n", "n"}}),  \
      ROW(T, suffix, qr_pivoted, "m n complete A Q R P", {4, {"m", "n", "n"}}), \
      ROW(T, suffix, svd, "m n full A U s Vt", {16, {"m", "n", "n"}}),          \
      ROW(T, suffix, svdvals, "m n A s", {4, {"m", "n", "n"}}),                 \
      ROW(T, suffix, eigh, "n lower A w V", {9, {"n", "n", "n"}}),              \
      ROW(T, suffix, eigvalsh, "n lower A w", {4, {"n", "n", "n"}, 3}),         \
      ROW(T, suffix, lu_factor, "m n A LU pivots", {1, {"m", "n", "n"}}),       \
      ROW(T, suffix, schur, "n sort A upper Z", {25, {"n", "n", "n"}})

const RegisterFunctions decomposition_functions{ROWS(double, f64), ROWS(float, f32)};

#undef ROWS
#undef ROW

}  // namespace
}  // namespace bitale::runtime
