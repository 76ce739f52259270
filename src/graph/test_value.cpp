// A node is tested where it is built, in the user's thread and on the user's line.
#include "bitale/graph/test_value.hpp"

#include <vector>

#include "bitale/core/breakpoint.hpp"
#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/core/warning.hpp"
#include "bitale/graph/op.hpp"
#include "graph/evaluate.hpp"

namespace bitale {

namespace {

thread_local int switched_off = 0;

void report_missing(const Apply& node, const Variable& input) {
  const auto mode = config::test_values();
  if (mode == config::TestValues::ignore) return;
  AttributeError error(cat("`", input.str(), "` of type ", input.type()->str(), " has no test value"));
  if (const Location where = input.where()) error.add("built at", where.str_with_callers());
  error.add("for", node.op().label());
  error.add("hint", "note one (tag.test_value in Python, set_test_value in C++), or compute_test_value=ignore");
  if (mode == config::TestValues::warn) return warn(error.what());
  if (mode == config::TestValues::raise) throw error;
  break_here(error.what());
}

}  // namespace

TestValuesOff::TestValuesOff() { ++switched_off; }
TestValuesOff::~TestValuesOff() { --switched_off; }

std::optional<Array> test_value(const Variable& variable) {
  if (!variable.defined()) refuse_null_handle("Variable");
  const VariableNode& node = *variable.node();
  if (node.tag && node.tag->test_value) return node.tag->test_value;
  return node.leaf ? node.leaf->present_value() : std::nullopt;
}

const Variable& set_test_value(const Variable& variable, const Array& value) {
  variable.tag().test_value = variable.type()->filter(value).copy();
  return variable;
}

void compute_test_values(const Apply& node) {
  if (switched_off) return;
  const TestValuesOff meanwhile;
  std::vector<Array> in, out(node.output_count());
  for (auto& input : node.inputs()) {
    auto value = test_value(input);
    if (!value) return report_missing(node, input);
    in.push_back(*std::move(value));
  }
  copy_destroyed(node, in);
  evaluate_node(node, in, out);
  for (std::size_t k = 0; k < out.size(); ++k) node.output(int(k)).tag().test_value = std::move(out[k]);
}

}  // namespace bitale
