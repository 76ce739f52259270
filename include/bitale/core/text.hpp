// Text building without streams: cat("length ", 3) and join(names, ", ").
#pragma once

#include "bitale/core/language.hpp"

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bitale {

// One piece of a message. Numbers print as C++ and Python would.
class TextPiece {
 public:
  TextPiece(std::string_view text) : view_(text) {}
  TextPiece(const std::string& text) : view_(text) {}
  TextPiece(const char* text) : view_(text) {}
  TextPiece(char c) : own_(1, c) {}
  TextPiece(bool value) : view_(value ? "True" : "False") {}
  template <std::integral T>
  TextPiece(T value) : own_(std::to_string(value)) {}
  TextPiece(double value);
  std::string_view view() const { return own_.empty() ? view_ : std::string_view(own_); }

 private:
  std::string own_;
  std::string_view view_;
};

std::string concatenate(std::span<const TextPiece> pieces);

template <class... Args>
std::string cat(const Args&... args) {
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
