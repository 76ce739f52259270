// NumPy's promotion rules.
#include "bitale/core/dtype.hpp"

#include <algorithm>
#include <vector>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"

namespace bitale {

namespace {

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
  return dtype_of_size(DTypeKind::Int, 2 * itemsize(without));
}

}  // namespace

DType parse_dtype(std::string_view name) {
  std::vector<std::string> names;
  for (int k = 0; k < dtype_count; ++k) {
    names.emplace_back(dtype_name(DType(k)));
    if (names.back() == name) return DType(k);
  }
  std::string message = cat("unknown dtype \"", name, "\"");
  if (std::string near = closest(name, names); !near.empty()) message += cat("; did you mean \"", near, "\"?");
  throw TypeError(message + (message.back() == '?' ? " The dtypes are " : "; the dtypes are ") + join(names, ", "));
}

DType dtype_of_size(DTypeKind kind, std::size_t size) {
  for (int k = 0; k < dtype_count; ++k)
    if (dtype_records[k].kind == kind && dtype_records[k].size == size) return DType(k);
  throw InternalError(cat("no dtype of kind ", int(kind), " and size ", size));
}

DType component_dtype(DType dtype) {
  return is_complex(dtype) ? dtype_of_size(DTypeKind::Float, itemsize(dtype) / 2) : dtype;
}

void require_real(DType dtype) {
  if (is_complex(dtype)) refuse_complex(dtype);
}

void refuse_complex(DType dtype) {
  throw NotImplementedError(cat("the dtype ", dtype_name(dtype), " is not supported here, where values are real"));
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (is_discrete(a) && is_discrete(b)) return promote_discrete(a, b);
  const std::size_t size = std::max(component_size(a), component_size(b));
  if (!is_complex(a) && !is_complex(b)) return dtype_of_size(DTypeKind::Float, size);
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
#define X(id, ...) DType::id,
  static constexpr DType dtypes[] = {BITALE_REAL_DTYPES(X)};
#undef X
  return dtypes;
}

}  // namespace bitale
