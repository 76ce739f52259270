// What an op that can write its result over an input is, besides an Op.
#pragma once

#include <span>

#include "bitale/graph/op.hpp"

namespace bitale {

class InplaceForms {
 public:
  virtual ~InplaceForms() = default;
  // The same operation writing its result over one of the `allowed` inputs (which one, its `destroys` says), or nullptr
  // when it has no such form.
  virtual OpRef inplace_on_inputs(const Apply& node, std::span<const int> allowed) const = 0;
};

// That of the node's op; nullptr for ops without such forms.
inline OpRef inplace_form(const Apply& node, std::span<const int> allowed) {
  const auto* forms = dynamic_cast<const InplaceForms*>(&node.op());
  return forms ? forms->inplace_on_inputs(node, allowed) : OpRef();
}

}  // namespace bitale
