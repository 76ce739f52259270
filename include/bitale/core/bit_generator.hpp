// The supported bit generators, and the memory layout of their states: a row of 64-bit words. All but Threefry, which
// is counter-based, are NumPy's.
#pragma once

#include "bitale/core/language.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bitale {

enum class BitGenerator : std::uint8_t { PCG64, Philox, SFC64, MT19937, Threefry };
inline constexpr int bit_generator_count = 5;

std::string_view bit_generator_name(BitGenerator kind);  // NumPy's: "PCG64"
// ValueError naming the supported ones.
BitGenerator parse_bit_generator(std::string_view name);
// The number of words of a state. PCG64: state and increment, lower words first. Philox: counter (4), key (2), position
// in the buffer, buffer (4). SFC64: state (4). Each of these is followed by whether half of a word is left over, and
// that half. MT19937: 624 numbers of 32 bits, and the position among them. Threefry: key, and the number of draws made
// from it.
std::int64_t state_words(BitGenerator kind);
// What is wrong with these words as a state; empty for a valid state.
std::string_view refuse_state(BitGenerator kind, std::span<const std::uint64_t> words);
// The state of numpy.random.default_rng(seed): PCG64 seeded through NumPy's SeedSequence. The seed is a number of any
// length, 32 bits per element, the lowest first. `spawn_key`: for a child of that sequence.
std::vector<std::uint64_t> seeded_state(std::span<const std::uint32_t> seed,
                                        std::span<const std::uint32_t> spawn_key = {});
std::vector<std::uint64_t> seeded_state(std::uint64_t seed);
// The key of child `number` of a Threefry state: the child is the stream of that key, from which nothing has been drawn
// yet.
std::uint64_t child_key(std::span<const std::uint64_t> state, std::uint64_t number);

}  // namespace bitale
