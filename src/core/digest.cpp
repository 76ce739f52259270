#include "core/digest.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace bitale {

namespace {

constexpr std::size_t block = 1 << 16;

Digest bytes_of(XXH128_hash_t hash) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  Digest out;
  static_assert(sizeof(canonical.digest) == out.size());
  std::copy(std::begin(canonical.digest), std::end(canonical.digest), out.begin());
  return out;
}

}  // namespace

Digest digest_of(std::string_view bytes) { return bytes_of(XXH3_128bits(bytes.data(), bytes.size())); }

std::string hexadecimal(const Digest& digest) {
  constexpr char digits[] = "0123456789abcdef";
  std::string out;
  for (const std::uint8_t byte : digest) {
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return out;
}

struct Digester::State {
  XXH3_state_t xxh;
};

Digester::Digester() : state_(std::make_unique<State>()) { XXH3_128bits_reset(&state_->xxh); }
Digester::~Digester() = default;

void Digester::add(std::int64_t value) {
  pending_.append(reinterpret_cast<const char*>(&value), sizeof value);
  if (pending_.size() >= block) flush();
}

void Digester::add(std::string_view text) {
  add(std::int64_t(text.size()));
  pending_ += text;
  if (pending_.size() >= block) flush();
}

void Digester::flush() {
  XXH3_128bits_update(&state_->xxh, pending_.data(), pending_.size());
  pending_.clear();
}

Digest Digester::digest() {
  flush();
  return bytes_of(XXH3_128bits_digest(&state_->xxh));
}

}  // namespace bitale
