// Evaluation of a graph by the reference implementations of its ops: for constant folding, gradient checks and tests.
#pragma once

#include <exception>
#include <span>
#include <string>
#include <vector>

#include "bitale/core/error.hpp"
#include "bitale/graph/op.hpp"

namespace bitale {

// The values of the outputs for given values of the inputs (already of the inputs' types). Values are freed after their
// last use. MissingInputError if the outputs need another leaf.
std::vector<Array> evaluate(std::span<const Variable> outputs, std::span<const Variable> inputs = {},
                            std::span<const Array> values = {});
Array evaluate(const Variable& output, std::span<const Variable> inputs = {}, std::span<const Array> values = {});

// Runs the op's `perform`. For complex values and an op that treats both parts alike, it runs once for each part.
void perform_node(const Apply& node, std::span<const Array> in, std::span<Array> out);

// Runs one node and checks that the outputs have the dtypes and ranks of its types (InternalError).
// Errors carry the node's context.
void evaluate_node(const Apply& node, std::span<const Array> in, std::span<Array> out);

// Replaces the inputs that the op destroys by copies.
void copy_destroyed(const Apply& node, std::span<Array> in);

// ---- contents of errors (node_error.cpp) ----------------------------------------------------------------------------

// Adds lines with the node that failed, the shapes, strides and values of its inputs (none: the values are not known),
// and the location at which it was built; from exception_verbosity=medium on, also its tree. The node becomes the
// error's subject.
void add_node_context(Error& error, const Apply& node, std::span<const Array> in);
// With exception_verbosity=high, adds the values held in memory, largest first.
struct StoredValue {
  const VariableNode* variable;
  const Array* value;
};
void add_storage(Error& error, std::vector<StoredValue> stored);
// For an exception of a foreign class that is being handled. A Describer that knows the class attaches the lines, and
// the node if there is one, to the exception, and returns true. It is given the exception, since libraries that each
// contain a C++ runtime, as those of wheels, don't see which exception another one handles. Otherwise an exception of
// one of the standard library's own classes is rethrown as the same class, with the lines appended to its message.
// Other classes pass unchanged, since such an object cannot be recreated; failure_context() returns the lines.
using Describer = bool (*)(const std::exception_ptr& error, const Apply* node, const std::string& lines);
void set_foreign_error_describer(Describer describer);
void describe_foreign_error(const Apply& node, std::span<const Array> in);
void add_to_foreign_error(const std::string& label, const std::string& text);

// Returns f(); adds a line with text() to exceptions from it.
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
// Returns f(); adds the node's context to exceptions from it.
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
