// Words of the counter-based stream as expressions (core/threefry.hpp defines the words).
#pragma once

#include "bitale/program/expr.hpp"
#include "core/threefry.hpp"

namespace bitale {

// key and counter are uint64 expressions.
inline program::Expr random_block(program::Expr key, program::Expr counter) {
  using program::cast;
  using enum DType;
  const auto [high, low] =
      threefry::mixed(cast(key >> 32, UInt32), cast(key, UInt32), cast(counter >> 32, UInt32), cast(counter, UInt32));
  return cast(high, UInt64) << 32 | cast(low, UInt64);
}

// As threefry::unit and threefry::open_unit. The second sets the bits of a number from 1 to 2, which is exact and needs
// no conversion.
inline program::Expr random_unit(program::Expr bits) {
  return program::cast(program::cast(bits >> 11, DType::Int64), DType::Float64) * (1.0 / 9007199254740992.0);
}
inline program::Expr random_open_unit(program::Expr bits) {
  const program::Expr exponent = bits.pool().integer(0x3ff0000000000000, DType::UInt64);
  return program::bitcast(bits >> 12 | exponent, DType::Float64) - (1.0 - 1.0 / 9007199254740992.0);
}

// The full product of uint64 expressions, computed from products of halves, since vectors have no others.
struct RandomProduct {
  program::Expr upper, lower;
  program::Expr middle;  // for y below 2^32: the upper half of `lower`
};
inline RandomProduct random_product(program::Expr x, program::Expr y) {
  const program::Expr low_half = x.pool().integer(0xffffffff, DType::UInt64);
  const program::Expr x0 = x & low_half, x1 = x >> 32, y0 = y & low_half, y1 = y >> 32;
  const program::Expr least = x0 * y0, middle = x1 * y0 + (least >> 32), other = x0 * y1 + (middle & low_half);
  return {x1 * y1 + (middle >> 32) + (other >> 32), least + ((x1 * y0 + x0 * y1) << 32), middle & low_half};
}

}  // namespace bitale
