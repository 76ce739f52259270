// What an op is, besides an Op, that is a formula over other ops: the pass `expand` puts the formula in its place
// before anything else is done, so that it is simplified and fused like all else. An op written in Python with `emit`
// is one.
#pragma once

#include <optional>

#include "bitale/graph/op.hpp"

namespace bitale {

class Expansion {
 public:
  virtual ~Expansion() = default;
  // One variable per output, each of the output's type or a sub-type. Nothing: this node stays as it is.
  virtual std::optional<Variables> expansion(const Apply& node) const = 0;
};

}  // namespace bitale
