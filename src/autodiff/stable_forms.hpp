// The interface through which rewriting provides numerically stable formulas to differentiation. A stable form of a
// variable is another expression of the same value whose derivative stays accurate where that of the original formula
// overflows or cancels: logsumexp(x) for log(sum(exp(x))). Differentiation takes the derivative of the form; the
// variable itself is unchanged. autodiff knows no rules: rewriting, a layer above it, registers the function that finds
// the forms.
#pragma once

#include <span>
#include <vector>

#include "bitale/graph/op.hpp"
#include "bitale/graph/variable.hpp"

namespace bitale {

struct StableForm {
  Variable variable, form;
};

// The graph to be differentiated. The forms are expressions over variables of that graph; no form contains a variable
// that has the form itself, and none looks behind a border.
struct StabilizationGraph {
  std::span<const Apply> nodes;     // everything that the outputs need, inputs first
  std::span<const char> is_passed;  // for each node, whether derivatives pass through it
  Variables outputs;                // where differentiation starts
  Variables borders;                // the variables with respect to which derivatives are taken
};
using FindStableForms = std::vector<StableForm> (*)(const StabilizationGraph&);

struct RegisterStableForms {
  explicit RegisterStableForms(FindStableForms find);
};
// No forms if no function is registered.
std::vector<StableForm> find_stable_forms(const StabilizationGraph& graph);

}  // namespace bitale
