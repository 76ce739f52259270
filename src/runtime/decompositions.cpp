#include "runtime/decompositions.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

#include "runtime/lapack_calls.hpp"
#include "runtime/rows_of_matrices.hpp"

namespace bitale::runtime {

const char* status_text(std::int64_t status) {
  if (status == no_work_memory) return "there is not enough memory for the workspace";
  if (status == no_lapack) return "the library of matrix products has no LAPACK; the flag blas__library names another";
  return "the iteration did not converge";
}

// ---- orthogonal times triangular ------------------------------------------------------------------------------------

namespace {

// The first `rows` rows of the upper triangle of a column-major [m, n].
template <class N>
void upper_rows(std::int64_t rows, std::int64_t m, std::int64_t n, const N* columns, N* R) {
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < n; ++j) R[i * n + j] = i <= j && i < m ? columns[j * m + i] : N(0);
}

// geqrf on a column-major [m, n], or geqp3, which exchanges columns. P is null without pivoting, and counts from 0.
template <class N>
std::int64_t reflect(int m, int n, N* columns, N* tau, std::int32_t* P) {
  using T = PartOf<N>;
  BITALE_LAPACK_SYMBOL(N, geqrf, const int*, const int*, N*, const int*, N*, N*, const int*, int*);
  int info = 0;
  bool done = false;
  if (!P) {
    done = with_work<N>(m, n, 0,
                        [&](N* work, const int* length) { geqrf(&m, &n, columns, &m, tau, work, length, &info); });
  } else {
    std::fill(P, P + n, 0);
    const auto call = [&](const auto& geqp3, auto*... real_work) {
      done = with_work<N>(m, n, 0, [&](N* work, const int* length) {
        geqp3(&m, &n, columns, &m, P, tau, work, length, real_work..., &info);
      });
    };
    if constexpr (is_complex_number<N>) {
      BITALE_LAPACK_SYMBOL(N, geqp3, const int*, const int*, N*, const int*, int*, N*, N*, const int*, T*, int*);
      const CallMemory<T> real_work(2 * std::int64_t(n));
      if (!real_work) return no_work_memory;
      call(geqp3, real_work.get());
    } else {
      BITALE_LAPACK_SYMBOL(N, geqp3, const int*, const int*, N*, const int*, int*, N*, N*, const int*, int*);
      call(geqp3);
    }
    for (int j = 0; j < n; ++j) --P[j];
  }
  return done ? info : no_work_memory;
}

// Computes the first k columns of the product of `reflections`, in place: column-major [m, k].
template <class N>
std::int64_t unfold(int m, int k, int reflections, N* columns, const N* tau) {
  BITALE_LAPACK_SYMBOL_OF(N, orgqr, ungqr, const int*, const int*, const int*, N*, const int*, const N*, N*, const int*,
                          int*);
  int info = 0;
  const bool done = with_work<N>(m, k, reflections, [&](N* work, const int* length) {
    orgqr(&m, &k, &reflections, columns, &m, tau, work, length, &info);
  });
  return done ? info : no_work_memory;
}

void count_columns(std::int64_t n, std::int32_t* P) {
  for (std::int64_t j = 0; P && j < n; ++j) P[j] = std::int32_t(j);
}

template <class N>
std::int64_t qr_of(std::int64_t m, std::int64_t n, bool complete, const N* A, N* Q, N* R, std::int32_t* P) {
  const std::int64_t k = std::min(m, n), width = complete ? m : k;
  if (!lengths_fit(m, n)) return no_work_memory;
  count_columns(n, P);
  if (!all_finite(A, m * n)) return fill_nan(Q, m * width), fill_nan(R, width * n), 0;
  if (k == 0) {
    std::fill(R, R + width * n, N(0));
    for (std::int64_t i = 0; i < m * width; ++i) Q[i] = i / width == i % width ? N(1) : N(0);
    return 0;
  }
  const CallMemory<N> columns(m * std::max(n, width)), tau(k);
  if (!columns || !tau) return no_work_memory;
  transpose_into(m, n, A, columns.get());
  if (const auto failed = reflect<N>(int(m), int(n), columns.get(), tau.get(), P)) return failed;
  upper_rows(width, m, n, columns.get(), R);
  if (const auto failed = unfold<N>(int(m), int(width), int(k), columns.get(), tau.get())) return failed;
  transpose_into(width, m, columns.get(), Q);
  return 0;
}

// H and tau are null if only R is needed; P is null without pivoting.
template <class N>
std::int64_t reflections_of(std::int64_t m, std::int64_t n, const N* A, N* H, N* tau, N* R, std::int32_t* P) {
  const std::int64_t k = std::min(m, n);
  if (!lengths_fit(m, n)) return no_work_memory;
  count_columns(n, P);
  if (!all_finite(A, m * n)) {
    if (H) fill_nan(H, m * n), fill_nan(tau, k);
    return fill_nan(R, k * n), 0;
  }
  if (k == 0) return 0;
  const CallMemory<N> columns(m * n), factors(k);
  if (!columns || !factors) return no_work_memory;
  transpose_into(m, n, A, columns.get());
  if (const auto failed = reflect<N>(int(m), int(n), columns.get(), factors.get(), P)) return failed;
  upper_rows(k, m, n, columns.get(), R);
  if (!H) return 0;
  transpose_into(n, m, columns.get(), H);
  std::copy(factors.get(), factors.get() + k, tau);
  return 0;
}

}  // namespace

