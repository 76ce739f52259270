// Filling memory with one element, for generated code.
#include <cstdint>
#include <cstring>

#include "runtime/symbols.hpp"

namespace bitale::runtime {

namespace {

template <class Word>
void fill_words(void* data, std::int64_t count, std::int64_t bits) {
  auto* words = static_cast<Word*>(data);
  for (std::int64_t i = 0; i < count; ++i) words[i] = Word(bits);
}

// `width` is 1, 2, 4 or 8 bytes; `bits` holds the element in its low bytes.
void fill(void* data, std::int64_t count, std::int64_t width, std::int64_t bits) {
  if (count <= 0) return;
  if (bits == 0)
    std::memset(data, 0, std::size_t(count * width));
  else if (width == 1)
    fill_words<std::uint8_t>(data, count, bits);
  else if (width == 2)
    fill_words<std::uint16_t>(data, count, bits);
  else if (width == 4)
    fill_words<std::uint32_t>(data, count, bits);
  else
    fill_words<std::uint64_t>(data, count, bits);
}

const RegisterSymbols fill_symbols{symbol("bt_fill", fill)};

}  // namespace

}  // namespace bitale::runtime
