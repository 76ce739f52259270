// Reduction by Payne & Hanek, "Radian reduction for trigonometric functions" (1983): of x * 2/pi, only the part that is
// not a multiple of 4 matters, and of 2/pi, only the 192 bits that reach that part.
#include "runtime/angles.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "bitale/runtime/functions.hpp"
#include "runtime/narrowed.hpp"

namespace bitale::runtime {

namespace {

__extension__ using Wide = unsigned __int128;

// 2/pi = 0.w0 w1 w2 ... to base 2^64.
constexpr std::uint64_t two_over_pi[] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
    0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
    0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d,
};

// x = (quadrant + 4 i) pi/2 + high + low, |high| <= pi/4.
struct Angle {
  unsigned quadrant;
  double high, low;
};

// The 64 bits of 2/pi from bit `start` on; bits before the first are zero.
std::uint64_t bits_from(int start) {
  const int word = start >= 0 ? start / 64 : -1, shift = start - 64 * word;
  const std::uint64_t first = word < 0 ? 0 : two_over_pi[word];
  return shift == 0 ? first : first << shift | two_over_pi[word + 1] >> (64 - shift);
}

Angle reduce(double x) {
  int exponent = 0;
  const auto mantissa = std::uint64_t(std::ldexp(std::frexp(std::fabs(x), &exponent), 53));
  // |x| 2/pi = mantissa 2^exponent 0.w0 w1 ...: the bit of weight 2, and those below it.
  const int start = exponent - 53 - 2;
  const Wide low = Wide(mantissa) * bits_from(start + 128);
  const Wide middle = Wide(mantissa) * bits_from(start + 64) + std::uint64_t(low >> 64);
  std::uint64_t top = mantissa * bits_from(start) + std::uint64_t(middle >> 64), next = std::uint64_t(middle);
  auto quadrant = unsigned(top >> 62);
  // The rest as a fraction of 2^126, in [-1/2, 1/2] after carrying.
  Wide fraction = Wide(top << 2 | next >> 62) << 64 | (next << 2 | std::uint64_t(low) >> 62);
  const bool is_upper = fraction >> 127;
  if (is_upper) {
    fraction = -fraction;
    ++quadrant;
  }
  const int zeros = fraction >> 64 ? std::countl_zero(std::uint64_t(fraction >> 64))
                                   : 64 + std::countl_zero(std::uint64_t(fraction) | 1);
  fraction <<= zeros;
  constexpr std::uint64_t high_bits = ~std::uint64_t(0x7ff);  // 53 of 64
  const std::uint64_t upper = std::uint64_t(fraction >> 64) & high_bits;
  const double f = std::ldexp(double(upper), -64 - zeros);
  const double g = std::ldexp(double(std::uint64_t((fraction - (Wide(upper) << 64)) >> 12)), -116 - zeros);
  constexpr double half_pi = 1.5707963267948966, half_pi_low = 6.123233995736766e-17;
  const double high = f * half_pi;
  const double rest = std::fma(f, half_pi, -high) + (f * half_pi_low + g * half_pi);
  const bool negative = is_upper != (x < 0);
  return {(x < 0 ? 0u - quadrant : quadrant) & 3, negative ? -high : high, negative ? -rest : rest};
}

double sin_of(Angle a) { return std::sin(a.high) + a.low * std::cos(a.high); }
double cos_of(Angle a) { return std::cos(a.high) - a.low * std::sin(a.high); }

double sin_at(Angle a) {
  const double value = a.quadrant & 1 ? cos_of(a) : sin_of(a);
  return a.quadrant & 2 ? -value : value;
}

RuntimeFunction same_as_in_c(RuntimeFunction row, std::string_view as, std::string_view wide = "") {
  row.same_as = as;
  row.widened_from = wide;
  return row;
}

const RegisterFunctions angle_functions{
    same_as_in_c(runtime_function("bt_sin_huge", bt_sin_huge, "x"), "sin"),
    same_as_in_c(runtime_function("bt_cos_huge", bt_cos_huge, "x"), "cos"),
    same_as_in_c(runtime_function("bt_tan_huge", bt_tan_huge, "x"), "tan"),
    same_as_in_c(BITALE_NARROWED_ROW(bt_sin_huge, "x"), "", "bt_sin_huge"),
    same_as_in_c(BITALE_NARROWED_ROW(bt_cos_huge, "x"), "", "bt_cos_huge"),
    same_as_in_c(BITALE_NARROWED_ROW(bt_tan_huge, "x"), "", "bt_tan_huge"),
};

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

}  // namespace bitale::runtime

using namespace bitale::runtime;

extern "C" {

double bt_sin_huge(double x) { return std::fabs(x) >= 1 && std::isfinite(x) ? sin_at(reduce(x)) : no_number; }

double bt_cos_huge(double x) {
  if (!(std::fabs(x) >= 1 && std::isfinite(x))) return no_number;
  Angle angle = reduce(x);
  ++angle.quadrant;
  return sin_at(angle);
}

double bt_tan_huge(double x) {
  if (!(std::fabs(x) >= 1 && std::isfinite(x))) return no_number;
  const Angle angle = reduce(x);
  const double tangent = std::tan(angle.high), value = tangent + angle.low * (1 + tangent * tangent);
  return angle.quadrant & 1 ? -1 / value : value;
}

}  // extern "C"
