#include "runtime/sort.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <numeric>
#include <type_traits>

#include "bitale/runtime/functions.hpp"

namespace bitale::runtime {

namespace {

constexpr std::int64_t few = 32;  // elements: vectors do not pay off

template <class T>
bool by_vectors([[maybe_unused]] T* x, [[maybe_unused]] std::int64_t count) {
#if BITALE_VECTOR_SORTS
  return count > few && sort_by_vectors(x, std::size_t(count));
#else
  return false;
#endif
}

// ---- values ---------------------------------------------------------------------------------------------------------

// Counting sort of bytes.
template <class T>
void sort_bytes(T* x, std::int64_t count) {
  std::int64_t counts[256] = {};
  constexpr int offset = std::is_signed_v<T> ? 128 : 0;
  for (std::int64_t i = 0; i < count; ++i) ++counts[int(x[i]) + offset];
  for (int value = 0; value < 256; ++value) {
    std::fill(x, x + counts[value], T(value - offset));
    x += counts[value];
  }
}

// What Highway 1.0 does not preserve when it sorts floats: infinities, nan and the signs of zeros.
struct Special {
  std::int64_t not_finite = 0, negative_zeros = 0;
};

// Copies a row and examines it while it is in the cache.
template <class T>
Special copy_floats(const T* from, T* to, std::int64_t count) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  constexpr Bits negative_zero = Bits(1) << (8 * sizeof(T) - 1), infinity = std::bit_cast<Bits>(T(INFINITY));
  constexpr std::int64_t block = 1024;
  Special found;
  for (std::int64_t start = 0; start < count; start += block) {
    const std::int64_t end = std::min(count, start + block);
    Bits not_finite = 0, zeros = 0;
    for (std::int64_t i = start; i < end; ++i) {
      const Bits bits = std::bit_cast<Bits>(from[i]);
      to[i] = from[i] + T(0);  // without negative zeros
      not_finite += (bits & infinity) == infinity;
      zeros += bits == negative_zero;
    }
    found.not_finite += std::int64_t(not_finite);
    found.negative_zeros += std::int64_t(zeros);
  }
  return found;
}

template <class T>
void sort_floats(const T* from, T* to, std::int64_t count) {
  const Special found = copy_floats(from, to, count);
  T *first = to, *last = to + count;
  if (found.not_finite) {  // -inf, numbers, inf, nan
    first = std::partition(first, last, [](T v) { return v == -T(INFINITY); });
    T* const end = std::partition(first, last, [](T v) { return v < T(INFINITY); });
    std::partition(end, last, [](T v) { return v == T(INFINITY); });
    last = end;
  }
  if (!by_vectors(first, last - first)) std::sort(first, last);
  if (found.negative_zeros) {
    const auto zeros = std::equal_range(first, last, T(0));
    std::fill(zeros.first, zeros.first + found.negative_zeros, T(-0.0));
    std::fill(zeros.first + found.negative_zeros, zeros.second, T(0));
  }
}

template <class T>
void sort_row(const T* from, T* to, std::int64_t count) {
  if constexpr (std::is_floating_point_v<T>) {
    sort_floats(from, to, count);
  } else {
    std::memcpy(to, from, std::size_t(count) * sizeof(T));
    if constexpr (sizeof(T) == 1)
      sort_bytes(to, count);
    else if (!by_vectors(to, count))
      std::sort(to, to + count);
  }
}

template <class T>
void sort_rows(std::int64_t rows, std::int64_t length, const T* from, T* to) {
  for (std::int64_t row = 0; row < rows; ++row) sort_row(from + row * length, to + row * length, length);
}

// ---- positions ------------------------------------------------------------------------------------------------------

// An unsigned integer in the order of the values: all nan have one key, the largest, and both zeros have one key.
template <class T>
auto key_of(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    constexpr Bits sign = Bits(1) << (8 * sizeof(T) - 1);
    if (value != value) return ~Bits(0);
    const Bits bits = std::bit_cast<Bits>(value + T(0));
    return Bits(bits & sign ? ~bits : bits | sign);
  } else if constexpr (std::is_same_v<T, bool>) {
    return std::uint32_t(value);
  } else {
    using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    return std::is_signed_v<T> ? Bits(Bits(value) + (Bits(1) << (8 * sizeof(Bits) - 1))) : Bits(value);
  }
}