template <class N>
std::int64_t qr(std::int64_t m, std::int64_t n, std::int64_t complete, const N* A, N* Q, N* R) noexcept {
  return qr_of<N>(m, n, complete != 0, A, Q, R, nullptr);
}

template <class N>
std::int64_t qr_pivoted(std::int64_t m, std::int64_t n, std::int64_t complete, const N* A, N* Q, N* R,
                        std::int32_t* P) noexcept {
  return qr_of<N>(m, n, complete != 0, A, Q, R, P);
}

template <class N>
std::int64_t qr_raw(std::int64_t m, std::int64_t n, const N* A, N* H, N* tau, N* R) noexcept {
  return reflections_of<N>(m, n, A, H, tau, R, nullptr);
}

template <class N>
std::int64_t qr_raw_pivoted(std::int64_t m, std::int64_t n, const N* A, N* H, N* tau, N* R, std::int32_t* P) noexcept {
  return reflections_of<N>(m, n, A, H, tau, R, P);
}

template <class N>
std::int64_t qr_r(std::int64_t m, std::int64_t n, const N* A, N* R) noexcept {
  return reflections_of<N>(m, n, A, nullptr, nullptr, R, nullptr);
}

// ---- singular values ------------------------------------------------------------------------------------------------

namespace {

// Matrices up to this length use the steps of gesvd, whose iteration is the same as gesdd's at this size, with less
// overhead.
constexpr int small_svd = 25;

// Whether A needs no scaling; gesvd scales other matrices, so that squares neither overflow nor vanish.
template <class N>
bool is_of_ordinary_size(const N* A, std::int64_t count) {
  using T = PartOf<N>;
  static const T least = std::sqrt(std::numeric_limits<T>::min()) / std::numeric_limits<T>::epsilon();
  T most = 0;
  for (std::int64_t i = 0; i < count; ++i) most = std::max(most, T(std::abs(A[i])));
  return most > least && most < 1 / least;
}

// A = left B right with a bidiagonal B, whose singular values are stored in s; left and right are null if only s is
// needed. Column-major: a[m, n], left[m, wide or k], right[wide or k, n].
template <class N>
std::int64_t svd_by_bidiagonal(int m, int n, bool wide, const N* A, PartOf<N>* s, N* left, N* right) {
  using T = PartOf<N>;
  BITALE_LAPACK_SYMBOL(N, gebrd, const int*, const int*, N*, const int*, T*, T*, N*, N*, N*, const int*, int*);
  BITALE_LAPACK_SYMBOL_OF(N, orgbr, ungbr, const char*, const int*, const int*, const int*, N*, const int*, const N*,
                          N*, const int*, int*, std::size_t);
  BITALE_LAPACK_SYMBOL(N, bdsqr, const char*, const int*, const int*, const int*, const int*, T*, T*, N*, const int*,
                       N*, const int*, N*, const int*, T*, int*, std::size_t);
  N a[small_svd * small_svd], of_left[small_svd], of_right[small_svd], work[small_svd], none = 0;
  T beside[small_svd], real_work[4 * small_svd];
  const int k = std::min(m, n), room = small_svd, zero = 0, one = 1;
  int info = 0;
  std::copy(A, A + std::int64_t(m) * n, a);
  gebrd(&m, &n, a, &m, s, beside, of_left, of_right, work, &room, &info);
  const int left_columns = left ? wide ? m : k : 0, right_rows = right ? wide ? n : k : 0;
  if (left) {
    std::copy(a, a + std::int64_t(m) * k, left);
    orgbr("Q", &m, &left_columns, &n, left, &m, of_left, work, &room, &info, 1);
  }
  if (right) {
    for (std::int64_t j = 0; j < n; ++j) std::copy(a + j * m, a + j * m + k, right + j * right_rows);
    orgbr("P", &right_rows, &n, &m, right, &right_rows, of_right, work, &room, &info, 1);
  }
  const int columns = right ? n : 0, rows = left ? m : 0;
  bdsqr(m >= n ? "U" : "L", &k, &columns, &rows, &zero, s, beside, right ? right : &none, right ? &right_rows : &one,
        left ? left : &none, left ? &m : &one, &none, &one, real_work, &info, 1);
  return info;
}

// Read by columns, the same memory is A^T = conj(V) diag(s) U^T, so LAPACK's left vectors are the rows of Vh, and its
// right ones, transposed, are those of U: no transposition is needed.
template <class N>
std::int64_t svd_of(std::int64_t m, std::int64_t n, char job, const N* A, N* U, PartOf<N>* s, N* Vh) {
  using T = PartOf<N>;
  if (!lengths_fit(m, n)) return no_work_memory;
  const int rows = int(n), columns = int(m), k = std::min(rows, columns), most = std::max(rows, columns);
  if (most <= small_svd && is_of_ordinary_size(A, m * n))
    return svd_by_bidiagonal<N>(rows, columns, job == 'A', A, s, Vh, U);
  const int right = job == 'A' ? columns : k;
  const CallMemory<N> a(m * n);
  const CallMemory<int> integer_work(8 * std::int64_t(k));
  if (!a || !integer_work) return no_work_memory;
  std::copy(A, A + m * n, a.get());
  int info = 0;
  N none = 0;
  bool done = false;
  const auto call = [&](const auto& gesdd, auto*... real_work) {
    done = with_work<N>(m, n, job, [&](N* work, const int* length) {
      gesdd(&job, &rows, &columns, a.get(), &rows, s, Vh ? Vh : &none, &rows, U ? U : &none, &right, work, length,
            real_work..., integer_work.get(), &info, 1);
    });
  };
  if constexpr (is_complex_number<N>) {
    BITALE_LAPACK_SYMBOL(N, gesdd, const char*, const int*, const int*, N*, const int*, T*, N*, const int*, N*,
                         const int*, N*, const int*, T*, int*, int*, std::size_t);
    const CallMemory<T> real_work(std::int64_t(k) *
                                  std::max(5 * std::int64_t(k) + 7, 2 * std::int64_t(most) + 2 * k + 1));
    if (!real_work) return no_work_memory;
    call(gesdd, real_work.get());
  } else {
    BITALE_LAPACK_SYMBOL(N, gesdd, const char*, const int*, const int*, N*, const int*, T*, N*, const int*, N*,
                         const int*, N*, const int*, int*, int*, std::size_t);
    call(gesdd);
  }
  return done ? info : no_work_memory;
}

template <class N>
void unit_matrix(std::int64_t n, N* x) {
  std::fill(x, x + n * n, N(0));
  for (std::int64_t i = 0; i < n; ++i) x[i * n + i] = N(1);
}

}  // namespace

