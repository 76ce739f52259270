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

// clang-format off
enum class DType : std::uint8_t {
  Bool, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64, Float16, Float32, Float64, Complex64, Complex128,
};
// clang-format on
inline constexpr int dtype_count = 14;

enum class DTypeKind : std::uint8_t { Bool, Int, UInt, Float, Complex };

std::string_view dtype_name(DType dtype);
// Short name used in programs and error messages: f64, i32, bool.
std::string_view dtype_short_name(DType dtype);
// "float64" -> Float64. ValueError with a suggestion for an unknown name.
DType parse_dtype(std::string_view name);
std::size_t itemsize(DType dtype);
DTypeKind kind(DType dtype);
inline bool is_float(DType dtype) { return kind(dtype) == DTypeKind::Float; }
inline bool is_complex(DType dtype) { return kind(dtype) == DTypeKind::Complex; }
inline bool is_discrete(DType dtype) { return kind(dtype) <= DTypeKind::UInt; }
inline bool is_integer(DType dtype) { return kind(dtype) == DTypeKind::Int || kind(dtype) == DTypeKind::UInt; }
inline bool is_signed_int(DType dtype) { return kind(dtype) == DTypeKind::Int; }
inline bool is_continuous(DType dtype) { return !is_discrete(dtype); }
// The dtype in which values of a dtype are computed: float32 for float16, which is only a storage format, else the
// dtype itself.
inline DType computing_dtype(DType dtype) { return dtype == DType::Float16 ? DType::Float32 : dtype; }
// The dtype of the real and imaginary part of a complex dtype; for any other dtype, the dtype itself.
DType component_dtype(DType dtype);
// NotImplementedError for a complex dtype, for code that supports real ones only.
void require_real(DType dtype);

// NumPy's result type of two array dtypes: int64 with float32 is float64, uint64 with int64 is float64.
DType promote(DType a, DType b);
DType promote(std::span<const DType> dtypes);
// Whether every value of `from` is a value of `to` (numpy.can_cast(..., "safe")).
bool can_cast_safely(DType from, DType to);

// clang-format off
template <class T> struct dtype_of;
template <> struct dtype_of<bool> { static constexpr DType value = DType::Bool; };
template <> struct dtype_of<std::int8_t> { static constexpr DType value = DType::Int8; };
template <> struct dtype_of<std::int16_t> { static constexpr DType value = DType::Int16; };
template <> struct dtype_of<std::int32_t> { static constexpr DType value = DType::Int32; };
template <> struct dtype_of<long> { static constexpr DType value = DType::Int64; };
template <> struct dtype_of<long long> { static constexpr DType value = DType::Int64; };
template <> struct dtype_of<std::uint8_t> { static constexpr DType value = DType::UInt8; };
template <> struct dtype_of<std::uint16_t> { static constexpr DType value = DType::UInt16; };
template <> struct dtype_of<std::uint32_t> { static constexpr DType value = DType::UInt32; };
template <> struct dtype_of<unsigned long> { static constexpr DType value = DType::UInt64; };
template <> struct dtype_of<unsigned long long> { static constexpr DType value = DType::UInt64; };
template <> struct dtype_of<Half> { static constexpr DType value = DType::Float16; };
template <> struct dtype_of<float> { static constexpr DType value = DType::Float32; };
template <> struct dtype_of<double> { static constexpr DType value = DType::Float64; };
template <> struct dtype_of<std::complex<float>> { static constexpr DType value = DType::Complex64; };
template <> struct dtype_of<std::complex<double>> { static constexpr DType value = DType::Complex128; };
// clang-format on

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
    case DType::Bool: return visitor.template operator()<bool>();
    case DType::Int8: return visitor.template operator()<std::int8_t>();
    case DType::Int16: return visitor.template operator()<std::int16_t>();
    case DType::Int32: return visitor.template operator()<std::int32_t>();
    case DType::Int64: return visitor.template operator()<std::int64_t>();
    case DType::UInt8: return visitor.template operator()<std::uint8_t>();
    case DType::UInt16: return visitor.template operator()<std::uint16_t>();
    case DType::UInt32: return visitor.template operator()<std::uint32_t>();
    case DType::UInt64: return visitor.template operator()<std::uint64_t>();
    case DType::Float16: return visitor.template operator()<Half>();
    case DType::Float32: return visitor.template operator()<float>();
    default: break;
  }
  if (dtype != DType::Float64) require_real(dtype);
  return visitor.template operator()<double>();
}

// All dtypes but the complex ones, in enum order.
std::span<const DType> real_dtypes();

}  // namespace bitale