// A key combined with a position, which makes all of them different: sorting them is therefore stable.
template <class T>
struct Numbered;
template <>
struct Numbered<std::uint32_t> {
  using Type = std::uint64_t;
  static Type make(std::uint32_t key, std::int64_t position) { return Type(key) << 32 | Type(position); }
  static std::int64_t position(Type x) { return std::int64_t(x & 0xffffffff); }
};
template <>
struct Numbered<std::uint64_t> {
  using Type = Pair;
  static Type make(std::uint64_t key, std::int64_t position) { return {std::uint64_t(position), key}; }
  static std::int64_t position(Type x) { return std::int64_t(x.low); }
};

template <class T>
void argsort_in_place(std::int64_t length, const T* from, std::int64_t* to) {
  std::iota(to, to + length, std::int64_t(0));
  std::sort(to, to + length, [&](std::int64_t a, std::int64_t b) {
    const auto x = key_of(from[a]), y = key_of(from[b]);
    return x != y ? x < y : a < b;
  });
}

template <class T>
void argsort_rows(std::int64_t rows, std::int64_t length, const T* from, std::int64_t* to) {
  using Keys = Numbered<decltype(key_of(T()))>;
  using Key = typename Keys::Type;
  if (rows <= 0 || length <= 0) return;
  const bool wanted = BITALE_VECTOR_SORTS && length > few && length <= std::numeric_limits<std::uint32_t>::max();
  Key* const keys = wanted ? new (std::nothrow) Key[std::size_t(length)] : nullptr;
  for (std::int64_t row = 0; row < rows; ++row, from += length, to += length) {
    if (keys)
      for (std::int64_t i = 0; i < length; ++i) keys[i] = Keys::make(key_of(from[i]), i);
    if (keys && by_vectors(keys, length))
      for (std::int64_t i = 0; i < length; ++i) to[i] = Keys::position(keys[i]);
    else
      argsort_in_place(length, from, to);
  }
  delete[] keys;
}

}  // namespace

}  // namespace bitale::runtime

extern "C" {
#define X(id, name, suffix, T, ...)                                                                            \
  void bt_sort_##suffix(std::int64_t rows, std::int64_t length, const T* from, T* to) noexcept {               \
    bitale::runtime::sort_rows(rows, length, from, to);                                                        \
  }                                                                                                            \
  void bt_argsort_##suffix(std::int64_t rows, std::int64_t length, const T* from, std::int64_t* to) noexcept { \
    bitale::runtime::argsort_rows(rows, length, from, to);                                                     \
  }
BITALE_SORTED_DTYPES(X)
#undef X
}

namespace bitale::runtime {
namespace {

// Heapsort: in place, n log n for every order. $T, $S: type and suffix; $L: whether a comes before b; $A, $B: for
// indices, whether the element at the first comes before the other, and the reverse.
constexpr std::string_view sort_c = R"(static inline bool bt_before_$S($T a, $T b) { return $L; }

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
)";

constexpr std::string_view argsort_c =
    R"(// Whether what is at position i comes before what is at position j; of equals, the first.
static inline bool bt_index_before_$S(const $T *x, int64_t i, int64_t j) {
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
        if (child + 1 < end && bt_index_before_$S(from, to[child], to[child + 1])) ++child;
        if (!bt_index_before_$S(from, x, to[child])) break;
        to[at] = to[child];
      }
      to[at] = x;
    }
  }
}
)";

template <class T, class F>
RuntimeFunction sort_row(std::string_view name, F* function, std::string_view suffix, std::string_view text) {
  constexpr bool real = std::is_floating_point_v<T>;
  RuntimeFunction out = runtime_function(name, function, "rows length from to");
  out.c_text = text;
  out.with = {{"$S", suffix},
              {"$T", dtype_record(dtype_of<T>::value).c},
              {"$L", real ? "a < b || (a == a && b != b) || (a == b && signbit(a) && !signbit(b))" : "a < b"},
              {"$A", real ? "a < b || (a == a && b != b)" : "a < b"},
              {"$B", real ? "b < a || (b == b && a != a)" : "b < a"}};
  return out;
}

#define X(id, name, suffix, T, ...)                                   \
  sort_row<T>("bt_sort_" #suffix, bt_sort_##suffix, #suffix, sort_c), \
      sort_row<T>("bt_argsort_" #suffix, bt_argsort_##suffix, #suffix, argsort_c),
const RegisterFunctions sort_functions{BITALE_SORTED_DTYPES(X)};
#undef X

}  // namespace
}  // namespace bitale::runtime
