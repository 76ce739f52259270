// Interface of ops that are formulas over other ops: the pass `expand` replaces such an op by its formula before all
// other passes, so that it is simplified and fused like everything else. An op written in Python with `emit` is one.
#pragma once

#include <optional>

#include "bitale/graph/op.hpp"

namespace bitale {

class Expansion {
 public:
  virtual ~Expansion() = default;
  // One variable per output, of the output's type or a sub-type. Nothing: this node is kept as it is.
  virtual std::optional<Variables> expansion(const Apply& node) const = 0;
};

}  // namespace bitale
