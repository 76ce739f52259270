// The dtype rules of scalar ops, named as PyTensor names them.
#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "ops/scalar/record.hpp"

namespace bitale::records {

namespace {

ScalarTypes same(DType dtype) { return {dtype, dtype}; }

// Floats wide enough for exact conversion of small integers: 24 bits hold all 16-bit integers.
DType float_for(DType dtype) {
  if (!is_discrete(dtype)) return dtype;
  return itemsize(dtype) <= 2 ? DType::Float32 : DType::Float64;
}

}  // namespace

ScalarTypes upcast_out(std::span<const DType> in) { return same(promote(in)); }

ScalarTypes upcast_out_nobool(std::span<const DType> in) {
  const DType dtype = promote(in);
  if (dtype != DType::Bool) return same(dtype);
  throw TypeError(in.size() == 1 ? "not defined for bool; use `invert` (logical not)"
                                 : "not defined for bool operands; use `xor_` (logical exclusive or)");
}

ScalarTypes upcast_out_min8(std::span<const DType> in) {
  const DType dtype = promote(in);
  return same(dtype == DType::Bool ? DType::Int8 : dtype);
}

ScalarTypes upgrade_to_float(std::span<const DType> in) {
  DType out = float_for(in[0]);
  for (DType dtype : in.subspan(1)) out = promote(out, float_for(dtype));
  return same(out);
}

ScalarTypes float_quotient(std::span<const DType> in) {
  const DType dtype = promote(in);
  for (DType each : in)
    if (!is_discrete(each)) return same(dtype);
  return {DType::Float64, config::float_x()};
}

ScalarTypes compared(std::span<const DType> in) { return {promote(in), DType::Bool}; }

ScalarTypes discrete_upcast(std::span<const DType> in) {
  for (DType dtype : in)
    if (!is_discrete(dtype)) throw TypeError(cat("expected bool or integers, got ", dtype_name(dtype)));
  const DType dtype = promote(in);
  if (!is_discrete(dtype)) throw TypeError("no integer dtype holds both int64 and uint64; cast one operand");
  return same(dtype);
}

}  // namespace bitale::records
