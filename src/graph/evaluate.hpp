// Evaluation of a graph by the reference implementations of its ops: for constant folding, gradient checks and tests.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bitale/core/error.hpp"
#include "bitale/graph/op.hpp"

namespace bitale {

// The values of the outputs, given values of the inputs (already of the inputs' types). Values are freed when no node
// needs them any more. MissingInputError when the outputs need another leaf.
std::vector<Array> evaluate(std::span<const Variable> outputs, std::span<const Variable> inputs = {},
                            std::span<const Array> values = {});
Array evaluate(const Variable& output, std::span<const Variable> inputs = {}, std::span<const Array> values = {});

// Runs the op's `perform`; of a node on complex values whose op does the same with both parts, twice, on parts.
void perform_node(const Apply& node, std::span<const Array> in, std::span<Array> out);

// Runs one node and checks that the outputs have the dtypes and ranks of its types (InternalError).
// Errors carry the node's context.
void evaluate_node(const Apply& node, std::span<const Array> in, std::span<Array> out);

// Gives an op that destroys inputs copies of its own.
void copy_destroyed(const Apply& node, std::span<Array> in);

// ---- what errors say (node_error.cpp) ----

// Adds lines that say which node failed, on inputs of which shapes, strides and values (none: the values are not
// known), and where it was built; from exception_verbosity=medium on, its tree. The error is about the node from then
// on.
void add_node_context(Error& error, const Apply& node, std::span<const Array> in);
// With exception_verbosity=high, adds what was held in memory, the largest first.
struct StoredValue {
  const VariableNode* variable;
  const Array* value;
};
void add_storage(Error& error, std::vector<StoredValue> stored);
// An exception of another kind, being handled now. Whoever knows its kind notes the lines, and the node if there is
// one, on it and says so. One of the standard library's own classes is thrown anew, as that class, with the lines under
// its message; other classes pass as they are, as nobody else can make such an object, and failure_context() has the
// lines.
using Describer = bool (*)(const Apply* node, const std::string& lines);
void set_foreign_error_describer(Describer describer);
void describe_foreign_error(const Apply& node, std::span<const Array> in);
void add_to_foreign_error(const std::string& label, const std::string& text);

// What f returns; an exception from it gets a line with what text() says.
template <class Text, class F>
auto with_error_line(const char* label, Text text, F&& f) {
  try {
    return f();
  } catch (Error& error) {
    error.add(label, text());
    throw;
  } catch (...) {
    add_to_foreign_error(label, text());
    throw;
  }
}
// What f returns; what it throws names the node.
template <class F>
auto with_node_context(const Apply& node, F&& f) {
  try {
    return f();
  } catch (Error& error) {
    add_node_context(error, node, {});
    throw;
  } catch (...) {
    describe_foreign_error(node, {});
    throw;
  }
}

}  // namespace bitale
