// Masks of supports (graph/support.hpp): how ops combine those of their inputs, and how a derivative is restricted to
// its support.
#pragma once

#include "graph/dependencies.hpp"
#include "graph/support.hpp"

namespace bitale {

// Where at least one of them may be nonzero.
Support united(const Support& a, const Support& b);
// Where the condition holds (or, with `holds` false, does not hold) and the tensor may be nonzero.
Support selected(const Variable& condition, bool holds, const Support& support);
// The support of the output of an op that moves or adds elements: the same op, applied to masks in place of the inputs
// `moved` (by position). Outside the mask no element is added, so the result is true where an element may be nonzero.
Support moved_support(const Apply& node, std::span<const Support> inputs, std::span<const int> moved,
                      bool costly = false);
// The support of a sum over axes: where some element may be nonzero. A mask of the elements at index tensors is reduced
// without being computed.
Support support_of_sum(const Support& support, const std::vector<int>& axes);
// Base of ops whose output consists of elements of the first input: views, gathers and repetitions.
class MovesElements : public StatesSupport, public StatesDependencies {
 public:
  std::vector<int> support_carriers(const Apply&, int) const override { return {0}; }
  Support support(const Apply& node, int output, std::span<const Support> inputs) const override;
  std::optional<Array> dependencies(const Apply& node, int output, InputDependencies& inputs) const override;
};
// The mask as a bool tensor of the shape of `like`.
Variable full_mask(const Support& support, const Variable& like);

// A derivative as a value that is restricted to its support.
struct RestrictedValue {
  Variable value;  // equal to the derivative on the support; whatever is convenient elsewhere
  Support support;
};
RestrictedValue restricted_value(const Variable& derivative);
// The value on the support, zero outside.
Variable restricted(const Variable& value, const Support& support);

// Whether an element of the operand may be infinite or undefined though all leaves are finite.
bool may_be_irregular(const Variable& operand);

}  // namespace bitale
