// Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011): a
// function from a key and a counter of 64 bits to 64 random bits. A counter-based stream is a key and the number of
// draws made from it; this file assigns the counters to their purposes, so that none is used twice:
//
//   key of draw n     block(key, n)                 n < 2^62
//   its element i     block(key of the draw, i)     i < 2^62
//   its word j        elements of the key block(key of the draw, 2^62 + j), j > 0
//   its child i       the stream of the key block(key of the draw, 2^63 + i)
//
// The function is JAX's, so that block(key, i) are the bits that jax.random.bits(key, dtype="uint64") has at i.
#pragma once

#include <cstdint>
#include <utility>

namespace bitale::threefry {

// Words are 32-bit numbers, or expressions of them.
template <class Word>
std::pair<Word, Word> mixed(const Word& key0, const Word& key1, Word x0, Word x1) {
  constexpr int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const Word keys[3] = {key0, key1, key0 ^ key1 ^ 0x1BD11BDAu};
  x0 = x0 + keys[0];
  x1 = x1 + keys[1];
  for (unsigned group = 0; group < 5; ++group) {
    for (int by : rotations[group % 2]) {
      x0 = x0 + x1;
      x1 = (x1 << by | x1 >> (32 - by)) ^ x0;
    }
    x0 = x0 + keys[(group + 1) % 3];
    x1 = x1 + (keys[(group + 2) % 3] + (group + 1));
  }
  return {x0, x1};
}

inline std::uint64_t block(std::uint64_t key, std::uint64_t counter) {
  const auto [high, low] =
      mixed(std::uint32_t(key >> 32), std::uint32_t(key), std::uint32_t(counter >> 32), std::uint32_t(counter));
  return std::uint64_t(high) << 32 | low;
}

inline constexpr std::uint64_t word_mark = std::uint64_t(1) << 62, child_mark = std::uint64_t(1) << 63;

// The key of the next draw from a state, which is a key and the number of that draw.
inline std::uint64_t draw_key(const std::uint64_t* state, std::uint64_t word = 0) {
  const std::uint64_t key = block(state[0], state[1]);
  return word ? block(key, word_mark + word) : key;
}

// Numbers from bits: in the unit interval without 1 (53 bits), and in its interior (the odd multiples of 2^-53).
inline double unit(std::uint64_t bits) { return double(bits >> 11) * (1.0 / 9007199254740992.0); }
inline double open_unit(std::uint64_t bits) { return (double(bits >> 12) + 0.5) * (1.0 / 4503599627370496.0); }

}  // namespace bitale::threefry
