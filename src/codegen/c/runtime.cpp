#include "codegen/c/runtime.hpp"

#include <array>
#include <string_view>

#include "bitale/core/text.hpp"

namespace bitale::codegen::c {

namespace {

// $T, $S: type and suffix of a family of functions; $C: the letter of BLAS.
struct Family {
  std::string_view prefix;  // the function's name up to its suffix
  std::string_view text;
};

constexpr Family blas[] = {
    {"bt_gemm_", R"(// C[m, n] = op(A)[m, k] op(B)[k, n]; lda and ldb are the distances of stored rows.
static void bt_gemm_$S(int64_t m, int64_t n, int64_t k, int64_t ta, int64_t tb, const $T *A, int64_t lda,
                        const $T *B, int64_t ldb, $T *restrict C) {
  if (m <= 0 || n <= 0) return;
  for (int64_t i = 0; i < m * n; ++i) C[i] = 0;
  if (k <= 0) return;
#ifdef BITALE_CBLAS
  cblas_$Cgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, (int)m, (int)n, (int)k, 1,
              A, (int)(lda > (ta ? m : k) ? lda : (ta ? m : k)), B, (int)(ldb > (tb ? k : n) ? ldb : (tb ? k : n)), 0,
              C, (int)n);
#else
  for (int64_t i = 0; i < m; ++i)
    for (int64_t l = 0; l < k; ++l) {
      const $T a = ta ? A[l * lda + i] : A[i * lda + l];
      for (int64_t j = 0; j < n; ++j) C[i * n + j] += a * (tb ? B[j * ldb + l] : B[l * ldb + j]);
    }
#endif
}
)"},
    {"bt_gemv_", R"(// y[m] = op(A)[m, k] x[k]
static void bt_gemv_$S(int64_t m, int64_t k, int64_t ta, const $T *A, int64_t lda, const $T *x, $T *restrict y) {
  if (m <= 0) return;
  for (int64_t i = 0; i < m; ++i) y[i] = 0;
  if (k <= 0) return;
#ifdef BITALE_CBLAS
  cblas_$Cgemv(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, (int)(ta ? k : m), (int)(ta ? m : k), 1, A,
              (int)(lda > (ta ? m : k) ? lda : (ta ? m : k)), x, 1, 0, y, 1);
#else
  if (ta) {
    for (int64_t l = 0; l < k; ++l)
      for (int64_t i = 0; i < m; ++i) y[i] += A[l * lda + i] * x[l];
    return;
  }
  for (int64_t i = 0; i < m; ++i) {
    $T lane[8] = {0};
    int64_t l = 0;
    for (; l + 8 <= k; l += 8)
      for (int s = 0; s < 8; ++s) lane[s] += A[i * lda + l + s] * x[l + s];
    for (int s = 0; l < k; ++l, ++s) lane[s] += A[i * lda + l] * x[l];
    y[i] = ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
  }
#endif
}
)"},
    {"bt_batched_gemm_", R"(// Products of matrices that follow one another, or of one (a stride of 0).
static void bt_batched_gemm_$S(int64_t batch, int64_t m, int64_t n, int64_t k, const $T *A, int64_t strideA,
                                const $T *B, int64_t strideB, $T *C) {
  for (int64_t i = 0; i < batch; ++i)
    bt_gemm_$S(m, n, k, 0, 0, A + i * strideA, k, B + i * strideB, n, C + i * m * n);
}
)"},
};

// Heapsort: in place, n log n whatever the order. $L: whether a comes before b; $A: of places, the same for what is
// there.
constexpr Family sorts[] = {
    {"bt_sort_", R"(static inline bool bt_before_$S($T a, $T b) { return $L; }

// Each row of `to` is that row of `from`, increasing: -0 before +0, nan last.
static void bt_sort_$S(int64_t rows, int64_t length, const $T *from, $T *to) {
  for (int64_t row = 0; row < rows; ++row, from += length, to += length) {
    for (int64_t i = 0; i < length; ++i) to[i] = from[i];
    for (int64_t start = length / 2, end = length; end > 1;) {
      if (start > 0) {
        --start;
      } else {
        --end;
        const $T last = to[end];
        to[end] = to[0];
        to[0] = last;
      }
      const $T x = to[start];
      int64_t at = start;
      for (int64_t child; (child = 2 * at + 1) < end; at = child) {
        if (child + 1 < end && bt_before_$S(to[child], to[child + 1])) ++child;
        if (!bt_before_$S(x, to[child])) break;
        to[at] = to[child];
      }
      to[at] = x;
    }
  }
}
)"},
    {"bt_argsort_", R"(// Whether what is at place i comes before what is at place j; of equals, the first.
static inline bool bt_place_before_$S(const $T *x, int64_t i, int64_t j) {
  const $T a = x[i], b = x[j];
  return ($A) || (!($B) && i < j);
}

// Where the elements of each sorted row were.
static void bt_argsort_$S(int64_t rows, int64_t length, const $T *from, int64_t *to) {
  for (int64_t row = 0; row < rows; ++row, from += length, to += length) {
    for (int64_t i = 0; i < length; ++i) to[i] = i;
    for (int64_t start = length / 2, end = length; end > 1;) {
      if (start > 0) {
        --start;
      } else {
        --end;
        const int64_t last = to[end];
        to[end] = to[0];
        to[0] = last;
      }
      const int64_t x = to[start];
      int64_t at = start;
      for (int64_t child; (child = 2 * at + 1) < end; at = child) {
        if (child + 1 < end && bt_place_before_$S(from, to[child], to[child + 1])) ++child;
        if (!bt_place_before_$S(from, x, to[child])) break;
        to[at] = to[child];
      }
      to[at] = x;
    }
  }
}
)"},
};

struct SortedType {
  std::string_view suffix, type;
};
constexpr SortedType sorted_types[] = {{"bool", "uint8_t"}, {"i8", "int8_t"},  {"i16", "int16_t"},  {"i32", "int32_t"},
                                       {"i64", "int64_t"},  {"u8", "uint8_t"}, {"u16", "uint16_t"}, {"u32", "uint32_t"},
                                       {"u64", "uint64_t"}, {"f32", "float"},  {"f64", "double"}};

struct Function {
  std::string_view name, text;
};
// The float32 version, name + "f", calls this one.
constexpr Function functions[] = {
    {"bt_sin_huge", "static double bt_sin_huge(double x) { return sin(x); }\n"},
    {"bt_cos_huge", "static double bt_cos_huge(double x) { return cos(x); }\n"},
    {"bt_tan_huge", "static double bt_tan_huge(double x) { return tan(x); }\n"},
    {"bt_gamma", "static double bt_gamma(double x) { return tgamma(x); }\n"},
    {"bt_erfcx", R"(// exp(x * x) * erfc(x)
static double bt_erfcx(double x) {
  if (x >= 25) {
    const double step = -0.5 / (x * x);
    double term = 1, total = 1;
    for (int n = 1; n <= 7; ++n) total += term *= step * (2 * n - 1);
    return 0.564189583547756286948 / x * total;
  }
  const double square = x * x;
  return square > 1e3 ? INFINITY : exp(square) * erfc(x) * (1 + fma(x, x, -square));
}
)"},
    {"bt_lgamma",
     R"(// log |Gamma(x)| by Stirling's series, and by reflection below 0 (Abramowitz and Stegun 6.1.17, 6.1.41).
static double bt_lgamma_positive(double x) {
  double product = 1;
  for (; x < 10; ++x) product *= x;
  const double r = 1 / x, s = r * r;
  const double series = r * (1.0 / 12 - s * (1.0 / 360 - s * (1.0 / 1260 - s * (1.0 / 1680 - s * (1.0 / 1188 - s * (691.0 / 360360 - s / 156))))));
  return (x - 0.5) * log(x) - x + 0.918938533204672741780 + series - log(product);
}
static double bt_lgamma(double x) {
  if (x != x) return x;
  if (x == INFINITY || x == -INFINITY) return INFINITY;
  if (x > 0) return x < 1e15 ? bt_lgamma_positive(x) : x * (log(x) - 1);
  const double r = x - rint(x);
  if (r == 0) return INFINITY;
  return 1.14472988584940017414 - log(fabs(sin(3.14159265358979323846 * r))) - bt_lgamma(1 - x);
}
)"},
    {"bt_digamma", R"(// The derivative of log Gamma: recurrence, the asymptotic series, reflection (A. & S. 6.3).
static double bt_digamma(double x) {
  if (x != x || x == INFINITY) return x;
  if (x == 0) return signbit(x) ? INFINITY : -INFINITY;
  if (x < 0) {
    const double r = x - rint(x);
    if (r == 0 || x == -INFINITY) return NAN;
    return bt_digamma(1 - x) - 3.14159265358979323846 / tan(3.14159265358979323846 * r);
  }
  double sum = 0;
  for (; x < 12; ++x) sum -= 1 / x;
  const double s = 1 / (x * x);
  return sum + log(x) - 0.5 / x - s * (1.0 / 12 - s * (1.0 / 120 - s * (1.0 / 252 - s * (1.0 / 240 - s * (1.0 / 132 - s * 691.0 / 32760)))));
}
)"},
    {"bt_trigamma", R"(// The derivative of digamma, likewise (A. & S. 6.4).
static double bt_trigamma(double x) {
  if (x != x) return x;
  if (x == INFINITY) return 0;
  if (x == -INFINITY) return NAN;
  if (x <= 0) {
    const double r = x - rint(x);
    if (r == 0) return INFINITY;
    const double s = 3.14159265358979323846 / sin(3.14159265358979323846 * r);
    return s * s - bt_trigamma(1 - x);
  }
  double sum = 0;
  for (; x < 12; ++x) sum += 1 / (x * x);
  const double r = 1 / x, s = r * r;
  return sum + r + s / 2 + r * s * (1.0 / 6 - s * (1.0 / 30 - s * (1.0 / 42 - s * (1.0 / 30 - s * (5.0 / 66 - s * 691.0 / 2730)))));
}
)"},
    {"bt_pow_u64", R"(static uint64_t bt_pow_u64(uint64_t x, uint64_t n) {
  uint64_t power = 1;
  for (; n; n >>= 1, x *= x)
    if (n & 1) power *= x;
  return power;
}
)"},
    {"bt_pow_i64", R"(static int64_t bt_pow_i64(int64_t x, int64_t n) {
  if (n < 0) return x == 1 ? 1 : x == -1 ? (n & 1 ? -1 : 1) : 0;
  uint64_t power = 1, base = (uint64_t)x;
  for (; n; n >>= 1, base *= base)
    if (n & 1) power *= base;
  return (int64_t)power;
}
)"},
};

