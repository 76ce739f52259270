// Kronecker products and block-diagonal matrices are expressions over products, shapes and joins: how rules recognize
// them.
#pragma once

#include "rules/matrices.hpp"

namespace bitale::rewriting {

struct Kronecker {
  Variable left, right;
};
// (x[:, None, :, None] * y[None, :, None, :]).reshape(...) of two square matrices.
std::optional<Kronecker> as_kronecker(FunctionGraph& graph, const Variable& v);
// The square matrices along the diagonal of one that is square itself, and 0 elsewhere; of a batch, too.
std::optional<Variables> as_blocks(FunctionGraph& graph, const Variable& v);

}  // namespace bitale::rewriting
