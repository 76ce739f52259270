// The node that an error of a running graph is about, for programs.
#pragma once

#include <string>

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

// Of an exception that is being handled, of a class that is not Bitale's and not the standard library's: the lines that
// an Error has (which node, its inputs, where it was built, which step of a loop). Empty for all others.
std::string failure_context();

}  // namespace bitale
