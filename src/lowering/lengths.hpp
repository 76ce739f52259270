// Lengths: which expressions of lengths are equal, as far as the checks at entry say, and which are numbers.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "program/substitute.hpp"

namespace bitale::lowering {

using program::Expr;

class Lengths {
 public:
  // A check holds that two canonical lengths are equal.
  void equate(Expr a, Expr b);

  // One of the expressions that are known to be equal, the same for all of them; or a number.
  Expr canonical(Expr length) const;
  std::vector<Expr> canonical(std::span<const Expr> lengths) const;
  bool same(Expr a, Expr b) const { return canonical(a) == canonical(b); }
  // With numbers for lengths of inputs that are known to be such.
  Expr fixed(Expr expr) const { return numbers_.empty() ? expr : program::substitute(expr, numbers_); }

 private:
  void fix(Expr length, std::int64_t value);

  std::unordered_map<std::uint32_t, Expr> equal_;
  program::Substitution numbers_;
};

}  // namespace bitale::lowering
