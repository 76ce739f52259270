// Numbers in expressions become constants of the smallest dtype that holds them, so that `x + 1` keeps the dtype of x.
#include "bitale/ops/operand.hpp"

#include <cmath>
#include <limits>

#include "bitale/core/config.hpp"
#include "graph/literal.hpp"

namespace bitale {

namespace {

template <class T>
bool holds(std::int64_t value) {
  return value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
}

bool is_exact_in_float32(double value) {
  if (std::isnan(value) || std::isinf(value)) return true;
  return std::fabs(value) <= double(std::numeric_limits<float>::max()) && double(float(value)) == value;
}

}  // namespace

Variable Operand::number(bool value) { return constant(Array(value)); }

Variable Operand::number(std::int64_t value) {
  if (holds<std::int8_t>(value)) return literal(Array(std::int8_t(value)));
  if (holds<std::int16_t>(value)) return literal(Array(std::int16_t(value)));
  if (holds<std::int32_t>(value)) return literal(Array(std::int32_t(value)));
  return literal(Array(value));
}

Variable Operand::number(std::uint64_t value) {
  if (value > std::uint64_t(std::numeric_limits<std::int64_t>::max())) return constant(Array(value));
  return number(std::int64_t(value));
}

Variable Operand::number(double value) {
  if (const DType dtype = config::float_x(); dtype != DType::Float64) return constant(Array(value).astype(dtype));
  return is_exact_in_float32(value) ? literal(Array(float(value))) : literal(Array(value));
}

Variable Operand::number(std::complex<double> value) { return constant(Array(value)); }

}  // namespace bitale