template <class N>
std::int64_t svd(std::int64_t m, std::int64_t n, std::int64_t full, const N* A, N* U, PartOf<N>* s, N* Vh) noexcept {
  const std::int64_t k = std::min(m, n);
  if (k == 0) {
    if (full) unit_matrix(m, U), unit_matrix(n, Vh);
    return 0;
  }
  if (!all_finite(A, m * n)) {
    fill_nan(U, m * (full ? m : k)), fill_nan(Vh, n * (full ? n : k));
    return fill_nan(s, k), 0;
  }
  return svd_of<N>(m, n, full ? 'A' : 'S', A, U, s, Vh);
}

template <class N>
std::int64_t svdvals(std::int64_t m, std::int64_t n, const N* A, PartOf<N>* s) noexcept {
  if (m == 0 || n == 0) return 0;
  if (!all_finite(A, m * n)) return fill_nan(s, std::min(m, n)), 0;
  return svd_of<N>(m, n, 'N', A, nullptr, s, nullptr);
}

// ---- eigenvalues of symmetric and Hermitian matrices ----------------------------------------------------------------

namespace {

// `a` is overwritten by the eigenvectors, stored consecutively. Read by columns, the same memory is conj(A), with the
// other triangle: it has the same eigenvalues, and the conjugates of the eigenvectors.
template <class N>
std::int64_t eigh_of(std::int64_t n, bool vectors, bool lower, N* a, PartOf<N>* w) {
  using T = PartOf<N>;
  if (!lengths_fit(5 * n + 3)) return no_work_memory;
  const char *job = vectors ? "V" : "N", *triangle = lower ? "U" : "L";
  const int order = int(n), integers = vectors ? 3 + 5 * order : 1;
  const CallMemory<int> integer_work(integers);
  if (!integer_work) return no_work_memory;
  int info = 0;
  bool done = false;
  const auto call = [&](const auto& syevd, auto... real_work) {
    done = with_work<N>(n, n, vectors, [&](N* work, const int* length) {
      syevd(job, triangle, &order, a, &order, w, work, length, real_work..., integer_work.get(), &integers, &info, 1,
            1);
    });
  };
  if constexpr (is_complex_number<N>) {
    BITALE_LAPACK_SYMBOL(N, heevd, const char*, const char*, const int*, N*, const int*, T*, N*, const int*, T*,
                         const int*, int*, const int*, int*, std::size_t, std::size_t);
    const std::int64_t reals = vectors ? 1 + 5 * n + 2 * n * n : n;
    if (!lengths_fit(reals)) return no_work_memory;
    const CallMemory<T> real_work(reals);
    if (!real_work) return no_work_memory;
    const int real_length = int(reals);
    call(heevd, real_work.get(), &real_length);
  } else {
    BITALE_LAPACK_SYMBOL(N, syevd, const char*, const char*, const int*, N*, const int*, T*, N*, const int*, int*,
                         const int*, int*, std::size_t, std::size_t);
    call(syevd);
  }
  return done ? info : no_work_memory;
}

template <class N>
bool triangle_is_finite(std::int64_t n, bool lower, const N* A) {
  for (std::int64_t i = 0; i < n; ++i)
    if (!all_finite(A + i * n + (lower ? 0 : i), lower ? i + 1 : n - i)) return false;
  return true;
}

}  // namespace

