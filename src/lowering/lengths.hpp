// Lengths: which expressions of lengths are equal according to the checks at entry, and which are numbers.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "program/substitute.hpp"

namespace bitale::lowering {

using program::Expr;

class Lengths {
 public:
  // Records that a check guarantees the equality of two canonical lengths.
  void equate(Expr a, Expr b);

  // The representative of all expressions that are known to equal `length`, or a number.
  Expr canonical(Expr length) const;
  std::vector<Expr> canonical(std::span<const Expr> lengths) const;
  bool same(Expr a, Expr b) const { return canonical(a) == canonical(b); }
  // The expression with numbers in place of input lengths that are known to be constant.
  Expr fixed(Expr expr) const { return numbers_.empty() ? expr : program::substitute(expr, numbers_); }

 private:
  void fix(Expr length, std::int64_t value);

  std::unordered_map<std::uint32_t, Expr> equal_;
  program::Substitution numbers_;
};

}  // namespace bitale::lowering
