// Half: IEEE 754's binary16, the element of float16. It is stored in 16 bits; arithmetic converts it to float first.
// Conversions to it round once, to the nearest, ties to even.
#pragma once

#include "bitale/core/language.hpp"

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace bitale {

class Half {
 public:
  constexpr Half() = default;
  template <class T>
  requires std::is_arithmetic_v<T>
  constexpr Half(T value) : bits_(rounded(value)) {}  // NOLINT: as other arithmetic types convert
  static constexpr Half from_bits(std::uint16_t bits) {
    Half out;
    out.bits_ = bits;
    return out;
  }
  constexpr std::uint16_t bits() const { return bits_; }

  constexpr operator float() const {  // NOLINT
    // Moves exponent and fraction to where float32 has them, then scales by 2^112, the difference of the exponents'
    // biases.
    const std::uint32_t sign = std::uint32_t(bits_ & 0x8000u) << 16, rest = std::uint32_t(bits_ & 0x7fffu) << 13;
    constexpr std::uint32_t infinity = 0x7c00u << 13;
    const std::uint32_t magnitude =
        rest >= infinity ? rest | 0x7f800000u
                         : std::bit_cast<std::uint32_t>(std::bit_cast<float>(rest) * std::bit_cast<float>(0x77800000u));
    return std::bit_cast<float>(magnitude | sign);
  }

 private:
  static constexpr std::uint16_t rounded(float value) {
    const auto all = std::bit_cast<std::uint32_t>(value);
    const auto sign = std::uint16_t((all & 0x80000000u) >> 16);
    const std::uint32_t magnitude = all & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return sign | 0x7e00u;   // nan
    if (magnitude >= 0x47800000u) return sign | 0x7c00u;  // 65536 and more
    if (magnitude < 0x38800000u) {  // below 2^-14: the sum with 0.5 is rounded at the result's last digit
      const float sum = std::bit_cast<float>(magnitude) + 0.5f;
      return std::uint16_t(sign | (std::bit_cast<std::uint32_t>(sum) - 0x3f000000u));
    }
    return std::uint16_t(sign | ((magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1)) >> 13));
  }
  // Converts by way of a float that is rounded to odd, so that the second rounding sees what the first has lost.
  static constexpr std::uint16_t rounded(double value) {
    const auto nearest = float(value);
    const double back = nearest;
    if (back == value || value != value) return rounded(nearest);
    const bool away = (back < 0 ? -back : back) > (value < 0 ? -value : value);
    return rounded(std::bit_cast<float>((std::bit_cast<std::uint32_t>(nearest) - away) | 1u));
  }
  template <class T>
  static constexpr std::uint16_t rounded(T value) {
    return rounded(float(value));  // integers that a float does not hold exactly exceed the largest Half
  }

  std::uint16_t bits_ = 0;
};

template <class T>
inline constexpr bool is_half = std::is_same_v<T, Half>;
// Whether T is the element type of a float dtype.
template <class T>
inline constexpr bool is_float_type = std::is_floating_point_v<T> || is_half<T>;

}  // namespace bitale

template <>
class std::numeric_limits<bitale::Half> {
 public:
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;
  static constexpr bool has_infinity = true, has_quiet_NaN = true, is_iec559 = true, is_bounded = true;
  static constexpr int digits = 11, digits10 = 3, max_digits10 = 5, radix = 2;
  static constexpr bitale::Half min() { return bitale::Half::from_bits(0x0400); }
  static constexpr bitale::Half max() { return bitale::Half::from_bits(0x7bff); }
  static constexpr bitale::Half lowest() { return bitale::Half::from_bits(0xfbff); }
  static constexpr bitale::Half epsilon() { return bitale::Half::from_bits(0x1400); }
  static constexpr bitale::Half infinity() { return bitale::Half::from_bits(0x7c00); }
  static constexpr bitale::Half quiet_NaN() { return bitale::Half::from_bits(0x7e00); }
};
