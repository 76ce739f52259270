// Recognition of Kronecker products and block-diagonal matrices, which are expressions over products, shapes and joins.
#pragma once

#include "rules/matrices.hpp"

namespace bitale::rewriting {

struct Kronecker {
  Variable left, right;
};
// Matches (x[:, None, :, None] * y[None, :, None, :]).reshape(...) of two square matrices.
std::optional<Kronecker> as_kronecker(FunctionGraph& graph, const Variable& v);
// The square blocks of a block-diagonal square matrix, or of a batch of such matrices.
std::optional<Variables> as_blocks(FunctionGraph& graph, const Variable& v);

}  // namespace bitale::rewriting
