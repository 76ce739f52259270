// What `x == y` and `x != y` give for two variables: whether they are the same one. Python's containers ask for that
// with `==`, so it can't be elementwise. Only its truth value may be used: whoever computes with it means `pt.eq`.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace bitale::python {

struct IdentityTest {
  bool result;
  bool is_negated;  // of `!=`
};

// What to write in place of the comparison.
std::string elementwise_hint(const IdentityTest& test);
// TypeError when the object is not an operand because it is the result of a comparison or of Python's logic: an
// IdentityTest, or a Python bool.
void refuse_truth_value(nanobind::handle object);

}  // namespace bitale::python
