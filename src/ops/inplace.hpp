// The interface of ops that can write their result over an input.
#pragma once

#include <span>

#include "bitale/graph/op.hpp"

namespace bitale {

class InplaceForms {
 public:
  virtual ~InplaceForms() = default;
  // The same operation, writing its result over one of the `allowed` inputs (its `destroys` returns which), or nullptr
  // if it has no such form.
  virtual OpRef inplace_on_inputs(const Apply& node, std::span<const int> allowed) const = 0;
};

// The in-place form of the node's op; nullptr if it has none.
inline OpRef inplace_form(const Apply& node, std::span<const int> allowed) {
  const auto* forms = dynamic_cast<const InplaceForms*>(&node.op());
  return forms ? forms->inplace_on_inputs(node, allowed) : OpRef();
}

}  // namespace bitale
