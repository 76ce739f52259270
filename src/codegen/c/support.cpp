#include "codegen/c/support.hpp"

#include <span>
#include <utility>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "codegen/c/spelling.hpp"

namespace bitale::codegen::c {

namespace {

// $T type, $U the unsigned type for its arithmetic, $S its suffix; $F and $R the type and suffix converted from.
struct Entry {
  std::string_view name;
  bool (*fits)(DType dtype);  // of several entries with one name, the first that fits is used
  std::string_view text;
};

bool any(DType) { return true; }
bool is_unsigned(DType dtype) { return kind(dtype) == DTypeKind::UInt; }
bool is_float32(DType dtype) { return dtype == DType::Float32; }
bool is_bool(DType dtype) { return dtype == DType::Bool; }
bool is_wide_unsigned(DType dtype) { return dtype == DType::UInt64; }
bool is_wide(DType dtype) { return itemsize(dtype) == 8 || dtype == DType::UInt32; }

constexpr Entry entries[] = {
    {"bt_fma", is_float32, R"(// a b + c, rounded once; twice where no instruction does that.
static inline float bt_fma_$S(float a, float b, float c) {
#if defined(__wasm__) || defined(BITALE_NO_FMA)
  return a * b + c;
#else
  return fmaf(a, b, c);
#endif
}
)"},
    {"bt_fma", any, R"(// a b + c, rounded once; twice where no instruction does that.
static inline double bt_fma_$S(double a, double b, double c) {
#if defined(__wasm__) || defined(BITALE_NO_FMA)
  return a * b + c;
#else
  return fma(a, b, c);
#endif
}
)"},
    {"bt_residual", is_float32, R"(// a b + c where that nearly cancels: the product is exact.
static inline float bt_residual_$S(float a, float b, float c) {
#if defined(__wasm__) || defined(BITALE_NO_FMA)
  return (float)((double)a * b + c);
#else
  return fmaf(a, b, c);
#endif
}
)"},
    {"bt_residual", any,
     R"(// a b + c where that nearly cancels: what is lost of the product is added, from the halves of a and b (T. J.
// Dekker, Numer. Math. 18, 1971).
static inline double bt_residual_$S(double a, double b, double c) {
#if defined(__wasm__) || defined(BITALE_NO_FMA)
  const double product = a * b, of_a = a * 134217729.0, of_b = b * 134217729.0;
  const double a_high = of_a - (of_a - a), a_low = a - a_high, b_high = of_b - (of_b - b), b_low = b - b_high;
  const double lost = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
  return (product + c) + lost;
#else
  return fma(a, b, c);
#endif
}
)"},
    {"bt_div", is_unsigned, R"(// 0 where the divisor is 0.
static inline $T bt_div_$S($T a, $T b) { return b == 0 ? ($T)0 : ($T)(a / b); }
)"},
    {"bt_div", any, R"(// 0 where the divisor is 0; wraps.
static inline $T bt_div_$S($T a, $T b) {
  if (b == 0) return 0;
  return b == -1 ? ($T)(0 - ($U)a) : ($T)(a / b);
}
)"},
    {"bt_rem", is_unsigned, R"(static inline $T bt_rem_$S($T a, $T b) { return b == 0 ? ($T)0 : ($T)(a % b); }
)"},
    {"bt_rem", any, R"(static inline $T bt_rem_$S($T a, $T b) { return b == 0 || b == -1 ? ($T)0 : ($T)(a % b); }
)"},
    {"bt_abs", any, R"(static inline $T bt_abs_$S($T a) { return a < 0 ? ($T)(0 - ($U)a) : a; }
)"},
    {"bt_min", any, R"(static inline $T bt_min_$S($T a, $T b) { return a < b ? a : b; }
)"},
    {"bt_max", any, R"(static inline $T bt_max_$S($T a, $T b) { return a > b ? a : b; }
)"},
    {"bt_lt", any, R"(static inline bool bt_lt_$S($T a, $T b) { return a < b; }
)"},
    {"bt_le", any, R"(static inline bool bt_le_$S($T a, $T b) { return a <= b; }
)"},
    {"bt_gt", any, R"(static inline bool bt_gt_$S($T a, $T b) { return a > b; }
)"},
    {"bt_ge", any, R"(static inline bool bt_ge_$S($T a, $T b) { return a >= b; }
)"},
    {"bt_least", any, R"(// A nan goes on.
static inline $T bt_least_$S($T a, $T b) { return a != a || b >= a ? a : b; }
)"},
    {"bt_most", any, R"(// A nan goes on.
static inline $T bt_most_$S($T a, $T b) { return a != a || b <= a ? a : b; }
)"},
    {"bt_shl", any, R"(static inline $T bt_shl_$S($T a, $T by) { return ($T)((uint64_t)a << ((uint64_t)by & 63)); }
)"},
    {"bt_shr", any,
     R"(static inline $T bt_shr_$S($T a, $T by) { return ($T)(a >> ((uint64_t)by & (8 * sizeof a - 1))); }
)"},
    {"bt_cast", is_bool, R"(static inline bool bt_cast_$R_$S($F x) { return x != 0; }
)"},
    {"bt_cast", is_wide_unsigned, R"(// What does not fit is the least int64.
static inline $T bt_cast_$R_$S($F x) {
  const $F half = ($F)9223372036854775808.0;
  if (x >= half) return (x - half < half ? (uint64_t)(int64_t)(x - half) : UINT64_C(1) << 63) ^ (UINT64_C(1) << 63);
  return x >= -half ? (uint64_t)(int64_t)x : UINT64_C(1) << 63;
}
)"},
    {"bt_cast", is_wide, R"(// What does not fit is the least int64.
static inline $T bt_cast_$R_$S($F x) {
  const $F limit = ($F)9223372036854775808.0;
  return ($T)(x >= -limit && x < limit ? (int64_t)x : INT64_MIN);
}
)"},
    {"bt_cast", any, R"(// What does not fit is the least int32.
static inline $T bt_cast_$R_$S($F x) {
  const double limit = 2147483648.0;
  return ($T)(x > -limit - 1 && x < limit ? (int32_t)x : INT32_MIN);
}
)"},
    {"bt_bits", any, R"(static inline $T bt_bits_$R_$S($F x) {
  union { $F from; $T to; } bits;
  bits.from = x;
  return bits.to;
}
)"},
    {"bt_block", any,
     R"(// Each lane adds up its own terms. After a block of them the lanes' sum goes up a binary tree, where two sums of
// equally many terms make one of the next level: errors grow with the logarithm of the length (Higham, 1993).
static inline void bt_block_$S($T *lane, $T *tree, int64_t *count, int lanes, int unroll) {
  for (int half = lanes * unroll / 2; half >= lanes; half /= 2)
    for (int k = 0; k < half; ++k) lane[k] += lane[k + half];
  int level = 0;
  for (int64_t bits = *count; bits & 1; bits >>= 1, ++level)
    for (int k = 0; k < lanes; ++k) lane[k] += tree[level * lanes + k];
  for (int k = 0; k < lanes; ++k) tree[level * lanes + k] = lane[k];
  for (int k = 0; k < lanes * unroll; ++k) lane[k] = 0;
  ++*count;
}
)"},
    {"bt_sum_up", any, R"(// What is in the tree, small sums first, back into the lanes.
static inline void bt_sum_up_$S($T *lane, const $T *tree, int64_t count, int lanes) {
  for (int level = 0; count != 0; count >>= 1, ++level)
    if (count & 1)
      for (int k = 0; k < lanes; ++k) lane[k] += tree[level * lanes + k];
}
)"},
    {"bt_add_runs", any,
     R"(// Terms of lanes to elements. Where lanes are at two elements at most, one after the other, these are added up first:
// pairs of neighbours, then halves.
static inline void bt_add_runs_$S($T *data, const int64_t *offset, const $T *term, int64_t count, int lanes) {
  enum { part = 8 };
  for (int64_t i = 0; i < count; i += lanes, offset += lanes, term += lanes) {
    bool few = count - i >= lanes;
    for (int first = 0; few && first < lanes; first += part) {
      int starts = 0;
      for (int k = first + 1; k < first + part; ++k) starts += offset[k] != offset[k - 1];
      few = starts <= 1;
    }
    for (int k = 0; !few && k < lanes && k < count - i; ++k) data[offset[k]] += term[k];
    for (int first = 0; few && first < lanes; first += part) {
      const int64_t at[2] = {offset[first], offset[first + part - 1]};
      for (int run = 0; run < (at[0] == at[1] ? 1 : 2); ++run) {
        $T sums[8];
        for (int k = 0; k < part; ++k) sums[k] = offset[first + k] == at[run] ? term[first + k] : -($T)0;
        for (int k = 0; k < part / 2; ++k) sums[k] = sums[2 * k] + sums[2 * k + 1];
        for (int half = part / 4; half > 0; half /= 2)
          for (int k = 0; k < half; ++k) sums[k] += sums[k + half];
        data[at[run]] += sums[0];
      }
    }
  }
}
)"},
    {"bt_lanes_add", any, R"(// Lanes to one value, halving.
static inline $T bt_lanes_add_$S($T *lane, int lanes) {
  for (int half = lanes / 2; half > 0; half /= 2)
    for (int k = 0; k < half; ++k) lane[k] += lane[k + half];
  return lane[0];
}
)"},
    {"bt_lanes_mul", any, R"(static inline $T bt_lanes_mul_$S($T *lane, int lanes) {
  for (int half = lanes / 2; half > 0; half /= 2)
    for (int k = 0; k < half; ++k) lane[k] *= lane[k + half];
  return lane[0];
}
)"},
    {"bt_lanes_min", any, R"(static inline $T bt_lanes_min_$S($T *lane, int lanes) {
  for (int half = lanes / 2; half > 0; half /= 2)
    for (int k = 0; k < half; ++k) lane[k] = bt_least_$S(lane[k], lane[k + half]);
  return lane[0];
}
)"},
    {"bt_lanes_max", any, R"(static inline $T bt_lanes_max_$S($T *lane, int lanes) {
  for (int half = lanes / 2; half > 0; half /= 2)
    for (int k = 0; k < half; ++k) lane[k] = bt_most_$S(lane[k], lane[k + half]);
  return lane[0];
}
)"},
};

