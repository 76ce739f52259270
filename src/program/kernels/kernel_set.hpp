// The kernels of one level of the processor's ABI, in a namespace of its own: BITALE_KERNEL_SET is its name. Only this
// and headers without functions are compiled with the instructions of that level, so that no function of other parts of
// the library is. Integers of 8 and 16 bits are rare: BITALE_KERNELS_OF_NARROW_INTEGERS is 1 for one level only.
#include <cstdint>

#include "program/kernels/kernels.hpp"

namespace bitale::program::kernels::BITALE_KERNEL_SET {

namespace {

// These loops are vectorised without tests for overlaps.
#if defined(__clang__)
#define BITALE_EACH(i, n) _Pragma("clang loop vectorize(assume_safety)") for (std::int64_t i = 0; i < (n); ++i)
#else
#define BITALE_EACH(i, n) _Pragma("GCC ivdep") for (std::int64_t i = 0; i < (n); ++i)
#endif

template <class T>
struct TypeTag {
  using type = T;
};

template <class T>
inline constexpr bool is_real = false;
template <>
inline constexpr bool is_real<float> = true;
template <>
inline constexpr bool is_real<double> = true;
template <class T>
inline constexpr bool is_truth = false;
template <>
inline constexpr bool is_truth<bool> = true;
template <class T>
inline constexpr bool is_negatable = T(-1) < T(0);  // signed

// The unsigned type in which integers are added, which wraps.
template <int bytes>
struct Wide {
  using type = std::uint32_t;
};
template <>
struct Wide<8> {
  using type = std::uint64_t;
};
template <class T>
using wide = typename Wide<sizeof(T)>::type;

// ---- operations -----------------------------------------------------------------------------------------------------

#define BITALE_OF    \
  template <class T> \
  [[gnu::always_inline]] static inline

struct Add {
  BITALE_OF T of(T x, T y) {
    if constexpr (is_real<T>)
      return x + y;
    else
      return T(wide<T>(x) + wide<T>(y));
  }
};
struct Sub {
  BITALE_OF T of(T x, T y) {
    if constexpr (is_real<T>)
      return x - y;
    else
      return T(wide<T>(x) - wide<T>(y));
  }
};
struct Mul {
  BITALE_OF T of(T x, T y) {
    if constexpr (is_real<T>)
      return x * y;
    else
      return T(wide<T>(x) * wide<T>(y));
  }
};
struct Div {
  BITALE_OF T of(T x, T y) {
    if constexpr (is_real<T>)
      return x / y;
    else if constexpr (is_negatable<T>)
      return y == 0 ? T(0) : y == T(-1) ? T(0 - wide<T>(x)) : T(x / y);
    else
      return y == 0 ? T(0) : T(x / y);
  }
};
struct Rem {
  BITALE_OF T of(T x, T y) {
    if constexpr (sizeof(T) == 8 && is_real<T>)
      return __builtin_fmod(x, y);
    else if constexpr (is_real<T>)
      return __builtin_fmodf(x, y);
    else if constexpr (is_negatable<T>)
      return y == 0 || y == T(-1) ? T(0) : T(x % y);
    else
      return y == 0 ? T(0) : T(x % y);
  }
};
struct Fma {
  BITALE_OF T of(T x, T y, T z) {
    if constexpr (sizeof(T) == 8 && is_real<T>)
      return __builtin_fma(x, y, z);
    else if constexpr (is_real<T>)
      return __builtin_fmaf(x, y, z);
    else
      return T(wide<T>(x) * wide<T>(y) + wide<T>(z));
  }
};
struct Neg {
  BITALE_OF T of(T x) {
    if constexpr (is_real<T>)
      return -x;
    else
      return T(0 - wide<T>(x));
  }
};
struct Abs {
  BITALE_OF T of(T x) {
    if constexpr (sizeof(T) == 8 && is_real<T>)
      return __builtin_fabs(x);
    else if constexpr (is_real<T>)
      return __builtin_fabsf(x);
    else if constexpr (is_negatable<T>)
      return x < 0 ? T(0 - wide<T>(x)) : x;
    else
      return x;
  }
};
#define BITALE_REAL_FUNCTION(Name, function) \
  struct Name {                              \
    BITALE_OF T of(T x) {                    \
      if constexpr (sizeof(T) == 8)          \
        return __builtin_##function(x);      \
      else                                   \
        return __builtin_##function##f(x);   \
    }                                        \
  };
BITALE_REAL_FUNCTION(Sqrt, sqrt)
BITALE_REAL_FUNCTION(Floor, floor)
BITALE_REAL_FUNCTION(Ceil, ceil)
BITALE_REAL_FUNCTION(Trunc, trunc)
BITALE_REAL_FUNCTION(Rint, rint)
struct Copysign {
  BITALE_OF T of(T x, T y) {
    if constexpr (sizeof(T) == 8)
      return __builtin_copysign(x, y);
    else
      return __builtin_copysignf(x, y);
  }
};
struct Min {
  BITALE_OF T of(T x, T y) { return x < y ? x : y; }
};
struct Max {
  BITALE_OF T of(T x, T y) { return x > y ? x : y; }
};
// A nan goes on.
struct Least {
  BITALE_OF T of(T x, T y) {
    if constexpr (is_real<T>)
      return x != x || y >= x ? x : y;
    else
      return x < y ? x : y;
  }
};
struct Most {
  BITALE_OF T of(T x, T y) {
    if constexpr (is_real<T>)
      return x != x || y <= x ? x : y;
    else
      return x > y ? x : y;
  }
};
struct And {
  BITALE_OF T of(T x, T y) { return T(x & y); }
};
struct Or {
  BITALE_OF T of(T x, T y) { return T(x | y); }
};
struct Xor {
  BITALE_OF T of(T x, T y) { return T(x ^ y); }
};
struct Not {
  BITALE_OF T of(T x) {
    if constexpr (is_truth<T>)
      return !x;
    else
      return T(~x);
  }
};
struct Shl {
  BITALE_OF T of(T x, T by) {
    constexpr unsigned bits = 8 * sizeof(T);
    const wide<T> count = wide<T>(by) & 63;
    if constexpr (bits == 64)
      return T(std::uint64_t(x) << count);
    else
      return T(count < 32 ? wide<T>(x) << count : 0);
  }
};
struct Shr {
  BITALE_OF T of(T x, T by) { return T(x >> (wide<T>(by) & (8 * sizeof(T) - 1))); }
};
struct Eq {
  BITALE_OF bool of(T x, T y) { return x == y; }
};
struct Ne {
  BITALE_OF bool of(T x, T y) { return x != y; }
};
struct Lt {
  BITALE_OF bool of(T x, T y) { return x < y; }
};
struct Le {
  BITALE_OF bool of(T x, T y) { return x <= y; }
};
struct Gt {
  BITALE_OF bool of(T x, T y) { return x > y; }
};
struct Ge {
  BITALE_OF bool of(T x, T y) { return x >= y; }
};

// C's conversion, as generated code makes it: what does not fit is the smallest int64, or int32, of which narrower
// integers are the low bits.
template <class To, class From>
[[gnu::always_inline]] inline To converted(From x) {
  if constexpr (is_truth<To>) {
    return x != 0;
  } else if constexpr (is_real<From> && !is_real<To>) {
    constexpr From limit = From(9223372036854775808.0);
    constexpr auto least = std::int64_t(std::uint64_t(1) << 63);
    if constexpr (sizeof(To) == 8 && !is_negatable<To>) {
      if (x >= limit) {
        const From rest = x - limit;
        return To((rest < limit ? std::uint64_t(std::int64_t(rest)) : std::uint64_t(1) << 63) ^ std::uint64_t(1) << 63);
      }
      return x >= -limit ? To(std::int64_t(x)) : To(least);
    } else if constexpr (sizeof(To) == 8 || (sizeof(To) == 4 && !is_negatable<To>)) {
      return To(x >= -limit && x < limit ? std::int64_t(x) : least);
    } else {
      constexpr double bound = 2147483648.0;
      return To(x > -bound - 1 && x < bound ? std::int32_t(x) : std::int32_t(-2147483647 - 1));
    }
  } else {
    return To(x);
  }
}

// ---- kernels --------------------------------------------------------------------------------------------------------

template <class F, class R, class T>
void unary(std::int64_t n, void* out, const void* a, const void*, const void*) {
  auto* const o = static_cast<R*>(out);
  auto* const x = static_cast<const T*>(a);
  if (n == 1) {
    *o = F::template of<T>(*x);
    return;
  }
  BITALE_EACH(i, n) o[i] = F::template of<T>(x[i]);
}

template <class F, class R, class T, int uniform>
void binary(std::int64_t n, void* out, const void* a, const void* b, const void*) {
  auto* const o = static_cast<R*>(out);
  auto* const x = static_cast<const T*>(a);
  auto* const y = static_cast<const T*>(b);
  if (n == 1) {
    *o = F::template of<T>(*x, *y);
    return;
  }
  if constexpr (uniform == 0) {
    BITALE_EACH(i, n) o[i] = F::template of<T>(x[i], y[i]);
  } else if constexpr (uniform == uniform_a) {
    const T x0 = *x;
    BITALE_EACH(i, n) o[i] = F::template of<T>(x0, y[i]);
  } else {
    const T y0 = *y;
    BITALE_EACH(i, n) o[i] = F::template of<T>(x[i], y0);
  }
}

template <class F, class T, int uniform>
void ternary(std::int64_t n, void* out, const void* a, const void* b, const void* c) {
  auto* const o = static_cast<T*>(out);
  auto* const x = static_cast<const T*>(a);
  auto* const y = static_cast<const T*>(b);
  auto* const z = static_cast<const T*>(c);
  const T x0 = *x, y0 = *y, z0 = *z;
  if (n == 1) {
    *o = F::template of<T>(x0, y0, z0);
    return;
  }
  BITALE_EACH(i, n)
  o[i] = F::template of<T>(uniform & uniform_a ? x0 : x[i], uniform & uniform_b ? y0 : y[i],
                           uniform & uniform_c ? z0 : z[i]);
}

template <class T, int uniform>
void select(std::int64_t n, void* out, const void* a, const void* b, const void* c) {
  auto* const o = static_cast<T*>(out);
  auto* const where = static_cast<const std::uint8_t*>(a);
  auto* const y = static_cast<const T*>(b);
  auto* const z = static_cast<const T*>(c);
  const T y0 = *y, z0 = *z;
  BITALE_EACH(i, n) {
    const T then = uniform & uniform_b ? y0 : y[i], otherwise = uniform & uniform_c ? z0 : z[i];
    o[i] = where[i] ? then : otherwise;
  }
}

template <class To, class From>
void cast(std::int64_t n, void* out, const void* a, const void*, const void*) {
  auto* const o = static_cast<To*>(out);
  auto* const x = static_cast<const From*>(a);
  if (n == 1) {
    *o = converted<To>(*x);
    return;
  }
  BITALE_EACH(i, n) o[i] = converted<To>(x[i]);
}

template <class T>
void splat(std::int64_t n, void* out, const void* a, const void*, const void*) {
  auto* const o = static_cast<T*>(out);
  const T x = *static_cast<const T*>(a);
  BITALE_EACH(i, n) o[i] = x;
}

void iota(std::int64_t n, void* out, const void* a, const void*, const void*) {
  auto* const o = static_cast<std::int64_t*>(out);
  const std::int64_t start = *static_cast<const std::int64_t*>(a);
  BITALE_EACH(i, n) o[i] = start + i;
}

// T bool: elements of memory are bytes.
template <class T>
struct Stored {
  using type = T;
};
template <>
struct Stored<bool> {
  using type = std::uint8_t;
};
template <class T>
using stored = typename Stored<T>::type;

template <class T>
void copy(std::int64_t n, void* out, const void* a, const void*, const void*) {
  auto* const o = static_cast<T*>(out);
  auto* const x = static_cast<const stored<T>*>(a);
  if (n == 1) {
    *o = T(*x);
    return;
  }
  BITALE_EACH(i, n) o[i] = T(x[i]);
}

template <class T>
void gather(std::int64_t n, void* out, const void* a, const void* b, const void*) {
  auto* const o = static_cast<T*>(out);
  auto* const x = static_cast<const stored<T>*>(a);
  auto* const at = static_cast<const std::int64_t*>(b);
  BITALE_EACH(i, n) o[i] = T(x[at[i]]);
}

template <class T>
void load_strided(std::int64_t n, void* out, const void* a, const void* b, const void*) {
  auto* const o = static_cast<T*>(out);
  auto* const x = static_cast<const stored<T>*>(a);
  const std::int64_t stride = *static_cast<const std::int64_t*>(b);
  BITALE_EACH(i, n) o[i] = T(x[i * stride]);
}

template <class T>
void scatter(std::int64_t n, void* out, const void* a, const void* b, const void*) {
  auto* const o = static_cast<T*>(out);
  auto* const x = static_cast<const T*>(a);
  auto* const at = static_cast<const std::int64_t*>(b);
  for (std::int64_t i = 0; i < n; ++i) o[at[i]] = x[i];
}

template <class T>
void store_strided(std::int64_t n, void* out, const void* a, const void* b, const void*) {
  auto* const o = static_cast<T*>(out);
  auto* const x = static_cast<const T*>(a);
  const std::int64_t stride = *static_cast<const std::int64_t*>(b);
  for (std::int64_t i = 0; i < n; ++i) o[i * stride] = x[i];
}

template <class T>
void lookup(std::int64_t n, void* out, const void* a, const void* b, const void* c) {
  auto* const o = static_cast<T*>(out);
  auto* const at = static_cast<const T*>(a);
  auto* const table = static_cast<const T*>(b);
  const T mask = T(*static_cast<const std::int64_t*>(c));
  BITALE_EACH(i, n) o[i] = table[at[i] & mask];
}

template <class T, int count, bool is_uniform>
void polynomial(std::int64_t n, void* out, const void* a, const void* b, const void* c) {
  auto* const o = static_cast<T*>(out);
  auto* const start = static_cast<const T*>(a);
  auto* const x = static_cast<const T*>(b);
  T coefficient[count];
  for (int k = 0; k < count; ++k) coefficient[k] = static_cast<const T*>(c)[k];
  const T start0 = *start;
  BITALE_EACH(i, n) {
    T sum = is_uniform ? start0 : start[i];
    const T at = x[i];
    for (int k = 0; k < count; ++k) sum = Fma::of<T>(sum, at, coefficient[k]);
    o[i] = sum;
  }
}

// ---- reductions -----------------------------------------------------------------------------------------------------

// each(k, i) for the slot k of each term i; usual numbers of slots are constants, so that they are unrolled.
template <int count, class Each>
[[gnu::always_inline]] inline void of_slots(std::int64_t passes, std::int64_t slots, Each each) {
  const std::int64_t n = count ? count : slots;
  for (std::int64_t first = 0; first < passes * n; first += n) BITALE_EACH(k, n) each(k, first + k);
}
template <class Each>
[[gnu::always_inline]] inline void for_each_term(std::int64_t passes, std::int64_t slots, Each each) {
  switch (slots) {
    case 8: return of_slots<8>(passes, slots, each);
    case 16: return of_slots<16>(passes, slots, each);
    case 32: return of_slots<32>(passes, slots, each);
    case 64: return of_slots<64>(passes, slots, each);
    default: return of_slots<0>(passes, slots, each);
  }
}

// Sums of slots that stay in registers, which GCC does not achieve with arrays.
template <class T, int slots>
[[gnu::always_inline]] inline void add_in(std::int64_t passes, T* slot, const T* x) {
  typedef T Vector __attribute__((vector_size(64), aligned(alignof(T)), may_alias));
  constexpr int lanes = 64 / sizeof(T), count = slots / lanes;
  Vector sums[count];
  for (int k = 0; k < count; ++k) sums[k] = *reinterpret_cast<const Vector*>(slot + k * lanes);
  for (std::int64_t p = 0; p < passes; ++p, x += slots)
    for (int k = 0; k < count; ++k) sums[k] += *reinterpret_cast<const Vector*>(x + k * lanes);
  for (int k = 0; k < count; ++k) *reinterpret_cast<Vector*>(slot + k * lanes) = sums[k];
}
template <class T>
void add_up(std::int64_t passes, std::int64_t slots, void* slot, const void* a, const void*) {
  auto* const s = static_cast<T*>(slot);
  auto* x = static_cast<const T*>(a);
  switch (slots) {
    case 16: return add_in<T, 16>(passes, s, x);
    case 32: return add_in<T, 32>(passes, s, x);
    case 64: return add_in<T, 64>(passes, s, x);
    default:
      for (std::int64_t p = 0; p < passes; ++p, x += slots) BITALE_EACH(k, slots) s[k] += x[k];
  }
}

template <class F, class T>
void reduce(std::int64_t passes, std::int64_t slots, void* slot, const void* a, const void*) {
  auto* const s = static_cast<T*>(slot);
  auto* const x = static_cast<const T*>(a);
  for_each_term(passes, slots, [=](std::int64_t k, std::int64_t i) { s[k] = F::template of<T>(s[k], x[i]); });
}
template <class T>
void add_products(std::int64_t passes, std::int64_t slots, void* slot, const void* a, const void* b) {
  auto* const s = static_cast<T*>(slot);
  auto* const x = static_cast<const T*>(a);
  auto* const y = static_cast<const T*>(b);
  for_each_term(passes, slots, [=](std::int64_t k, std::int64_t i) { s[k] = Fma::of<T>(x[i], y[i], s[k]); });
}

template <class F, class T, bool is_prefix>
void fold(std::int64_t n, void* state, const void* a, void* out) {
  auto* const x = static_cast<const T*>(a);
  auto* const o = static_cast<T*>(out);
  T s = *static_cast<T*>(state);
  for (std::int64_t i = 0; i < n; ++i) {
    s = F::template of<T>(s, x[i]);
    if constexpr (is_prefix) o[i] = s;
  }
  *static_cast<T*>(state) = s;
}

template <bool is_max, class T>
void arg_reduce(std::int64_t n, void* extreme, std::int64_t* at, const void* a, const void* position) {
  auto* const x = static_cast<const T*>(a);
  auto* const where = static_cast<const std::int64_t*>(position);
  T best = *static_cast<T*>(extreme);
  const auto beats = [](T value, T before) { return is_max ? !(value <= before) : !(value >= before); };
  constexpr std::int64_t block = 64;  // most have nothing more extreme
  for (std::int64_t begin = 0; begin < n; begin += block) {
    const std::int64_t end = n - begin < block ? n : begin + block;
    unsigned found = 0;
    for (std::int64_t i = begin; i < end; ++i) found |= unsigned(beats(x[i], best));
    if (!found) continue;
    for (std::int64_t i = begin; i < end; ++i) {
      if (!beats(x[i], best) || best != best) continue;
      best = x[i];
      *at = where[i];
    }
  }
  *static_cast<T*>(extreme) = best;
}

template <class F, class T>
void scatter_combine(std::int64_t n, void* data, const std::int64_t* at, const void* a) {
  auto* const o = static_cast<T*>(data);
  auto* const x = static_cast<const T*>(a);
  for (std::int64_t i = 0; i < n; ++i) o[at[i]] = F::template of<T>(o[at[i]], x[i]);
}

// Where lanes are at two elements at most, one after the other, these are added up first: pairs of neighbours, then
// halves.
template <class T>
void scatter_runs(std::int64_t n, void* data, const std::int64_t* at, const void* a, std::int64_t lanes) {
  constexpr int part = 8;
  auto* const o = static_cast<T*>(data);
  auto* term = static_cast<const T*>(a);
  for (std::int64_t i = 0; i < n; i += lanes, at += lanes, term += lanes) {
    bool few = n - i >= lanes;
    for (std::int64_t first = 0; few && first < lanes; first += part) {
      int starts = 0;
      for (int k = 1; k < part; ++k) starts += at[first + k] != at[first + k - 1];
      few = starts <= 1;
    }
    for (std::int64_t k = 0; !few && k < lanes && k < n - i; ++k) o[at[k]] += term[k];
    for (std::int64_t first = 0; few && first < lanes; first += part) {
      const std::int64_t ends[2] = {at[first], at[first + part - 1]};
      for (int run = 0; run < (ends[0] == ends[1] ? 1 : 2); ++run) {
        T sums[part];
        for (int k = 0; k < part; ++k) sums[k] = at[first + k] == ends[run] ? term[first + k] : -T(0);
        for (int k = 0; k < part / 2; ++k) sums[k] = sums[2 * k] + sums[2 * k + 1];
        for (int half = part / 4; half > 0; half /= 2)
          for (int k = 0; k < half; ++k) sums[k] += sums[k + half];
        o[ends[run]] += sums[0];
      }
    }
  }
}

// ---- tables ---------------------------------------------------------------------------------------------------------

// visit(TypeTag<T>) for the type of a dtype in which values are computed, or null.
template <class Result, class Visit>
Result of_type(DType dtype, Visit visit) {
  switch (dtype) {
    case DType::Bool: return visit(TypeTag<bool>());
#if BITALE_KERNELS_OF_NARROW_INTEGERS
    case DType::Int8: return visit(TypeTag<std::int8_t>());
    case DType::Int16: return visit(TypeTag<std::int16_t>());
    case DType::UInt8: return visit(TypeTag<std::uint8_t>());
    case DType::UInt16: return visit(TypeTag<std::uint16_t>());
#endif
    case DType::Int32: return visit(TypeTag<std::int32_t>());
    case DType::Int64: return visit(TypeTag<std::int64_t>());
    case DType::UInt32: return visit(TypeTag<std::uint32_t>());
    case DType::UInt64: return visit(TypeTag<std::uint64_t>());
    case DType::Float32: return visit(TypeTag<float>());
    case DType::Float64: return visit(TypeTag<double>());
    default: return nullptr;
  }
}
// The same for the unsigned integer that holds an element.
template <class Result, class Visit>
Result of_bits(DType dtype, Visit visit) {
  switch (dtype) {
    case DType::Bool:
    case DType::Int8:
    case DType::UInt8: return visit(TypeTag<std::uint8_t>());
    case DType::Int16:
    case DType::UInt16:
    case DType::Float16: return visit(TypeTag<std::uint16_t>());
    case DType::Int32:
    case DType::UInt32:
    case DType::Float32: return visit(TypeTag<std::uint32_t>());
    case DType::Int64:
    case DType::UInt64:
    case DType::Float64: return visit(TypeTag<std::uint64_t>());
    default: return nullptr;
  }
}
DType bits_dtype(DType dtype) {
  switch (dtype) {
    case DType::Int8: return DType::UInt8;
    case DType::Int16: return DType::UInt16;
    case DType::Int32: return DType::UInt32;
    case DType::Int64: return DType::UInt64;
    default: return dtype;
  }
}

template <class F, class R, class T>
Kernel binary_of(int uniform) {
  if constexpr (sizeof(T) >= 4) {
    if (uniform == uniform_a) return &binary<F, R, T, uniform_a>;
    if (uniform == uniform_b) return &binary<F, R, T, uniform_b>;
  }
  const bool is_of_one_element = uniform == (uniform_a | uniform_b);
  return uniform == 0 || is_of_one_element ? &binary<F, R, T, 0> : nullptr;
}
template <class T>
Kernel fma_of(int uniform) {
  if constexpr (is_real<T>) switch (uniform) {
      case 1: return &ternary<Fma, T, 1>;
      case 2: return &ternary<Fma, T, 2>;
      case 3: return &ternary<Fma, T, 3>;
      case 4: return &ternary<Fma, T, 4>;
      case 5: return &ternary<Fma, T, 5>;
      case 6: return &ternary<Fma, T, 6>;
      default: break;
    }
  return uniform == 0 || uniform == 7 ? &ternary<Fma, T, 0> : nullptr;
}

// Of bits: signed and unsigned integers have the same.
template <class T>
Kernel bits_operation(Code code, int uniform) {
  if constexpr (is_real<T> || is_truth<T>) {
    return nullptr;
  } else {
    switch (code) {
      case Code::add: return binary_of<Add, T, T>(uniform);
      case Code::sub: return binary_of<Sub, T, T>(uniform);
      case Code::mul: return binary_of<Mul, T, T>(uniform);
      case Code::bit_and: return binary_of<And, T, T>(uniform);
      case Code::bit_or: return binary_of<Or, T, T>(uniform);
      case Code::bit_xor: return binary_of<Xor, T, T>(uniform);
      case Code::shl: return binary_of<Shl, T, T>(uniform);
      case Code::eq: return binary_of<Eq, bool, T>(uniform);
      case Code::ne: return binary_of<Ne, bool, T>(uniform);
      case Code::neg: return &unary<Neg, T, T>;
      case Code::bit_not: return &unary<Not, T, T>;
      case Code::fma: return fma_of<T>(uniform);
      default: return nullptr;
    }
  }
}

template <class T>
Kernel typed_operation(Code code, int uniform) {
  switch (code) {
    case Code::eq: return binary_of<Eq, bool, T>(uniform);
    case Code::ne: return binary_of<Ne, bool, T>(uniform);
    case Code::lt: return binary_of<Lt, bool, T>(uniform);
    case Code::le: return binary_of<Le, bool, T>(uniform);
    case Code::gt: return binary_of<Gt, bool, T>(uniform);
    case Code::ge: return binary_of<Ge, bool, T>(uniform);
    case Code::min: return binary_of<Min, T, T>(uniform);
    case Code::max: return binary_of<Max, T, T>(uniform);
    default: break;
  }
  if constexpr (is_truth<T>) {
    switch (code) {
      case Code::bit_and: return binary_of<And, T, T>(uniform);
      case Code::bit_or: return binary_of<Or, T, T>(uniform);
      case Code::bit_xor: return binary_of<Xor, T, T>(uniform);
      case Code::bit_not: return &unary<Not, T, T>;
      default: return nullptr;
    }
  } else if constexpr (is_real<T>) {
    switch (code) {
      case Code::add: return binary_of<Add, T, T>(uniform);
      case Code::sub: return binary_of<Sub, T, T>(uniform);
      case Code::mul: return binary_of<Mul, T, T>(uniform);
      case Code::div: return binary_of<Div, T, T>(uniform);
      case Code::rem: return binary_of<Rem, T, T>(uniform);
      case Code::copysign: return binary_of<Copysign, T, T>(uniform);
      case Code::fma: return fma_of<T>(uniform);
      case Code::neg: return &unary<Neg, T, T>;
      case Code::abs: return &unary<Abs, T, T>;
      case Code::sqrt: return &unary<Sqrt, T, T>;
      case Code::floor: return &unary<Floor, T, T>;
      case Code::ceil: return &unary<Ceil, T, T>;
      case Code::trunc: return &unary<Trunc, T, T>;
      case Code::rint: return &unary<Rint, T, T>;
      default: return nullptr;
    }
  } else {
    switch (code) {
      case Code::div: return binary_of<Div, T, T>(uniform);
      case Code::rem: return binary_of<Rem, T, T>(uniform);
      case Code::shr: return binary_of<Shr, T, T>(uniform);
      case Code::abs: return &unary<Abs, T, T>;
      default: return nullptr;
    }
  }
}

Kernel operation(Code code, DType out, DType in, int uniform) {
  if (code == Code::select)
    return of_bits<Kernel>(out, [&]<class T>(TypeTag<T>) -> Kernel {
      switch (uniform) {
        case 0: return &select<T, 0>;
        case uniform_b: return &select<T, uniform_b>;
        case uniform_c: return &select<T, uniform_c>;
        case uniform_b | uniform_c: return &select<T, uniform_b | uniform_c>;
        case uniform_a | uniform_b | uniform_c: return &select<T, 0>;  // of one element
        default: return nullptr;
      }
    });
  if (code == Code::cast)
    return of_type<Kernel>(in, [&]<class From>(TypeTag<From>) {
      return of_type<Kernel>(out, [&]<class To>(TypeTag<To>) -> Kernel { return &cast<To, From>; });
    });
  const auto of_bits_first = [&]<class T>(TypeTag<T>) { return bits_operation<T>(code, uniform); };
  if (const Kernel found = of_type<Kernel>(bits_dtype(in), of_bits_first)) return found;
  return of_type<Kernel>(in, [&]<class T>(TypeTag<T>) { return typed_operation<T>(code, uniform); });
}

Kernel special(Special what, DType dtype) {
  if (what == Special::iota) return &iota;
  const auto of = [&]<class T>(TypeTag<T>) -> Kernel {
    switch (what) {
      case Special::splat: return &splat<T>;
      case Special::copy: return &copy<T>;
      case Special::gather: return &gather<T>;
      case Special::load_strided: return &load_strided<T>;
      case Special::scatter: return &scatter<T>;
      case Special::store_strided: return &store_strided<T>;
      case Special::lookup:
        if constexpr (sizeof(T) >= 4)
          return &lookup<T>;
        else
          return nullptr;
      default: return nullptr;
    }
  };
  return dtype == DType::Bool ? of(TypeTag<bool>()) : of_bits<Kernel>(dtype, of);
}

template <class T, int count>
Kernel polynomial_of(int wanted, bool is_uniform) {
  if (wanted == count) return is_uniform ? &polynomial<T, count, true> : &polynomial<T, count, false>;
  if constexpr (count < longest_polynomial)
    return polynomial_of<T, count + 1>(wanted, is_uniform);
  else
    return nullptr;
}
Kernel polynomial_kernel(DType dtype, int count, bool is_uniform) {
  return dtype == DType::Float64   ? polynomial_of<double, 2>(count, is_uniform)
         : dtype == DType::Float32 ? polynomial_of<float, 2>(count, is_uniform)
                                   : nullptr;
}

// visit(TypeTag<operation>)
template <class Result, class T, class Visit>
Result of_combiner(Combiner combiner, Visit visit) {
  switch (combiner) {
    case Combiner::add:
      if constexpr (is_truth<T>)
        return visit(TypeTag<Or>());
      else
        return visit(TypeTag<Add>());
    case Combiner::mul:
      if constexpr (is_truth<T>)
        return visit(TypeTag<And>());
      else
        return visit(TypeTag<Mul>());
    case Combiner::min: return visit(TypeTag<Least>());
    case Combiner::max: return visit(TypeTag<Most>());
    case Combiner::bit_and:
      if constexpr (!is_real<T>)
        return visit(TypeTag<And>());
      else
        return nullptr;
    case Combiner::bit_or:
      if constexpr (!is_real<T>)
        return visit(TypeTag<Or>());
      else
        return nullptr;
  }
  return nullptr;
}

Kernel combine(Combiner combiner, DType dtype) {
  return of_type<Kernel>(dtype, [&]<class T>(TypeTag<T>) {
    return of_combiner<Kernel, T>(combiner, [&]<class F>(TypeTag<F>) -> Kernel { return &binary<F, T, T, 0>; });
  });
}
Reduction reduction(Combiner combiner, DType dtype, bool of_products) {
  return of_type<Reduction>(dtype, [&]<class T>(TypeTag<T>) -> Reduction {
    if constexpr (is_real<T>) {
      if (combiner == Combiner::add) return of_products ? &add_products<T> : &add_up<T>;
      return of_combiner<Reduction, T>(combiner, [&]<class F>(TypeTag<F>) -> Reduction { return &reduce<F, T>; });
    } else {
      return nullptr;
    }
  });
}
Fold fold_of(Combiner combiner, DType dtype, bool is_prefix) {
  return of_type<Fold>(dtype, [&]<class T>(TypeTag<T>) {
    return of_combiner<Fold, T>(
        combiner, [&]<class F>(TypeTag<F>) -> Fold { return is_prefix ? &fold<F, T, true> : &fold<F, T, false>; });
  });
}
ArgReduction arg_reduction(Combiner combiner, DType dtype) {
  return of_type<ArgReduction>(dtype, [&]<class T>(TypeTag<T>) -> ArgReduction {
    return combiner == Combiner::max ? &arg_reduce<true, T> : &arg_reduce<false, T>;
  });
}
Scatter scatter_of(Combiner combiner, DType dtype) {
  return of_type<Scatter>(dtype, [&]<class T>(TypeTag<T>) {
    return of_combiner<Scatter, T>(combiner, [&]<class F>(TypeTag<F>) -> Scatter { return &scatter_combine<F, T>; });
  });
}
RunsScatter scatter_by_runs(DType dtype) {
  return dtype == DType::Float64 ? &scatter_runs<double> : dtype == DType::Float32 ? &scatter_runs<float> : nullptr;
}

}  // namespace

extern const Kernels all;
constinit const Kernels all{&operation, &special,       &polynomial_kernel, &combine,        &reduction,
                            &fold_of,   &arg_reduction, &scatter_of,        &scatter_by_runs};

}  // namespace bitale::program::kernels::BITALE_KERNEL_SET
