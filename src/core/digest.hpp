// Digest: 128 bits that stand for a sequence of values (XXH3). Not cryptographic: it distinguishes contents that were
// not constructed to collide.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace bitale {

using Digest = std::array<std::uint8_t, 16>;

Digest digest_of(std::string_view bytes);
std::string hexadecimal(const Digest& digest);  // 32 digits

// Consumes values sequentially; their order and number matter.
class Digester {
 public:
  Digester();
  ~Digester();
  void add(std::int64_t value);
  void add(std::string_view text);  // with its length, so that "a", "bc" is not "ab", "c"
  Digest digest();

 private:
  void flush();
  struct State;
  std::unique_ptr<State> state_;
  std::string pending_;
};

}  // namespace bitale
