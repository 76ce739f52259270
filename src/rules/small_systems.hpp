// Systems of two equations and determinants of 2 x 2 matrices, written out: elimination with partial pivoting takes a
// dozen scalar operations. In the steps of a loop they cost less than a call, and for a batch they run in lanes.
#pragma once

#include <optional>

#include "rules/matrices.hpp"

namespace bitale::rewriting {

// The outputs of the node as expressions, if it solves two equations or computes the determinant of a 2 x 2 matrix, or
// does so for each matrix of a batch.
std::optional<Variables> written_out(const Apply& node);

}  // namespace bitale::rewriting