const Entry& entry_of(std::string_view function, DType dtype) {
  for (auto& entry : entries)
    if (entry.name == function && entry.fits(dtype)) return entry;
  throw InternalError(cat("codegen: no support function ", function));
}

std::string filled(std::string_view text, std::span<const std::pair<char, std::string_view>> values) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$') {
      out += text[i];
      continue;
    }
    ++i;
    for (auto& [letter, value] : values)
      if (letter == text[i]) out += value;
  }
  return out;
}

}  // namespace

bool Support::add(const std::string& name, const std::string& definition) {
  if (!known_.insert(name).second) return false;
  definitions_.push_back(definition);
  return true;
}

std::string Support::use(std::string_view function, DType dtype) {
  if (function == "bt_lanes_min") use("bt_least", dtype);
  if (function == "bt_lanes_max") use("bt_most", dtype);
  const std::string name = cat(function, "_", dtype_short_name(dtype));
  const std::pair<char, std::string_view> values[] = {
      {'T', value_type(dtype)}, {'U', unsigned_type(dtype)}, {'S', dtype_short_name(dtype)}};
  add(name, filled(entry_of(function, dtype).text, values));
  return name;
}

std::string Support::use(std::string_view function, DType from, DType to) {
  const std::string name = cat(function, "_", dtype_short_name(from), "_", dtype_short_name(to));
  const std::pair<char, std::string_view> values[] = {
      {'T', value_type(to)}, {'S', dtype_short_name(to)}, {'F', value_type(from)}, {'R', dtype_short_name(from)}};
  add(name, filled(entry_of(function, to).text, values));
  return name;
}

std::string Support::text() const {
  std::string out;
  for (auto& each : definitions_) out += each + "\n";
  return out;
}

}  // namespace bitale::codegen::c
