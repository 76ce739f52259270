// What DebugMode runs: all expressions that the graph ever contained, node by node. Each node that the graph contains
// now is checked, and in every step of a loop each node of an inner graph; expressions that rewriting treated as equal
// are compared; at the end the whole graph is run as it would be without DebugMode.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compile/differences.hpp"
#include "compile/equivalences.hpp"
#include "compile/node_check.hpp"
#include "link/linker.hpp"

namespace bitale {

class CheckedThunk final : public link::Thunk {
 public:
  // `outputs`: the graph's outputs, as the tracker's copies. `whole`: the thunks that run the whole graph at the end,
  // with the names of their linkers.
  struct Parts {
    std::shared_ptr<const FunctionGraph> graph;
    std::vector<Apply> nodes;  // copies of the graph's nodes
    Variables outputs;
    std::vector<Replacement> replacements;
    DebugChecks checks;
    std::vector<std::pair<std::string, std::unique_ptr<link::Thunk>>> whole;
  };
  explicit CheckedThunk(Parts parts);

  using Thunk::run;
  bool writes_last() const override { return false; }
  void run(std::span<const View> views, Receiver& receiver) const override;
  void free() const override;
  std::string note(const Apply& node) const override;
  std::string text(std::string_view stage) const override;

 private:
  // Two values that must agree, once both are known.
  struct Comparison {
    std::size_t before, after;
    const Replacement* replacement;
    Allowance allowance;
  };
  struct Step {
    Apply node;
    std::unique_ptr<NodeCheck> check;    // null: the graph no longer contains the node
    std::unique_ptr<link::Thunk> inner;  // checks the nodes of the op's inner graph; null: there is none
    std::vector<std::size_t> in, out, dead;
    std::vector<Comparison> comparisons;  // whose values are both known now
  };
  using Values = std::vector<std::optional<Array>>;
  using Failures = std::vector<std::exception_ptr>;  // why a value was not computed

  std::size_t slot_of(const Variable& variable);
  void plan_steps(const std::vector<Apply>& order);
  void plan_comparisons();
  void plan_releases();
  std::optional<std::size_t> missing_input(const Step& step, std::span<const Array> in, const Values& values) const;
  void run_step(const Step& step, Values& values, Failures& failures) const;
  static void check_inner_graph(const Step& step, std::span<const Array> in);
  void compare(const Comparison& comparison, const Values& values) const;
  void run_whole(std::span<const Array> inputs, const std::vector<Array>& outputs) const;

  const Parts parts_;
  std::vector<Step> steps_;
  std::vector<Comparison> first_comparisons_;  // of leaves
  std::unordered_map<const VariableNode*, std::size_t> slots_;
  std::vector<std::pair<std::size_t, Array>> constants_;
  std::vector<std::size_t> inputs_, outputs_;
  std::size_t slot_count_ = 0;
  bool is_lazy_ = false;  // some node needs fewer than all inputs: a failure counts only when its value is needed
};

}  // namespace bitale
