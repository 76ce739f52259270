// Derivatives through lazy choices (graph/lazy.hpp). The cotangent of a value that only one side of a choice needs is
// itself a choice: the cotangent if that side is taken, zeros otherwise. A sweep carries the choice along: the
// derivatives of all that this side computes are on its side of the choice, too, so that they are computed only if it
// is taken. Otherwise the side not taken would run (and could fail), and its zero could meet an infinite derivative.
#pragma once

#include <span>
#include <vector>

#include "bitale/graph/op.hpp"

namespace bitale {

struct Choice {
  Variable condition;
  bool side;  // the value of the condition for which the cotangent may be nonzero
};

// A cotangent without the choices around it, outermost first.
struct ChosenCotangent {
  std::vector<Choice> choices;
  Variable value;
};
ChosenCotangent chosen_cotangent(const Variable& cotangent);
bool are_same(std::span<const Choice> a, std::span<const Choice> b);

// The terms, each of the type of the variable at its position, within these choices.
Variables within_choices(std::span<const Choice> choices, Variables terms, std::span<const Variable> variables);

// The sum of at least one term. Choices by one condition become one choice, between sums.
Variable sum_of_terms(std::span<const Variable> terms);

}  // namespace bitale
