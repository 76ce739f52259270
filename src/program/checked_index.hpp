// Indices that are checked in the loop that uses them: code generators recognise what `checked_index` builds.
#pragma once

#include <optional>

#include "bitale/program/expr.hpp"

namespace bitale::program {

// An index counted from the end of an axis of that length where it is negative.
Expr wrapped_index(Expr index, Expr length);
// Whether that is one of the axis.
Expr is_in_range(Expr index, Expr length);
// A position on the axis: the index, which may be negative if it `wraps`, or 0 where it is not in range.
Expr checked_index(Expr index, Expr length, bool wraps);

struct CheckedIndex {
  Expr position, in_range, wrapped, index, length;
};
// The operands from which `checked_index` has built this expression, if it has, and the parts of it.
std::optional<CheckedIndex> as_checked_index(Expr position);

}  // namespace bitale::program
