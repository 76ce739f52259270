// The order in which derivatives pass through a graph: its nodes in topological order, and between them the variables
// that are differentiated by a stable form.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "autodiff/stable_forms.hpp"
#include "graph/pointer_map.hpp"

namespace bitale {

class DifferentiationOrder {
 public:
  // One step: a node, or the form of a variable (then the node is null).
  struct Step {
    Apply node;
    const StableForm* form = nullptr;
  };

  // Everything that the starts need, inputs first. The walk stops at `blockers`; at a variable with a form it continues
  // with what the form needs.
  DifferentiationOrder(std::span<const Variable> starts, const PointerSet& blockers, std::span<const StableForm> forms);
  const std::vector<Step>& steps() const { return steps_; }
  std::vector<Apply> nodes() const;
  bool has_form(const VariableNode* v) const { return forms_.size() && forms_.contains(v); }

 private:
  PointerMap<const StableForm*> forms_;
  std::vector<Step> steps_;
};

}  // namespace bitale