template <class N>
std::int64_t eigh(std::int64_t n, std::int64_t lower, const N* A, PartOf<N>* w, N* V) noexcept {
  if (n == 0) return 0;
  if (!triangle_is_finite(n, lower != 0, A)) return fill_nan(w, n), fill_nan(V, n * n), 0;
  std::copy(A, A + n * n, V);
  if (const auto failed = eigh_of<N>(n, true, lower != 0, V, w)) return failed;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < i; ++j) std::swap(V[i * n + j], V[j * n + i]);
  }
  if constexpr (is_complex_number<N>)
    for (std::int64_t i = 0; i < n * n; ++i) V[i] = std::conj(V[i]);
  return 0;
}

template <class N>
std::int64_t eigvalsh(std::int64_t n, std::int64_t lower, const N* A, PartOf<N>* w) noexcept {
  if (n == 0) return 0;
  if (!triangle_is_finite(n, lower != 0, A)) return fill_nan(w, n), 0;
  const CallMemory<N> a(n * n);
  if (!a) return no_work_memory;
  std::copy(A, A + n * n, a.get());
  return eigh_of<N>(n, false, lower != 0, a.get(), w);
}

// ---- lower times upper ----------------------------------------------------------------------------------------------

namespace {

// Factors by rows, without a library.
template <class N>
void plain_lu_factor(std::int64_t m, std::int64_t n, N* M, std::int32_t* pivots) {
  for (std::int64_t k = 0; k < std::min(m, n); ++k) {
    std::int64_t best = k;
    for (std::int64_t i = k + 1; i < m; ++i)
      if (size_of_pivot(M[i * n + k]) > size_of_pivot(M[best * n + k])) best = i;
    pivots[k] = std::int32_t(best);
    if (M[best * n + k] == N(0)) continue;
    if (best != k) std::swap_ranges(M + k * n, M + (k + 1) * n, M + best * n);
    for (std::int64_t i = k + 1; i < m; ++i) {
      const N factor = M[i * n + k] /= M[k * n + k];
      for (std::int64_t j = k + 1; j < n; ++j) M[i * n + j] -= times(factor, M[k * n + j]);
    }
  }
}

constexpr std::int64_t small_lu_factor = 16;

}  // namespace

