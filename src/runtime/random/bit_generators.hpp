// NumPy's bit generators, written to the published algorithms: PCG64 (O'Neill, XSL-RR 128/64), Philox4x64-10 (Salmon
// and others, 2011), SFC64 (Doty-Humphrey) and MT19937 (Matsumoto and Nishimura, 1998). A state is a row of 64-bit
// words in memory; a generator loads it into registers for a call and writes it back. What NumPy keeps besides the
// state (half of a word that was drawn as 32 bits) is part of it, so that a stream continues where NumPy's ended.
// Threefry is the counter-based stream (core/threefry.hpp), for samplers that use words sequentially.
#pragma once

#include <cstdint>
#include <cstring>

#include "bitale/core/bit_generator.hpp"
#include "core/threefry.hpp"

namespace bitale::runtime::random {

__extension__ typedef unsigned __int128 Word128;

// Draws 64 bits at a time; requests for 32 bits get the lower half, then the upper one.
class Halves {
 public:
  void load(const std::uint64_t* words) { has_half_ = words[0] != 0, half_ = std::uint32_t(words[1]); }
  void store(std::uint64_t* words) const { words[0] = has_half_, words[1] = half_; }
  bool is_empty() const { return !has_half_; }
  void keep(std::uint32_t half) { has_half_ = true, half_ = half; }
  void used(std::uint32_t half) { half_ = half; }  // NumPy remembers a used half, too
  template <class Generator>
  std::uint32_t next32(Generator& generator) {
    if (has_half_) return has_half_ = false, half_;
    const std::uint64_t next = generator.next64();
    keep(std::uint32_t(next >> 32));
    return std::uint32_t(next);
  }

 private:
  bool has_half_ = false;
  std::uint32_t half_ = 0;
};

inline double unit_double(std::uint64_t bits) { return double(bits >> 11) * (1.0 / 9007199254740992.0); }

class Pcg64 {
 public:
  static constexpr std::int64_t words = 6;  // state (low, high), increment (low, high), has a half, the half
  explicit Pcg64(const std::uint64_t* w) : state_(join(w[0], w[1])), increment_(join(w[2], w[3])) {
    halves_.load(w + 4);
  }
  void store(std::uint64_t* w) const {
    w[0] = std::uint64_t(state_), w[1] = std::uint64_t(state_ >> 64);
    halves_.store(w + 4);
  }
  std::uint64_t next64() {
    state_ = state_ * join(4865540595714422341u, 2549297995355413924u) + increment_;
    const auto high = std::uint64_t(state_ >> 64);
    const std::uint64_t folded = high ^ std::uint64_t(state_);
    const unsigned turn = unsigned(high >> 58);
    return folded >> turn | folded << (-turn & 63);
  }
  std::uint32_t next32() { return halves_.next32(*this); }
  Halves& halves() { return halves_; }
  double next_double() { return unit_double(next64()); }

 private:
  static constexpr Word128 join(std::uint64_t low, std::uint64_t high) { return Word128(high) << 64 | low; }
  Word128 state_, increment_;
  Halves halves_;
};

class Philox {
 public:
  static constexpr std::int64_t words = 13;  // counter (4), key (2), position in the buffer, buffer (4), half (2)
  explicit Philox(const std::uint64_t* w) : position_(w[6]) {
    std::memcpy(counter_, w, sizeof counter_);
    std::memcpy(key_, w + 4, sizeof key_);
    std::memcpy(buffer_, w + 7, sizeof buffer_);
    halves_.load(w + 11);
  }
  void store(std::uint64_t* w) const {
    std::memcpy(w, counter_, sizeof counter_);
    w[6] = position_;
    std::memcpy(w + 7, buffer_, sizeof buffer_);
    halves_.store(w + 11);
  }
  std::uint64_t next64() {
    if (position_ >= 4) {
      for (auto& word : counter_)
        if (++word) break;
      mix();
      position_ = 0;
    }
    return buffer_[position_++];
  }
  std::uint32_t next32() { return halves_.next32(*this); }
  Halves& halves() { return halves_; }
  double next_double() { return unit_double(next64()); }

