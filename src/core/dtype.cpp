// The table of element types and NumPy's promotion rules.
#include "bitale/core/dtype.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"

namespace bitale {

namespace {

struct DTypeInfo {
  std::string_view name, short_name;
  std::uint8_t size;
  DTypeKind kind;
};

// In the order of the enum.
constexpr std::array<DTypeInfo, dtype_count> infos{{
    {"bool", "bool", 1, DTypeKind::Bool},
    {"int8", "i8", 1, DTypeKind::Int},
    {"int16", "i16", 2, DTypeKind::Int},
    {"int32", "i32", 4, DTypeKind::Int},
    {"int64", "i64", 8, DTypeKind::Int},
    {"uint8", "u8", 1, DTypeKind::UInt},
    {"uint16", "u16", 2, DTypeKind::UInt},
    {"uint32", "u32", 4, DTypeKind::UInt},
    {"uint64", "u64", 8, DTypeKind::UInt},
    {"float16", "f16", 2, DTypeKind::Float},
    {"float32", "f32", 4, DTypeKind::Float},
    {"float64", "f64", 8, DTypeKind::Float},
    {"complex64", "c64", 8, DTypeKind::Complex},
    {"complex128", "c128", 16, DTypeKind::Complex},
}};

const DTypeInfo& info(DType dtype) { return infos[std::size_t(dtype)]; }

DType of_size(DTypeKind kind, std::size_t size) {
  for (std::size_t i = 0; i < infos.size(); ++i)
    if (infos[i].kind == kind && infos[i].size == size) return DType(i);
  throw InternalError(cat("no dtype of kind ", int(kind), " and size ", size));
}

// Size of the smallest float type that NumPy lets stand for a discrete dtype: one twice as wide, up to 8 bytes.
std::size_t float_size_for(DType discrete) {
  if (kind(discrete) == DTypeKind::Bool) return 2;
  return std::min<std::size_t>(8, 2 * itemsize(discrete));
}

// Size of one real component that can hold the dtype's values.
std::size_t component_size(DType dtype) {
  if (is_discrete(dtype)) return float_size_for(dtype);
  return is_complex(dtype) ? itemsize(dtype) / 2 : itemsize(dtype);
}

DType promote_discrete(DType a, DType b) {
  if (kind(a) == DTypeKind::Bool) return b;
  if (kind(b) == DTypeKind::Bool) return a;
  if (kind(a) == kind(b)) return itemsize(a) > itemsize(b) ? a : b;
  const DType with_sign = is_signed_int(a) ? a : b, without = is_signed_int(a) ? b : a;
  if (itemsize(with_sign) > itemsize(without)) return with_sign;
  // The signed type that holds all unsigned values; there is none for uint64.
  if (itemsize(without) == 8) return DType::Float64;
  return of_size(DTypeKind::Int, 2 * itemsize(without));
}

}  // namespace

std::string_view dtype_name(DType dtype) { return info(dtype).name; }
std::string_view dtype_short_name(DType dtype) { return info(dtype).short_name; }
std::size_t itemsize(DType dtype) { return info(dtype).size; }
DTypeKind kind(DType dtype) { return info(dtype).kind; }

DType parse_dtype(std::string_view name) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < infos.size(); ++i) {
    if (infos[i].name == name) return DType(i);
    names.emplace_back(infos[i].name);
  }
  std::string message = cat("unknown dtype \"", name, "\"");
  if (std::string near = closest(name, names); !near.empty()) message += cat("; did you mean \"", near, "\"?");
  throw TypeError(message + (message.back() == '?' ? " The dtypes are " : "; the dtypes are ") + join(names, ", "));
}

DType component_dtype(DType dtype) {
  return is_complex(dtype) ? of_size(DTypeKind::Float, itemsize(dtype) / 2) : dtype;
}

void require_real(DType dtype) {
  if (is_complex(dtype))
    throw NotImplementedError(cat("the dtype ", dtype_name(dtype), " is not supported here, where values are real"));
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (is_discrete(a) && is_discrete(b)) return promote_discrete(a, b);
  const std::size_t size = std::max(component_size(a), component_size(b));
  if (!is_complex(a) && !is_complex(b)) return of_size(DTypeKind::Float, size);
  return size <= 4 ? DType::Complex64 : DType::Complex128;
}

DType promote(std::span<const DType> dtypes) {
  if (dtypes.empty()) throw ValueError("promote: expected at least one dtype, got none");
  // Pairwise promotion depends on the order: int16 with uint16 is int32, with float32 float64. NumPy's result is
  // float32: each integer is promoted with the floats separately.
  auto first = std::find_if(dtypes.begin(), dtypes.end(), is_continuous);
  if (first == dtypes.end()) first = dtypes.begin();
  DType result = *first;
  for (DType dtype : dtypes)
    if (is_continuous(dtype)) result = promote(result, dtype);
  for (DType dtype : dtypes)
    if (is_discrete(dtype)) result = promote(result, dtype);
  return result;
}

bool can_cast_safely(DType from, DType to) { return promote(from, to) == to; }

std::span<const DType> real_dtypes() {
  static const std::array<DType, 12> dtypes{DType::Bool,   DType::Int8,    DType::Int16,   DType::Int32,
                                            DType::Int64,  DType::UInt8,   DType::UInt16,  DType::UInt32,
                                            DType::UInt64, DType::Float16, DType::Float32, DType::Float64};
  return dtypes;
}

}  // namespace bitale
