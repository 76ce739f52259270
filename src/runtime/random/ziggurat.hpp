// The ziggurat method (Marsaglia and Tsang, 2000) in the form of Doornik's and of NumPy: 8 bits choose a strip, and the
// others an abscissa in it; that is nearly always inside the curve, and then nothing more is computed.
#pragma once

#include <cstdint>

namespace bitale::runtime::random {

struct Ziggurat {
  std::uint64_t inside[256];  // abscissas below it are inside the curve
  double width[256];          // of one unit of an abscissa
  double height[256];         // of the curve at the strip's upper end
};
extern const Ziggurat normal_ziggurat;       // abscissas have 52 bits
extern const Ziggurat exponential_ziggurat;  // abscissas have 53 bits

inline constexpr double normal_tail = 3.6541528853610087963519472518;
inline constexpr double normal_tail_inverse = 0.27366123732975827203338247596;
inline constexpr double exponential_tail = 7.6971174701310497140446280481;

}  // namespace bitale::runtime::random
