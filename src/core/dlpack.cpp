// DLPack's codes of dtypes, and what it has no form for.
#include "bitale/core/dlpack.hpp"

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"

namespace bitale::dlpack {

Code code_of(DType dtype) { return {dtype_record(dtype).dlpack, std::uint8_t(8 * itemsize(dtype))}; }

DType dtype_of_code(int code, int bits, int lanes) {
  for (int i = 0; lanes == 1 && i < dtype_count; ++i)
    if (const auto own = code_of(DType(i)); own.code == code && own.bits == bits) return DType(i);
  throw TypeError(cat("from_dlpack: expected a dtype of this library, got code ", code, " of ", bits, " bits and ",
                      lanes, " lanes"));
}

void refuse_device(int device) {
  throw ValueError(cat("from_dlpack: expected memory of the processor (device type ", cpu, "), got device type ",
                       device, ": copy it to the processor first"));
}

void refuse_null() { throw ValueError("from_dlpack: expected a tensor, got a null pointer"); }

void require_exportable(const Array& array) {
  array.require_defined();
  if (array.object()) throw ValueError("to_dlpack: expected numbers, got an array that holds an object of the host");
  for (std::int64_t stride : array.strides())
    if (stride % std::int64_t(itemsize(array.dtype())) != 0)
      throw ValueError(cat("to_dlpack: expected strides that are multiples of ", itemsize(array.dtype()),
                           " bytes, got ", stride, ": contiguous() is an array with such ones"));
}

Dims byte_strides(const Dims& shape, const std::int64_t* strides, std::size_t itemsize) {
  if (!strides) return contiguous_strides(shape, itemsize);
  Dims out(std::span(strides, shape.size()));
  for (auto& stride : out) stride *= std::int64_t(itemsize);
  return out;
}

}  // namespace bitale::dlpack
