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
    bool reached = false;    // depends on wrt
    bool connected = false;  // without terms: zero
    bool fixed = false;
  };
  // Where the slots of a node's inputs and outputs are, and which inputs reach which outputs. Variables are looked up
  // once; the sweep itself goes by these numbers.
  struct Step {
    const Apply& node;
    std::span<const std::uint32_t> inputs, outputs;
    std::span<const char> pattern;  // per input, per output
  };
  static constexpr std::uint32_t nowhere = ~0u;

  std::uint32_t slot(const VariableNode* v);
  std::uint32_t known_slot(const VariableNode* v) const;
  void plant(const Seed& seed);
  void mark_reached(const std::vector<Apply>& order, const Variables& wrt);
  bool is_reached(std::uint32_t place) const { return place != nowhere && slots_[place].reached; }
  void sweep(const std::vector<Apply>& order);
  void step(const Step& at);
  void add_term(const Apply& node, std::size_t input, Slot& slot, const Variable& term);
  Variable total(Slot& slot, const Variable& v);

  PointerMap<std::uint32_t> positions_;
  std::vector<Slot> slots_;
  PointerSet blocked_;
  std::vector<std::uint32_t> places_;  // of the inputs and outputs of nodes that are reached, node after node
  std::vector<char> is_stepped_;       // per node of the order
  std::vector<char> patterns_;         // of those nodes: per input, per output
};

// Tangents of the outputs: a tensor, disconnected() or undefined_gradient(why) each.
Variables forward_sweep(std::span<const Variable> outputs, std::span<const Seed> tangents, const Variables& blockers);

}  // namespace bitale
