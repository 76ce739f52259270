// Test values (Theano's): with the flag compute_test_value each node is computed, by its op's perform, as it is built,
// on values that the user notes on the inputs. An invalid expression then fails on the line that builds it, not when a
// compiled function runs. When off, this costs one check of a flag per node.
#pragma once

#include <optional>

#include "bitale/graph/variable.hpp"

namespace bitale {

// A constant's value, a shared variable's present one, the value noted on another leaf, or the computed value of an
// expression.
std::optional<Array> test_value(const Variable& variable);
// Notes a value on a variable. TypeError when it is not of the variable's type.
const Variable& set_test_value(const Variable& variable, const Array& value);

// Computes the outputs of a node from the test values of its inputs, and notes them. The flag determines what happens
// where an input has none: nothing, a warning, an AttributeError naming the input, or a breakpoint. Raises what perform
// raises, with the node.
void compute_test_values(const Apply& node);

// While an instance lives, nodes that this thread builds are not the user's, and are not evaluated on test values.
class TestValuesOff {
 public:
  TestValuesOff();
  ~TestValuesOff();
  TestValuesOff(const TestValuesOff&) = delete;
  TestValuesOff& operator=(const TestValuesOff&) = delete;
};

}  // namespace bitale
