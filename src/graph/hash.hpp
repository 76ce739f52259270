// Mixing of hash values, and the hash of an array's bits.
#pragma once

#include <cstddef>

#include "bitale/core/array.hpp"

namespace bitale {

inline std::size_t hash_mix(std::size_t seed, std::size_t value) {
  seed ^= value + 0x9E3779B97F4A7C15u + (seed << 12) + (seed >> 4);
  return seed * 0xFF51AFD7ED558CCDu;
}

// Hashes dtype, shape and bits (all nans alike): equal for arrays that are `identical`.
std::size_t hash_array(const Array& value);

}  // namespace bitale
