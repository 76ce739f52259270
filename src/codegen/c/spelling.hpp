// How C99 spells what a Program speaks of: types, constants, names.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

#include "bitale/core/dtype.hpp"
#include "program/expr.hpp"

namespace bitale::codegen::c {

std::string_view value_type(DType dtype);     // of a value: bool for Bool
std::string_view element_type(DType dtype);   // in memory: uint8_t for Bool, 0 or 1
std::string_view unsigned_type(DType dtype);  // in which integers of this dtype are added without overflow

// `payload` as in a constant expression.
std::string constant_text(DType dtype, std::int64_t payload);

// Identifiers, each given once: none is a word of C or of its headers.
class Names {
 public:
  Names();
  // `wanted` made an identifier, with a number if it is taken.
  std::string take(std::string_view wanted);
  void give_back(const std::string& name) { taken_.erase(name); }

 private:
  std::unordered_set<std::string> taken_;
};
std::string identifier(std::string_view text);
bool is_word(std::string_view text);  // letters, digits and _ only
// Whether the text has this word.
bool mentions(std::string_view text, std::string_view word);

// Text with how tightly it binds, so that parentheses are set where C, or its reader, needs them.
struct Text {
  enum Binding { atom, unary, product, sum, other };
  std::string text;
  Binding binding = atom;
  // In parentheses unless it binds at least that tightly.
  std::string inside(Binding binding) const;
};

}  // namespace bitale::codegen::c
