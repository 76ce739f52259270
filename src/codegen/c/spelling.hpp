// The C99 spelling of a Program's types, constants and names.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "bitale/core/dtype.hpp"
#include "bitale/program/expr.hpp"

namespace bitale::codegen::c {

std::string_view value_type(DType dtype);     // of a value: bool for Bool
std::string_view element_type(DType dtype);   // in memory: uint8_t for Bool, 0 or 1
std::string_view unsigned_type(DType dtype);  // in which integers of this dtype are added without overflow

// `payload` as in a constant expression.
std::string constant_text(DType dtype, std::int64_t payload);

// Whether no identifier may be this word: keywords of C and C++, and names of their headers (reserved_words.cpp).
bool is_reserved(std::string_view word);
bool has_reserved_beginning(std::string_view word);

// Unique identifiers: each is given out once, and none is reserved.
class Names {
 public:
  // `wanted` as an identifier, with a number appended if it is taken.
  std::string take(std::string_view wanted);
  void give_back(const std::string& name) { taken_.erase(name); }

 private:
  std::unordered_set<std::string> taken_;
};
std::string identifier(std::string_view text);
bool is_word(std::string_view text);                // letters, digits and _ only
std::string string_literal(std::string_view text);  // as a string of C, and of JavaScript

// A text and how tightly it binds, so that parentheses are written where C, or its reader, needs them.
struct Text {
  enum Binding { atom, unary, product, sum, other };
  std::string text;
  Binding binding = atom;
  // The text, in parentheses unless it binds at least that tightly.
  std::string inside(Binding binding) const;
};

}  // namespace bitale::codegen::c
