// Text building without streams: cat("length ", 3) and join(names, ", ").
#pragma once

#include "bitale/core/language.hpp"

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace bitale {

// One piece of a message, which is in use until the message is made. Numbers print as C++ and Python would. Pieces own
// nothing, so that the thousands of calls of `cat` are short code.
class TextPiece {
 public:
  TextPiece(std::string_view text) : text_{text.data(), text.size()} {}
  TextPiece(const std::string& text) : TextPiece(std::string_view(text)) {}
  TextPiece(const char* text) : TextPiece(std::string_view(text)) {}
  TextPiece(char c) : character_(c), kind_(Kind::character) {}
  TextPiece(bool value) : TextPiece(std::string_view(value ? "True" : "False")) {}
  template <std::integral T>
  TextPiece(T value) : integer_(std::int64_t(value)), kind_(std::is_signed_v<T> ? Kind::integer : Kind::natural) {}
  TextPiece(double value) : real_(value), kind_(Kind::real) {}
  void append_to(std::string& out) const;

 private:
  enum class Kind : std::uint8_t { text, character, integer, natural, real };
  struct Text {
    const char* data;
    std::size_t size;
  };
  union {
    Text text_;
    char character_;
    std::int64_t integer_;
    double real_;
  };
  Kind kind_ = Kind::text;
};

std::string concatenate(std::span<const TextPiece> pieces);

template <class... Args>
[[gnu::always_inline]] inline std::string cat(const Args&... args) {
  const TextPiece pieces[] = {TextPiece(args)...};
  return concatenate(pieces);
}

std::string join(std::span<const std::string> parts, std::string_view separator);

// Shortest decimal text that reads back as the same double, as Python prints it ("2.0", "1e-05", "nan").
std::string number_text(double value);

// "(3, 4)", "(3,)", "()".
std::string tuple_text(std::span<const std::int64_t> values);
// "1 argument", "2 arguments".
std::string count_text(std::int64_t count, std::string_view what);

// The text in parentheses, unless it is a name, a number, a call or already bracketed: the result may stand before
// "[0]" or "**".
std::string atom_text(std::string text);

// The candidate nearest to a misspelt word, or empty when none is near.
std::string closest(std::string_view word, std::span<const std::string> candidates);

}  // namespace bitale
