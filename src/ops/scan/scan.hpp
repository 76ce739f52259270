// Scan: a loop of steps over a closed inner graph, in one normal form. Inner inputs: an element of each sequence, the
// states, the constants. Inner outputs: the next states, the elements of the traces, and whether to stop, if there is
// an `until`. Node inputs: the number of steps, sequences with that many elements, initial states, constants. Node
// outputs: the final states, the traces (stacked along a new first axis), and with `until` the number of steps
// executed; elements of a trace beyond those are zero. Taps become slices of sequences, and states that shift by one
// step each.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "bitale/graph/inner_graph.hpp"
#include "bitale/graph/traversal.hpp"
#include "graph/dependencies.hpp"
#include "graph/optional_outputs.hpp"
#include "graph/pointer_map.hpp"
#include "graph/state_reader.hpp"
#include "graph/steps_made.hpp"
#include "ops/control/captures.hpp"
#include "ops/control/inner_graph_queries.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

struct ScanLayout {
  int sequences = 0, states = 0;
  bool has_until = false;
  std::int64_t truncate_gradient = -1;  // the number of last steps that the gradient covers; -1: all
  std::string name = {};                // for printing and errors
};

class ScanOp final : public Op,
                     public HasInnerGraph,
                     public StatesDependencies,
                     public EmitsTensors,
                     public RepeatsDraws,
                     public MakesSteps,
                     public OptionalOutputs {
 public:
  // ValueError for a graph that has fewer inputs and outputs than the layout requires; TypeError for a next state of
  // another dtype, rank or static length than the state, or an `until` that is not a scalar bool.
  ScanOp(InnerGraphRef graph, ScanLayout layout);
  ~ScanOp() override;

  std::string_view name() const override { return "Scan"; }
  ComplexForm complex_form() const override { return ComplexForm::own; }
  PartsOfOutputs complex_parts(const Apply& node, std::span<const ComplexParts> inputs) const override;
  Attributes attributes() const override;
  std::string label() const override;
  Apply make_node(std::span<const Variable> inputs) const override;
  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape> inputs) const override;
  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override;
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override;
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override;
  bool has_pushforward() const override { return true; }
  bool has_linear_pullback() const override { return have_linear_pullbacks(*graph_); }
  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override;
  Apply vectorize(const Apply& node, std::span<const Variable> batched) const override;
  std::optional<Array> dependencies(const Apply& node, int output, InputDependencies& inputs) const override;
  bool may_fold(const Apply& node) const override;
  bool emit(Lowering& to, const Apply& node) const override;
  void emit_tensors(TensorLowering& to, const Apply& node) const override;
  bool draws_the_same(const Apply& node, const Apply& other) const override;
  StepsMade steps_made(std::span<const Array> in, std::span<const Array> out) const override;
  FewerOutputs without_unread(const Apply& node, const std::vector<bool>& read) const override;

  const InnerGraphRef& inner_graph() const override { return graph_; }
  OpRef with_inner_graph(InnerGraphRef graph) const override;
  bool has_derivatives_of_graph() const override { return layout_.truncate_gradient < 0; }
  // Evaluates the inner graph once per step.
  void perform_by(const Apply& node, std::span<const Array> in, std::span<Array> out,
                  const Evaluate& evaluate) const override;

  const ScanLayout& layout() const { return layout_; }
  int trace_count() const { return int(graph_->outputs().size()) - layout_.states - int(layout_.has_until); }
  int constant_count() const { return int(graph_->inputs().size()) - layout_.sequences - layout_.states; }
  // Inner variables.
  const Variable& element(int sequence) const { return graph_->inputs()[std::size_t(sequence)]; }
  const Variable& state(int k) const { return graph_->inputs()[std::size_t(layout_.sequences + k)]; }
  const Variable& inner_constant(int k) const {
    return graph_->inputs()[std::size_t(layout_.sequences + layout_.states + k)];
  }
  const Variable& next(int state) const { return graph_->outputs()[std::size_t(state)]; }
  const Variable& traced(int trace) const { return graph_->outputs()[std::size_t(layout_.states + trace)]; }
  const Variable& until() const { return graph_->outputs().back(); }  // where there is one
  // Positions among the node's inputs and outputs.
  int sequence_input(int k) const { return 1 + k; }
  int initial_input(int k) const { return 1 + layout_.sequences + k; }
  int constant_input(int k) const { return 1 + layout_.sequences + layout_.states + k; }
  int trace_output(int k) const { return layout_.states + k; }
  std::string called() const;

 private:
  struct Found;
  const InnerLengths& lengths() const;
  void require_harmless_steps() const;
  std::vector<Array> step_on_zeros(std::span<const Array> in, std::vector<Array> given, const Evaluate& step) const;

  const InnerGraphRef graph_;
  const ScanLayout layout_;
  const std::unique_ptr<Found> found_;
};

// A loop by its parts: outer values, and the variables that represent them in one step.
struct ScanParts {
  Variable n_steps;
  Variables sequences, elements;    // elements[i] represents an element of sequences[i]
  Variables initial, states, next;  // states[k] represents a state, whose next value is next[k]
  Variables traced;                 // whose elements are traces
  Variable until = {};              // null: none
  Replacements constants = {};      // variables that stand for values of the surrounding graph
  std::int64_t truncate_gradient = -1;
  std::string name = {};
  Transposed transposed = Transposed::as_it_is;  // how constants of the loop are captured
  Variables named = {};                          // that always become constants
};
// The node. Loop-invariant values that depend on some variable are hoisted: they are computed outside the loop and
// become constants of it, as do other variables that the step uses (captured_by). Unused sequences, states and
// constants are kept.
Apply make_scan(const ScanParts& parts);

// Whether the number of steps of some loop within the graph depends on these variables.
bool has_loops_of_different_lengths(std::span<const Variable> outputs, const PointerSet& varying);

// The same values over the same leaves, with equal ones merged into one variable.
Variables merge_equal(const Variables& values);

}  // namespace bitale