std::string replaced(std::string_view text, std::string_view what, std::string_view by) {
  std::string out;
  for (std::size_t at = 0;;) {
    const std::size_t found = text.find(what, at);
    out += text.substr(at, found - at);
    if (found == text.npos) return out;
    out += by;
    at = found + what.size();
  }
}

std::string sort_definition(const Family& family, const SortedType& type) {
  const bool real = type.suffix[0] == 'f';
  std::string text(family.text);
  text = replaced(text, "$S", type.suffix);
  text = replaced(text, "$T", type.type);
  text = replaced(text, "$L", real ? "a < b || (a == a && b != b) || (a == b && signbit(a) && !signbit(b))" : "a < b");
  text = replaced(text, "$A", real ? "a < b || (a == a && b != b)" : "a < b");
  return replaced(text, "$B", real ? "b < a || (b == b && a != a)" : "b < a");
}

}  // namespace

bool uses_blas(const std::string& function) {
  for (auto& family : blas)
    if (function.starts_with(family.prefix)) return true;
  return false;
}

Definition portable_definition(const std::string& function) {
  for (auto& family : blas)
    for (auto& [suffix, type, letter] :
         {std::array<std::string_view, 3>{"f64", "double", "d"}, {"f32", "float", "s"}}) {
      if (function != cat(family.prefix, suffix)) continue;
      Definition out{{}, replaced(replaced(replaced(family.text, "$S", suffix), "$T", type), "$C", letter)};
      if (family.prefix.starts_with("bt_batched")) out.needs.push_back(cat("bt_gemm_", suffix));
      return out;
    }
  for (auto& family : sorts)
    for (auto& type : sorted_types)
      if (function == cat(family.prefix, type.suffix)) return {{}, sort_definition(family, type)};
  for (auto& [name, text] : functions) {
    if (function == name) return {{}, std::string(text)};
    if (function == cat(name, "f"))
      return {{std::string(name)}, cat("static float ", name, "f(float x) { return (float)", name, "((double)x); }\n")};
  }
  return {};
}

}  // namespace bitale::codegen::c
