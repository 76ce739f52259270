// Small expressions that the parts of the solver share.
#pragma once

#include <optional>
#include <utility>

#include "bitale/ops/ops.hpp"

namespace bitale::integrate {

// A number as a scalar of x's dtype.
inline Variable like(const Variable& x, double value) { return cast(value, x.dtype()); }

// x[first:end] along the first axis.
inline Variable rows_of(const Variable& x, std::optional<Operand> first, std::optional<Operand> end = {}) {
  return subtensor(x, {IndexItem(Slice{std::move(first), std::move(end), {}})});
}

}  // namespace bitale::integrate
