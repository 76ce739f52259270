// A position is written for every byte, and kept by advancing only if the byte is not 0: no branch depends on a single
// byte. Blocks of zeros are skipped.
#include "runtime/nonzero.hpp"

#include <algorithm>
#include <cstring>

#include "bitale/runtime/functions.hpp"

namespace bitale::runtime {

namespace {

constexpr std::int64_t block = 64;  // bytes

bool is_zero(const std::uint8_t* bytes) {
  std::uint64_t words[block / 8], any = 0;
  std::memcpy(words, bytes, sizeof words);
  for (std::uint64_t word : words) any |= word;
  return any == 0;
}

void nonzero(std::int64_t length, std::int64_t count, const std::uint8_t* mask, std::int64_t* to) {
  std::int64_t found = 0;
  for (std::int64_t at = 0; at < length && found < count; at += block) {
    const std::int64_t end = std::min(length, at + block);
    if (end - at == block && is_zero(mask + at)) continue;
    if (end - at == block && found + block <= count) {  // the same, where all positions are sure to fit
      for (std::int64_t k = at; k < at + block; ++k) {
        to[found] = k;
        found += mask[k] != 0;
      }
    } else {
      for (std::int64_t k = at; k < end && found < count; ++k) {
        to[found] = k;
        found += mask[k] != 0;
      }
    }
  }
  if (found < count) std::fill(to + found, to + count, 0);  // the mask has changed meanwhile
}

const RegisterFunctions nonzero_functions{runtime_function("bt_nonzero", bt_nonzero, "length count mask to")};

}  // namespace

}  // namespace bitale::runtime

void bt_nonzero(std::int64_t length, std::int64_t count, const std::uint8_t* mask, std::int64_t* to) noexcept {
  bitale::runtime::nonzero(length, count, mask, to);
}
