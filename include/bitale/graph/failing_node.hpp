// The node that an error of a running graph is about, for programs.
#pragma once

#include "bitale/core/error.hpp"
#include "bitale/graph/variable.hpp"

namespace bitale {

class FailingNode final : public ErrorSubject {
 public:
  explicit FailingNode(Apply node) : node(std::move(node)) {}
  const Apply node;
};

// Null when the error is about no node. The node is of the graph that ran, after rewriting.
inline const Apply* failing_node(const Error& error) {
  auto* found = dynamic_cast<const FailingNode*>(error.subject());
  return found ? &found->node : nullptr;
}

}  // namespace bitale