 private:
  void mix() {
    std::uint64_t a = counter_[0], b = counter_[1], c = counter_[2], d = counter_[3], k0 = key_[0], k1 = key_[1];
    for (int round = 0; round < 10; ++round) {
      const Word128 first = Word128(a) * 0xD2E7470EE14C6C93u, second = Word128(c) * 0xCA5A826395121157u;
      a = std::uint64_t(second >> 64) ^ b ^ k0, b = std::uint64_t(second);
      c = std::uint64_t(first >> 64) ^ d ^ k1, d = std::uint64_t(first);
      k0 += 0x9E3779B97F4A7C15u, k1 += 0xBB67AE8584CAA73Bu;
    }
    buffer_[0] = a, buffer_[1] = b, buffer_[2] = c, buffer_[3] = d;
  }
  std::uint64_t counter_[4], key_[2], position_, buffer_[4];
  Halves halves_;
};

class Sfc64 {
 public:
  static constexpr std::int64_t words = 6;  // state (4), half (2)
  explicit Sfc64(const std::uint64_t* w) : a_(w[0]), b_(w[1]), c_(w[2]), count_(w[3]) { halves_.load(w + 4); }
  void store(std::uint64_t* w) const {
    w[0] = a_, w[1] = b_, w[2] = c_, w[3] = count_;
    halves_.store(w + 4);
  }
  std::uint64_t next64() {
    const std::uint64_t next = a_ + b_ + count_++;
    a_ = b_ ^ b_ >> 11;
    b_ = c_ + (c_ << 3);
    c_ = (c_ << 24 | c_ >> 40) + next;
    return next;
  }
  std::uint32_t next32() { return halves_.next32(*this); }
  Halves& halves() { return halves_; }
  double next_double() { return unit_double(next64()); }

 private:
  std::uint64_t a_, b_, c_, count_;
  Halves halves_;
};

// Its state is copied: a fault in the middle of a call leaves the memory as it was.
class Mt19937 {
 public:
  static constexpr std::int64_t words = 313;  // the key, two of its 624 numbers in a word; the position
  explicit Mt19937(const std::uint64_t* w) : position_(w[312] < size ? int(w[312]) : size) {
    std::memcpy(key_, w, sizeof key_);
  }
  void store(std::uint64_t* w) const {
    std::memcpy(w, key_, sizeof key_);
    w[312] = std::uint64_t(position_);
  }
  std::uint32_t next32() {
    if (position_ == size) refill();
    std::uint32_t y = key_[position_++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ y >> 18;
  }
  std::uint64_t next64() {
    const std::uint64_t high = next32();
    return high << 32 | next32();
  }
  double next_double() {
    const std::uint32_t a = next32() >> 5, b = next32() >> 6;
    return (a * 67108864.0 + b) / 9007199254740992.0;
  }

 private:
  static constexpr int size = 624, shift = 397;
  void refill() {
    const auto twist = [](std::uint32_t upper, std::uint32_t lower) {
      const std::uint32_t y = (upper & 0x80000000u) | (lower & 0x7fffffffu);
      return y >> 1 ^ (lower & 1 ? 0x9908b0dfu : 0u);
    };
    for (int k = 0; k < size - shift; ++k) key_[k] = key_[k + shift] ^ twist(key_[k], key_[k + 1]);
    for (int k = size - shift; k < size - 1; ++k) key_[k] = key_[k + shift - size] ^ twist(key_[k], key_[k + 1]);
    key_[size - 1] = key_[shift - 1] ^ twist(key_[size - 1], key_[0]);
    position_ = 0;
  }
  std::uint32_t key_[size];
  int position_;
};

// The words of a key, starting at a counter.
class KeyedWords {
 public:
  explicit KeyedWords(std::uint64_t key, std::uint64_t counter = 0) : key_(key), counter_(counter) {}
  std::uint64_t next64() { return threefry::block(key_, counter_++); }
  std::uint32_t next32() { return std::uint32_t(next64()); }
  double next_double() { return unit_double(next64()); }

 private:
  std::uint64_t key_, counter_;
};

// One draw, regardless of how many words it takes.
class Threefry : public KeyedWords {
 public:
  static constexpr std::int64_t words = 2;  // key, number of the draw
  explicit Threefry(const std::uint64_t* w) : KeyedWords(threefry::draw_key(w)) {}
  void store(std::uint64_t* w) const { ++w[1]; }
};

// Stores the state of a generator when a scope ends, by an exception too. (Clang finds no destructor of a class that is
// local to a generic lambda.)
template <class Generator>
struct StoreAtEnd {
  const Generator& generator;
  std::uint64_t* words;
  ~StoreAtEnd() { generator.store(words); }
};

// Calls `action` with the generator of that kind in the state that `words` hold, and stores the state it leaves.
template <class Action>
auto with_generator(BitGenerator kind, std::uint64_t* words, Action&& action) {
  const auto run = [&]<class Generator>(Generator generator) {
    const StoreAtEnd<Generator> at_end{generator, words};
    return action(generator);
  };
  switch (kind) {
    case BitGenerator::Philox: return run(Philox(words));
    case BitGenerator::SFC64: return run(Sfc64(words));
    case BitGenerator::MT19937: return run(Mt19937(words));
    case BitGenerator::Threefry: return run(Threefry(words));
    case BitGenerator::PCG64: break;
  }
  return run(Pcg64(words));
}

}  // namespace bitale::runtime::random
