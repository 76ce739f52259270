// The second run of a failed call.
#include "link/explain_failure.hpp"

#include <vector>

#include "bitale/core/error.hpp"
#include "graph/evaluate.hpp"
#include "graph/replay.hpp"
#include "ops/own_error.hpp"

namespace bitale::link {

namespace {

void rerun_node(const LinkedGraph& graph, const Apply& node, std::span<const View> inputs) {
  const Replay replay;
  if (!graph->contains(node)) {  // it belongs to an expression of lengths, created by the lowering
    ArrayReceiver unused(0);
    return link_vm(graph)->run(inputs, unused);
  }
  std::vector<Array> values;
  for (std::size_t i = 0; i < inputs.size(); ++i) values.push_back(borrow_value(*graph->inputs()[i].type(), inputs[i]));
  evaluate(node.outputs(), graph->inputs(), values);
}

constexpr const char* not_reproduced =
    "running it again, op by op, does not fail: by rounding, or because its inputs have changed meanwhile; "
    "their values are not shown";

}  // namespace

void explain_failure(const LinkedGraph& graph, const FailedCheck& check, std::span<const View> inputs) {
  rerun_node(graph, check.node, inputs);
  try {
    if (auto* own = dynamic_cast<const OwnError*>(&check.node.op())) own->raise();
    throw ShapeError(check.message);
  } catch (Error& error) {
    add_node_context(error, check.node, {});
    error.add("note", not_reproduced);
    throw;
  }
}

}  // namespace bitale::link
