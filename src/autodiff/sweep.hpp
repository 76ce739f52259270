// The two sweeps of differentiation over a graph. Reverse: from gradients of outputs to gradients of what they depend
// on. Forward: from tangents of inputs to tangents of what depends on them. Both keep apart what is disconnected (no
// differentiable path), zero (a path through integers), and undefined (an op said so, with the reason). Where a
// variable has a stable form (stable_forms.hpp), derivatives pass through that instead of the node that computes the
// variable.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "autodiff/order.hpp"
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
  // The walk does not look behind `blockers`, and what has a stable form is differentiated by that.
  ReverseSweep(std::span<const Seed> seeds, const Variables& wrt, const Variables& blockers,
               std::span<const StableForm> forms = {});
  const DifferentiationOrder& order() const { return order_; }
  // Per step of the order: whether it depends on wrt.
  std::span<const char> is_stepped() const { return is_stepped_; }
  void run();
  // After run(): a tensor, disconnected(), or undefined_gradient(why).
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
  void mark_reached(const Variables& wrt);
  bool mark_node(const Apply& node);
  bool mark_form(const StableForm& form);
  bool is_reached(std::uint32_t place) const { return place != nowhere && slots_[place].reached; }
  void step(const Step& at);
  void pass_to_form(const StableForm& at, Slot& from, Slot& to);
  void add_term(const Apply& node, std::size_t input, Slot& slot, const Variable& term);
  Variable total(Slot& slot, const Variable& v);

  PointerMap<std::uint32_t> positions_;
  std::vector<Slot> slots_;
  PointerSet blocked_;
  const DifferentiationOrder order_;
  std::vector<std::uint32_t> places_;  // of the inputs and outputs of steps that are reached, one after the other
  std::vector<char> is_stepped_;       // per step of the order
  std::vector<char> patterns_;         // of the nodes among those: per input, per output
};

// Gradients of wrt, each as ReverseSweep gives it, by way of stable forms.
Variables reverse_sweep(std::span<const Seed> seeds, const Variables& wrt, const Variables& blockers);

// Tangents of the outputs, by way of stable forms: a tensor, disconnected() or undefined_gradient(why) each.
Variables forward_sweep(std::span<const Variable> outputs, std::span<const Seed> tangents, const Variables& blockers);

}  // namespace bitale
