// Tensors as sets of their elements. Names and arguments are NumPy's. Results but isin's are vectors of distinct
// elements in increasing order.
#pragma once

#include "bitale/ops/operand.hpp"

namespace bitale {

// For each element whether it is one of the others; with `invert`, whether it is not. nan equals no element.
struct IsinOptions {
  bool invert = false;  // whether it is not among them
};
Variable isin(const Operand& element, const Operand& test_elements, const IsinOptions& options = {});
// The elements of either tensor, of both, of the first only, and of exactly one of them.
Variable union1d(const Operand& a, const Operand& b);
Variable setdiff1d(const Operand& a, const Operand& b);
Variable setxor1d(const Operand& a, const Operand& b);
struct CommonElements {
  Variable values;
  Variable first_index, second_index;  // where each occurs first in the flattened tensors
};
CommonElements intersect1d(const Operand& a, const Operand& b);

}  // namespace bitale
