// Names and sizes of states, and seeding: NumPy's SeedSequence (O'Neill's seed_seq_fe), which spreads a seed over a
// pool of 128 bits.
#include "bitale/core/bit_generator.hpp"

#include <array>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "core/threefry.hpp"

namespace bitale {

namespace {

struct Row {
  std::string_view name;
  std::int64_t words;
};
constexpr Row generator_rows[bit_generator_count] = {
    {"PCG64", 6}, {"Philox", 13}, {"SFC64", 6}, {"MT19937", 313}, {"Threefry", 2}};

constexpr std::uint32_t init_a = 0x43b0d7e5, mult_a = 0x931e8875, init_b = 0x8b51f9dd, mult_b = 0x58f38ded;
constexpr std::uint32_t mix_left = 0xca01f9dd, mix_right = 0x4973f715;
constexpr std::size_t pool_size = 4;
using Pool = std::array<std::uint32_t, pool_size>;

// A hash whose constant changes with each use.
struct Hash {
  std::uint32_t constant = init_a;
  std::uint32_t operator()(std::uint32_t value) {
    value ^= constant;
    constant *= mult_a;
    value *= constant;
    return value ^ value >> 16;
  }
};

std::uint32_t mix(std::uint32_t x, std::uint32_t y) {
  const std::uint32_t result = mix_left * x - mix_right * y;
  return result ^ result >> 16;
}

Pool pool_of(std::span<const std::uint32_t> entropy) {
  Pool pool{};
  Hash hash;
  for (std::size_t i = 0; i < pool_size; ++i) pool[i] = hash(i < entropy.size() ? entropy[i] : 0);
  for (std::size_t from = 0; from < pool_size; ++from)
    for (std::size_t to = 0; to < pool_size; ++to)
      if (from != to) pool[to] = mix(pool[to], hash(pool[from]));
  for (std::size_t from = pool_size; from < entropy.size(); ++from)
    for (auto& word : pool) word = mix(word, hash(entropy[from]));
  return pool;
}

template <std::size_t count>
std::array<std::uint64_t, count> words_from(const Pool& pool) {
  std::array<std::uint64_t, count> out{};
  std::uint32_t constant = init_b;
  for (std::size_t i = 0; i < 2 * count; ++i) {
    std::uint32_t value = pool[i % pool_size] ^ constant;
    constant *= mult_b;
    value *= constant;
    value ^= value >> 16;
    out[i / 2] |= std::uint64_t(value) << (32 * (i % 2));
  }
  return out;
}

__extension__ typedef unsigned __int128 Word128;

}  // namespace

std::string_view bit_generator_name(BitGenerator kind) { return generator_rows[std::size_t(kind)].name; }
std::int64_t state_words(BitGenerator kind) { return generator_rows[std::size_t(kind)].words; }

BitGenerator parse_bit_generator(std::string_view name) {
  for (int kind = 0; kind < bit_generator_count; ++kind)
    if (generator_rows[kind].name == name) return BitGenerator(kind);
  throw ValueError(cat("unknown bit generator `", name,
                       "`: expected PCG64 (numpy.random.default_rng's), Philox, SFC64, MT19937 or Threefry"));
}

std::string_view refuse_state(BitGenerator kind, std::span<const std::uint64_t> words) {
  if (std::int64_t(words.size()) != state_words(kind)) return "the number of words";
  if (kind == BitGenerator::MT19937) return words[312] > 624 ? "the position is beyond the 624 numbers" : "";
  if (kind == BitGenerator::Threefry) return words[1] >> 62 ? "the number of draws is beyond 2^62" : "";
  const std::size_t half = words.size() - 2;
  if (words[half] > 1 || words[half + 1] >> 32) return "the buffered half of a word";
  if (kind == BitGenerator::PCG64 && !(words[2] & 1)) return "the increment is even";
  if (kind == BitGenerator::Philox && words[6] > 4) return "the position is beyond the buffer";
  return "";
}

std::vector<std::uint64_t> seeded_state(std::span<const std::uint32_t> seed, std::span<const std::uint32_t> spawn_key) {
  std::vector<std::uint32_t> entropy(seed.begin(), seed.end());
  if (entropy.empty()) entropy.push_back(0);
  if (!spawn_key.empty() && entropy.size() < pool_size) entropy.resize(pool_size, 0);
  entropy.insert(entropy.end(), spawn_key.begin(), spawn_key.end());
  const auto words = words_from<4>(pool_of(entropy));
  const Word128 first = Word128(words[0]) << 64 | words[1], sequence = Word128(words[2]) << 64 | words[3];
  const Word128 multiplier = Word128(2549297995355413924u) << 64 | 4865540595714422341u;
  const Word128 increment = sequence << 1 | 1;
  const Word128 state = (increment + first) * multiplier + increment;
  return {
      std::uint64_t(state), std::uint64_t(state >> 64), std::uint64_t(increment), std::uint64_t(increment >> 64), 0, 0};
}

std::vector<std::uint64_t> seeded_state(std::uint64_t seed) {
  const std::uint32_t words[] = {std::uint32_t(seed), std::uint32_t(seed >> 32)};
  return seeded_state(std::span(words, words[1] ? 2 : 1));
}

std::uint64_t child_key(std::span<const std::uint64_t> state, std::uint64_t number) {
  return threefry::block(threefry::draw_key(state.data()), threefry::child_mark + number);
}

}  // namespace bitale
