// Test values (Theano's): with the flag compute_test_value each node is computed, by its op's perform, as it is built,
// on values that the user notes on the inputs. What can't work then fails on the line that writes it, not when a
// compiled function runs. Off, it costs one look at a flag per node.
#pragma once

#include <optional>

#include "bitale/graph/variable.hpp"

namespace bitale {

// A constant's value, a shared variable's present one, what was noted on another leaf, or what an expression came to.
std::optional<Array> test_value(const Variable& variable);
// Notes a value on a variable. TypeError when it is not of the variable's type.
const Variable& set_test_value(const Variable& variable, const Array& value);

// Computes the outputs of a node from the test values of its inputs, and notes them. Where an input has none, the flag
// says what happens: nothing, a warning, an AttributeError naming the input, or a breakpoint. Raises what perform
// raises, with the node.
void compute_test_values(const Apply& node);

// While one lives, nodes that this thread builds are not the user's, and are not tried.
class TestValuesOff {
 public:
  TestValuesOff();
  ~TestValuesOff();
  TestValuesOff(const TestValuesOff&) = delete;
  TestValuesOff& operator=(const TestValuesOff&) = delete;
};

}  // namespace bitale