template <class N>
std::int64_t lu_factor(std::int64_t m, std::int64_t n, const N* A, N* LU, std::int32_t* pivots) noexcept {
  using Getrf = void (*)(const int*, const int*, N*, const int*, int*, int*);
  static const auto getrf = number_symbol<Getrf, N>("", "getrf_");
  const std::int64_t k = std::min(m, n);
  if (k == 0) return 0;
  if (std::max(m, n) <= small_lu_factor || !getrf || !lengths_fit(m, n)) {
    std::copy(A, A + m * n, LU);
    plain_lu_factor(m, n, LU, pivots);
    return 0;
  }
  const CallMemory<N> columns(m * n);
  if (!columns) return no_work_memory;
  transpose_into(m, n, A, columns.get());
  const int rows = int(m), width = int(n);
  int info = 0;
  getrf(&rows, &width, columns.get(), &rows, pivots, &info);
  transpose_into(n, m, columns.get(), LU);
  for (std::int64_t i = 0; i < k; ++i) --pivots[i];
  return 0;
}

namespace {

constexpr std::string_view lu_factor_c =
    R"(// L without its unit diagonal below, U above; row i was exchanged with row pivots[i].
static int64_t bt_lu_factor_$S(int64_t m, int64_t n, const $T *A, $T *LU, int32_t *pivots) {
  for (int64_t i = 0; i < m * n; ++i) LU[i] = A[i];
  for (int64_t k = 0; k < m && k < n; ++k) {
    int64_t best = k;
    for (int64_t i = k + 1; i < m; ++i)
      if (fabs((double)LU[i * n + k]) > fabs((double)LU[best * n + k])) best = i;
    pivots[k] = (int32_t)best;
    if (LU[best * n + k] == 0) continue;
    for (int64_t j = 0; j < n && best != k; ++j) {
      const $T kept = LU[k * n + j];
      LU[k * n + j] = LU[best * n + j];
      LU[best * n + j] = kept;
    }
    for (int64_t i = k + 1; i < m; ++i) {
      const $T factor = LU[i * n + k] /= LU[k * n + k];
      for (int64_t j = k + 1; j < n; ++j) LU[i * n + j] -= factor * LU[k * n + j];
    }
  }
  return 0;
}
)";

}  // namespace

// ---- Schur ----------------------------------------------------------------------------------------------------------

namespace {

// Which eigenvalues come first: in the left half of the plane, the right one, inside the unit circle, outside.
template <class T, int sort>
bool comes_first(T re, T im) {
  if constexpr (sort == 1) return re < 0;
  if constexpr (sort == 2) return re >= 0;
  const bool is_inside = std::hypot(re, im) <= 1;
  return sort == 3 ? is_inside : !is_inside;
}
template <class T, int sort>
int selects(const T* re, const T* im) {
  return comes_first<T, sort>(*re, *im);
}
template <class T, int sort>
int selects(const std::complex<T>* w) {
  return comes_first<T, sort>(w->real(), w->imag());
}

}  // namespace

template <class N>
std::int64_t schur_by_columns(std::int64_t n, std::int64_t sort, N* columns, N* Z) noexcept {
  using T = PartOf<N>;
  const CallMemory<T> parts(2 * n);
  const CallMemory<int> integer_work(n);
  if (!parts || !integer_work) return no_work_memory;
  const int order = int(n);
  int info = 0, selected = 0;
  bool done = false;
  const char* const form = sort ? "S" : "N";
  if constexpr (is_complex_number<N>) {
    using Select = int (*)(const N*);
    BITALE_LAPACK_SYMBOL(N, gees, const char*, const char*, Select, const int*, N*, const int*, int*, N*, N*,
                         const int*, N*, const int*, T*, int*, int*, std::size_t, std::size_t);
    constexpr Select select[] = {nullptr, selects<T, 1>, selects<T, 2>, selects<T, 3>, selects<T, 4>};
    const CallMemory<T> real_work(n);
    if (!real_work) return no_work_memory;
    done = with_work<N>(n, n, 0, [&](N* work, const int* length) {
      gees("V", form, select[sort], &order, columns, &order, &selected, as_numbers(parts.get()), Z, &order, work,
           length, real_work.get(), integer_work.get(), &info, 1, 1);
    });
  } else {
    using Select = int (*)(const T*, const T*);
    BITALE_LAPACK_SYMBOL(N, gees, const char*, const char*, Select, const int*, N*, const int*, int*, T*, T*, N*,
                         const int*, N*, const int*, int*, int*, std::size_t, std::size_t);
    constexpr Select select[] = {nullptr, selects<T, 1>, selects<T, 2>, selects<T, 3>, selects<T, 4>};
    done = with_work<N>(n, n, 0, [&](N* work, const int* length) {
      gees("V", form, select[sort], &order, columns, &order, &selected, parts.get(), parts.get() + n, Z, &order, work,
           length, integer_work.get(), &info, 1, 1);
    });
  }
  if (!done) return no_work_memory;
  return info == order + 2 ? 0 : info;  // order + 2: rounding changed what an eigenvalue was sorted by
}

