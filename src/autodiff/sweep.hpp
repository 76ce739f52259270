// The two sweeps of differentiation over a graph. Reverse: from gradients of outputs to gradients of what they depend
// on. Forward: from tangents of inputs to tangents of what depends on them. Both keep apart what is disconnected (no
// differentiable path), zero (a path through integers), and undefined (an op said so, with the reason).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bitale/graph/traversal.hpp"
#include "graph/pointer_map.hpp"

namespace bitale {

// The dtype of gradients of a variable: its own, or floatX for integers.
DType gradient_dtype(const Variable& v);
// `value` as a gradient or tangent of `v`: same rank (TypeError), converted to the gradient's dtype.
Variable as_gradient_of(const Variable& v, const Variable& value, std::string_view what);
Variable zero_gradient(const Variable& v);

struct Seed {
  Variable variable, gradient;
  bool fixed = false;  // stands in place of anything else; otherwise it is added
};

class ReverseSweep {
 public:
  // The walk does not look behind `blockers`.
  ReverseSweep(std::span<const Seed> seeds, const Variables& wrt, const Variables& blockers);
  // A tensor, disconnected(), or undefined_gradient(why).
  Variable gradient(const Variable& v);

 private:
  struct Slot {
    Variables terms;
    Variable total, null;
    bool connected = false;  // without terms: zero
    bool fixed = false;
  };
  Slot* find(const VariableNode* v);
  Slot& slot(const VariableNode* v);
  void plant(const Seed& seed);
  void mark_reached(const std::vector<Apply>& order, const Variables& wrt);
  void step(const Apply& node);
  void add_term(const Apply& node, std::size_t input, const Variable& term);

  PointerMap<std::size_t> positions_;
  std::vector<Slot> slots_;
  PointerSet reached_;  // variables that depend on wrt
  PointerSet blocked_;
};

// Tangents of the outputs: a tensor, disconnected() or undefined_gradient(why) each.
Variables forward_sweep(std::span<const Variable> outputs, std::span<const Seed> tangents, const Variables& blockers);

}  // namespace bitale
