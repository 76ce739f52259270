// Inputs and values for the samples of structural ops.
#pragma once

#include <string>

#include "bitale/graph/variable.hpp"
#include "bitale/ops/registry.hpp"

namespace bitale {

inline Variable sample_input(DType dtype, const Dims& shape, std::string name = {}) {
  return Variable(tensor_type(dtype, shape), std::move(name));
}

// Distinct small values, including negative ones if the dtype has any, exact in every dtype.
inline Array sample_values(DType dtype, const Dims& shape, int seed = 0) {
  const std::int64_t size = product(shape);
  Array flat = Array::empty(DType::Float64, Dims{size});
  double* values = flat.mutable_data_as<double>();
  const bool is_unsigned = kind(dtype) == DTypeKind::UInt || dtype == DType::Bool;
  for (std::int64_t i = 0; i < size; ++i) {
    const std::int64_t k = (i * 7 + seed * 3) % 23;
    values[i] =
        is_unsigned ? double(k % (dtype == DType::Bool ? 2 : 23)) : double(k - 11) * (is_float(dtype) ? 0.25 : 1.0);
  }
  return flat.astype(dtype).reshape(shape);
}

}  // namespace bitale