template <class N>
std::int64_t schur(std::int64_t n, std::int64_t sort, const N* A, N* upper, N* Z) noexcept {
  if (n == 0) return 0;
  if (!lengths_fit(n)) return no_work_memory;
  if (!all_finite(A, n * n)) return fill_nan(upper, n * n), fill_nan(Z, n * n), 0;
  const CallMemory<N> a(n * n), vectors(n * n);
  if (!a || !vectors) return no_work_memory;
  transpose_into(n, n, A, a.get());
  if (const auto failed = schur_by_columns(n, sort, a.get(), vectors.get())) return failed;
  transpose_into(n, n, a.get(), upper);
  transpose_into(n, n, vectors.get(), Z);
  return 0;
}

// ---- rows -----------------------------------------------------------------------------------------------------------

#define FOR(N)                                            \
  template decltype(qr<N>) qr<N>;                         \
  template decltype(qr_r<N>) qr_r<N>;                     \
  template decltype(qr_raw<N>) qr_raw<N>;                 \
  template decltype(qr_raw_pivoted<N>) qr_raw_pivoted<N>; \
  template decltype(qr_pivoted<N>) qr_pivoted<N>;         \
  template decltype(svd<N>) svd<N>;                       \
  template decltype(svdvals<N>) svdvals<N>;               \
  template decltype(eigh<N>) eigh<N>;                     \
  template decltype(eigvalsh<N>) eigvalsh<N>;             \
  template decltype(lu_factor<N>) lu_factor<N>;           \
  template decltype(schur<N>) schur<N>;                   \
  template decltype(schur_by_columns<N>) schur_by_columns<N>;
FOR(double)
FOR(float)
FOR(std::complex<double>)
FOR(std::complex<float>)
#undef FOR

namespace {

constexpr std::string_view no_convergence = "a decomposition did not converge";

#define ROW(T, suffix, name, parameters, ...) \
  BITALE_NUMBER_ROWS(T, suffix, name, parameters, no_convergence, __VA_ARGS__)
#define ROWS(T, suffix)                                                                                              \
  ROW(T, suffix, qr, "m n complete A Q R", 4, {"m", "n", "n"}), ROW(T, suffix, qr_r, "m n A R", 2, {"m", "n", "n"}), \
      ROW(T, suffix, qr_raw, "m n A H tau R", 2, {"m", "n", "n"}),                                                   \
      ROW(T, suffix, qr_raw_pivoted, "m n A H tau R P", 2, {"m", "n", "n"}),                                         \
      ROW(T, suffix, qr_pivoted, "m n complete A Q R P", 4, {"m", "n", "n"}),                                        \
      ROW(T, suffix, svd, "m n full A U s Vh", 16, {"m", "n", "n"}),                                                 \
      ROW(T, suffix, svdvals, "m n A s", 4, {"m", "n", "n"}),                                                        \
      ROW(T, suffix, eigh, "n lower A w V", 9, {"n", "n", "n"}),                                                     \
      ROW(T, suffix, eigvalsh, "n lower A w", 4, {"n", "n", "n"}, 3),                                                \
      matrix_row<T>(runtime_function("bt_lu_factor_" #suffix, lu_factor<T>, "m n A LU pivots"), no_convergence,      \
                    Flops{1, {"m", "n", "n"}}, lu_factor_c),                                                         \
      matrix_row<T>(runtime_function("bt_complex_lu_factor_" #suffix, over_pairs<lu_factor<std::complex<T>>>,        \
                                     "m n A LU pivots"),                                                             \
                    no_convergence, Flops{4, {"m", "n", "n"}}),                                                      \
      ROW(T, suffix, schur, "n sort A upper Z", 25, {"n", "n", "n"})

const RegisterFunctions decomposition_functions{ROWS(double, f64), ROWS(float, f32)};

#undef ROWS
#undef ROW

}  // namespace
}  // namespace bitale::runtime
