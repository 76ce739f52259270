// The node that an error of a running graph is about, as a value that programs can query.
#pragma once

#include <string>

#include "bitale/core/error.hpp"
#include "bitale/graph/variable.hpp"

namespace bitale {

class FailingNode final : public ErrorSubject {
 public:
  explicit FailingNode(Apply given_node) : node(std::move(given_node)) {}
  const Apply node;
};

// Null when the error is about no node. The node belongs to the graph that ran, after rewriting.
inline const Apply* failing_node(const Error& error) {
  auto* found = dynamic_cast<const FailingNode*>(error.subject());
  return found ? &found->node : nullptr;
}

// For an exception that is being handled, of a class that is neither Bitale's nor the standard library's: the context
// lines that an Error would have (which node, its inputs, where it was built, which step of a loop). Empty for all
// others.
std::string failure_context();

}  // namespace bitale
