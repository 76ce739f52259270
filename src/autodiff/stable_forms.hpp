// The joint by which rewriting tells differentiation of numerically stable formulas. A stable form of a variable is
// another expression of the same value whose derivative keeps its digits where that of the formula as written
// overflows or cancels: logsumexp(x) of log(sum(exp(x))). Differentiation takes the derivative of the form instead;
// the variable itself stays what it is. autodiff knows no rules: rewriting, a part above it, registers who finds the
// forms.
#pragma once

#include <span>
#include <vector>

#include "bitale/graph/op.hpp"
#include "bitale/graph/variable.hpp"

namespace bitale {

struct StableForm {
  Variable variable, form;
};

// What is to be differentiated. The forms refer to variables of that graph; none is in terms of a variable that has
// the form itself, and none looks behind a border.
struct ToStabilize {
  std::span<const Apply> nodes;     // all that the outputs need, inputs first
  std::span<const char> is_passed;  // per node: whether derivatives pass through it
  Variables outputs;                // from which derivatives start
  Variables borders;                // variables in terms of which derivatives are wanted
};
using FindStableForms = std::vector<StableForm> (*)(const ToStabilize&);

struct RegisterStableForms {
  explicit RegisterStableForms(FindStableForms find);
};
// None when nobody has registered.
std::vector<StableForm> find_stable_forms(const ToStabilize& graph);

}  // namespace bitale
