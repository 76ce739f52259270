// Limits of float dtypes as numbers, for thresholds in expressions.
#pragma once

#include <limits>

#include "bitale/core/dtype.hpp"

namespace bitale {

// The distance from 1 to the next number: of float32, else of float64.
inline double machine_epsilon(DType dtype) {
  return dtype == DType::Float32 ? double(std::numeric_limits<float>::epsilon())
                                 : std::numeric_limits<double>::epsilon();
}

// The smallest normal number: of float32, else of float64.
inline double smallest_normal(DType dtype) {
  return dtype == DType::Float32 ? double(std::numeric_limits<float>::min()) : std::numeric_limits<double>::min();
}

}  // namespace bitale
