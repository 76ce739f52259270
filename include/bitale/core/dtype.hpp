// Element types and their rules: names, sizes, promotion and the safe-cast order, as NumPy and PyTensor define them.
#pragma once

#include "bitale/core/language.hpp"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "bitale/core/half.hpp"

namespace bitale {

enum class DTypeKind : std::uint8_t { Bool, Int, UInt, Float, Complex };

// The dtypes in the order of the enum, one row each. All that the library knows of a dtype alone comes from its row:
// enumerator; name (NumPy's too); short name (in programs, error messages and names of runtime functions); type in C++;
// kind; type of an element in C (the code of which computes no complex numbers); type in StableHLO; code in DLPack; the
// letter of PyTensor's constructors (bscalar, wvector), or 0. LLVM's type follows from kind and size.
// clang-format off
#define BITALE_INTEGER_DTYPES(X)                                                                     \
  X(Int8,       int8,       i8,   std::int8_t,          Int,     "int8_t",   "i8",           0, 'b') \
  X(Int16,      int16,      i16,  std::int16_t,         Int,     "int16_t",  "i16",          0, 'w') \
  X(Int32,      int32,      i32,  std::int32_t,         Int,     "int32_t",  "i32",          0, 'i') \
  X(Int64,      int64,      i64,  std::int64_t,         Int,     "int64_t",  "i64",          0, 'l') \
  X(UInt8,      uint8,      u8,   std::uint8_t,         UInt,    "uint8_t",  "ui8",          1, 0)   \
  X(UInt16,     uint16,     u16,  std::uint16_t,        UInt,    "uint16_t", "ui16",         1, 0)   \
  X(UInt32,     uint32,     u32,  std::uint32_t,        UInt,    "uint32_t", "ui32",         1, 0)   \
  X(UInt64,     uint64,     u64,  std::uint64_t,        UInt,    "uint64_t", "ui64",         1, 0)
#define BITALE_DISCRETE_DTYPES(X)                                                                    \
  X(Bool,       bool,       bool, bool,                 Bool,    "uint8_t",  "i1",           6, 0)   \
  BITALE_INTEGER_DTYPES(X)
// Formats of memory, whose values are computed in float32: in C, their bits.
#define BITALE_STORAGE_DTYPES(X)                                                                     \
  X(Float16,    float16,    f16,  Half,                 Float,   "uint16_t", "f16",          2, 0)
#define BITALE_FLOAT_DTYPES(X)                                                                       \
  X(Float32,    float32,    f32,  float,                Float,   "float",    "f32",          2, 'f') \
  X(Float64,    float64,    f64,  double,               Float,   "double",   "f64",          2, 'd')
#define BITALE_COMPLEX_DTYPES(X)                                                                     \
  X(Complex64,  complex64,  c64,  std::complex<float>,  Complex, "",         "complex<f32>", 5, 'c') \
  X(Complex128, complex128, c128, std::complex<double>, Complex, "",         "complex<f64>", 5, 'z')
#define BITALE_REAL_DTYPES(X) BITALE_DISCRETE_DTYPES(X) BITALE_STORAGE_DTYPES(X) BITALE_FLOAT_DTYPES(X)
#define BITALE_DTYPES(X) BITALE_REAL_DTYPES(X) BITALE_COMPLEX_DTYPES(X)
// clang-format on

#define BITALE_ROW(id, ...) id,
enum class DType : std::uint8_t { BITALE_DTYPES(BITALE_ROW) };
#undef BITALE_ROW

struct DTypeRecord {
  std::string_view name, short_name;
  std::uint8_t size;
  DType computing;
  DTypeKind kind;
  std::string_view c, stablehlo;
  std::uint8_t dlpack;
  char prefix;
};

inline constexpr DTypeRecord dtype_records[] = {
#define BITALE_ROW(id, name, suffix, T, kind, ...) \
  {#name, #suffix, sizeof(T), is_half<T> ? DType::Float32 : DType::id, DTypeKind::kind, __VA_ARGS__},
    BITALE_DTYPES(BITALE_ROW)
#undef BITALE_ROW
};
inline constexpr int dtype_count = int(std::size(dtype_records));

constexpr const DTypeRecord& dtype_record(DType dtype) { return dtype_records[std::size_t(dtype)]; }
constexpr std::string_view dtype_name(DType dtype) { return dtype_record(dtype).name; }
constexpr std::string_view dtype_short_name(DType dtype) { return dtype_record(dtype).short_name; }
// "float64" -> Float64. ValueError with a suggestion for an unknown name.
DType parse_dtype(std::string_view name);
constexpr std::size_t itemsize(DType dtype) { return dtype_record(dtype).size; }
constexpr DTypeKind kind(DType dtype) { return dtype_record(dtype).kind; }
// The first dtype of that kind and size; InternalError if there is none.
DType dtype_of_size(DTypeKind kind, std::size_t size);
constexpr bool is_float(DType dtype) { return kind(dtype) == DTypeKind::Float; }
constexpr bool is_complex(DType dtype) { return kind(dtype) == DTypeKind::Complex; }
constexpr bool is_discrete(DType dtype) { return kind(dtype) <= DTypeKind::UInt; }
constexpr bool is_integer(DType dtype) { return kind(dtype) == DTypeKind::Int || kind(dtype) == DTypeKind::UInt; }
constexpr bool is_signed_int(DType dtype) { return kind(dtype) == DTypeKind::Int; }
constexpr bool is_continuous(DType dtype) { return !is_discrete(dtype); }
// The dtype in which values of a dtype are computed: float32 for a format of memory, else the dtype itself.
constexpr DType computing_dtype(DType dtype) { return dtype_record(dtype).computing; }
constexpr bool is_storage_format(DType dtype) { return computing_dtype(dtype) != dtype; }
// The dtype of the real and imaginary part of a complex dtype; for any other dtype, the dtype itself.
DType component_dtype(DType dtype);
// NotImplementedError for a complex dtype, for code that supports real ones only.
void require_real(DType dtype);
[[noreturn]] void refuse_complex(DType dtype);

// NumPy's result type of two array dtypes: int64 with float32 is float64, uint64 with int64 is float64.
DType promote(DType a, DType b);
DType promote(std::span<const DType> dtypes);
// Whether every value of `from` is a value of `to` (numpy.can_cast(..., "safe")).
bool can_cast_safely(DType from, DType to);

template <class T>
struct dtype_of;
#define BITALE_ROW(id, name, suffix, T, ...)  \
  template <>                                 \
  struct dtype_of<T> {                        \
    static constexpr DType value = DType::id; \
  };
BITALE_DTYPES(BITALE_ROW)
#undef BITALE_ROW
// Of long and long long, those that std::int64_t and std::uint64_t are not.
template <>
struct dtype_of<std::conditional_t<std::is_same_v<std::int64_t, long>, long long, long>> : dtype_of<std::int64_t> {};
template <>
struct dtype_of<std::conditional_t<std::is_same_v<std::uint64_t, unsigned long>, unsigned long long, unsigned long>>
    : dtype_of<std::uint64_t> {};

// A C++ arithmetic type that is an element type.
template <class T>
concept Element = requires {
  dtype_of<T>::value;
};

// What std::begin and std::end know, and its values: of std::vector, std::span, std::array, std::deque, ...
template <class R>
concept IterableRange = requires(const R& range) {
  std::begin(range);
  std::end(range);
};
template <class R>
using range_value = std::iter_value_t<decltype(std::begin(std::declval<const R&>()))>;

// A range that converts to an Array of one dimension.
template <class R>
concept ElementRange = IterableRange<R> && Element<range_value<R>> && requires(const R& range) {
  std::size(range);
};

// Whether T is the element type of a complex dtype.
template <class T>
inline constexpr bool is_complex_type =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

// Calls visitor.operator()<T>() with the C++ type of a real dtype. NotImplementedError for a complex one: callers that
// support complex dtypes visit the real and imaginary parts (Array::component).
template <class Visitor>
decltype(auto) visit_dtype(DType dtype, Visitor&& visitor) {
  switch (dtype) {
#define BITALE_ROW(id, name, suffix, T, ...) \
  case DType::id: return visitor.template operator()<T>();
    BITALE_REAL_DTYPES(BITALE_ROW)
#undef BITALE_ROW
    default: refuse_complex(dtype);
  }
}

// All dtypes but the complex ones, in enum order.
std::span<const DType> real_dtypes();

}  // namespace bitale
