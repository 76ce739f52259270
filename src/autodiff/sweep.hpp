// The two sweeps of differentiation over a graph. Reverse: from gradients of outputs to gradients of their
// dependencies. Forward: from tangents of inputs to tangents of everything that depends on them. Both distinguish
// disconnected (no differentiable path), zero (a path through integers), and undefined (declared by an op, with the
// reason). If a variable has a stable form (stable_forms.hpp), derivatives pass through the form instead of the node
// that computes the variable.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "autodiff/duplicates.hpp"
#include "autodiff/order.hpp"
#include "bitale/graph/traversal.hpp"
#include "graph/pointer_map.hpp"

namespace bitale {

// The dtype of gradients of a variable: its own, or floatX for integers.
DType gradient_dtype(const Variable& v);
// `value` as a gradient or tangent of `v`, converted to the gradient's dtype, with the static lengths of `v`, which are
// checked in calls where they are not known. TypeError for another rank, ShapeError for other static lengths.
Variable as_gradient_of(const Variable& v, const Variable& value, std::string_view what);
Variable zero_gradient(const Variable& v);
// TypeError under the name of the function if it can't be differentiated as a cost: a real scalar of a float dtype.
void require_cost(const Variable& cost, std::string_view what);

struct Seed {
  Variable variable, gradient;
  bool fixed = false;  // replaces all other contributions; otherwise it is added
};

class ReverseSweep {
 public:
  // The walk stops at `blockers`.
  ReverseSweep(std::span<const Seed> seeds, const Variables& wrt, const Variables& blockers);
  // The same with forms: a variable that has one is differentiated by it.
  ReverseSweep(const ReverseSweep& plain, std::span<const Seed> seeds, const Variables& wrt,
               std::span<const StableForm> forms);
  const DifferentiationOrder& order() const { return order_; }
  // For each step of the order, not 0 if it depends on wrt.
  std::span<const char> is_stepped() const { return is_stepped_; }
  void run();
  // After run(): a tensor, disconnected(), or undefined_gradient(why).
  Variable gradient(const Variable& v);

 private:
  struct Slot {
    Variables terms;
    Variable total, null;
    bool reached = false;    // depends on wrt
    bool connected = false;  // zero if there are no terms
    bool fixed = false;
  };
  // The slots of a node's inputs and outputs, and which inputs affect which outputs. Variables are looked up once; the
  // sweep itself uses these indices.
  struct Step {
    const Apply& node;
    std::span<const std::uint32_t> inputs, outputs;
    std::span<const char> pattern;  // per input, per output
  };
  static constexpr std::uint32_t nowhere = ~0u;
  // What is done at a step; the last: an earlier node that computes the same passes on what this one receives.
  enum : char { not_stepped, stepped, taken_over };

  std::uint32_t slot(const VariableNode* v);
  std::uint32_t known_slot(const VariableNode* v) const;
  void plant(const Seed& seed);
  void mark_reached(const Variables& wrt);
  char mark_node(const Apply& node, Duplicates& duplicates);
  const ApplyNode* earlier(const Apply& node, Duplicates& duplicates) const;
  char mark_form(const StableForm& form);
  bool is_reached(std::uint32_t slot) const { return slot != nowhere && slots_[slot].reached; }
  void step(const Step& at);
  void pass_to_form(const StableForm& at, Slot& from, Slot& to);
  void add_term(const Apply& node, std::size_t input, Slot& slot, const Variable& term);
  Variable total(Slot& slot, const Variable& v);

  PointerMap<std::uint32_t> positions_;
  std::vector<Slot> slots_;
  PointerSet blocked_;
  const DifferentiationOrder order_;
  const PointerSet held_elsewhere_;        // nodes that may be named later
  std::vector<std::uint32_t> step_slots_;  // of the inputs and outputs of reached steps, consecutively
  std::vector<char> is_stepped_;           // per step of the order
  std::vector<char> patterns_;             // of the reached nodes: per input, per output
};

// Gradients of wrt by way of stable forms, each as ReverseSweep returns it.
Variables reverse_sweep(std::span<const Seed> seeds, const Variables& wrt, const Variables& blockers);

// Tangents of the outputs by way of stable forms, each a tensor, disconnected() or undefined_gradient(why).
Variables forward_sweep(std::span<const Variable> outputs, std::span<const Seed> tangents, const Variables& blockers);

}  // namespace bitale
