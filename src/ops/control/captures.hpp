// What an expression that becomes an inner graph reads of the surrounding graph: a loop's step, the right-hand side of
// a differential equation, an objective.
#pragma once

#include <optional>

#include "bitale/graph/traversal.hpp"

namespace bitale {

struct Captured {
  Variables outputs;         // of leaves alone: the expression's own, and those that stand for captured values
  Variables leaves, values;  // of the captured values, and the values
};

enum class Transposed { as_it_is, by_its_source };
// The variable that v is a transposed view of. Outside a loop the transposition would be a copy, whereas steps may pass
// it to a function that reads matrices in either layout; null for a few elements, which cost nothing to copy.
std::optional<Variable> transposed_from(const Variable& v);

// The last values that don't depend on the leaves `own`, except those that only a choice by the leaves needs and whose
// computation may fail: these are computed behind the choice. What depends on no variable at all is not captured,
// either. `how`: whether a transposed value is captured, or what it is transposed from. `named` are always captured.
Captured captured_by(const Variables& outputs, const Variables& own, Transposed how = Transposed::as_it_is,
                     const Variables& named = {});

// The values that a user can name, because somebody holds them, among those that captured_by leaves to be computed
// within. Later calls may replace them or differentiate
// with respect to them. `named`: what captured_by is given as named already.
Variables named_values(const Variables& outputs, const Variables& own, const Variables& named = {});

// captured_by, with all values that a user can name.
Captured closed(const Variables& outputs, const Variables& own);

}  // namespace bitale
