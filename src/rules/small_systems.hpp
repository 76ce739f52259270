// Systems of two equations, and determinants of two rows, written out: elimination with partial pivoting takes a dozen
// operations on elements. In the steps of a loop they cost less than a call, and they run in lanes where there is a
// batch.
#pragma once

#include <optional>

#include "rules/matrices.hpp"

namespace bitale::rewriting {

// What the outputs of the node are, where it solves two equations or gives the determinant of a matrix with two rows,
// or does so for each of a batch.
std::optional<Variables> written_out(const Apply& node);

}  // namespace bitale::rewriting
