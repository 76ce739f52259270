// InnerGraph: a graph as an attribute of an op. It is closed (its outputs depend on its inputs and constants alone),
// private and immutable, so that ops with equal inner graphs are equal and merge. Code that must process inner graphs
// (printing, storing, rewriting, linking) finds them by inner_graph_of.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "bitale/graph/attributes.hpp"
#include "bitale/graph/op.hpp"
#include "bitale/graph/variable.hpp"

namespace bitale {

class InnerGraph final : public Opaque {
 public:
  // The maximal nesting depth of inner graphs; code that processes nested graphs may therefore recurse.
  static constexpr int max_depth = 32;

  // A copy of the graph from `inputs` to `outputs`. An input may be any variable but a constant, computed and shared
  // ones included: it stands for an argument of its type. Inputs that no output depends on are allowed. `who` names the
  // graph in errors. TypeError for an input that is a constant; ValueError for a null variable, the same input twice,
  // no output, or graphs nested too deeply; MissingInputError for an output that depends on another variable.
  InnerGraph(std::span<const Variable> inputs, std::span<const Variable> outputs, std::string_view who = "InnerGraph");

  // The graph's own leaves, and the results that are computed from them.
  const Variables& inputs() const { return inputs_; }
  const Variables& outputs() const { return outputs_; }
  std::size_t node_count() const { return node_count_; }
  int depth() const { return depth_; }  // 1: no node has an inner graph

  // The outputs with variables of the inputs' types (or subtypes of them) in place of the inputs.
  Variables applied_to(std::span<const Variable> arguments) const;

  // Equal when the same ops are applied to the same inputs (by position), constants and types; names are ignored.
  bool equals(const Opaque& other) const override;
  std::size_t hash() const override { return hash_; }
  std::string text() const override;  // "graph(2 inputs, 5 nodes, 1 output)"

 private:
  Variables inputs_, outputs_;
  std::size_t node_count_ = 0, hash_ = 0;
  int depth_ = 1;
};
using InnerGraphRef = Ref<const InnerGraph>;

// Base class, besides Op, of ops that have an inner graph.
class HasInnerGraph {
 public:
  virtual ~HasInnerGraph() = default;
  virtual const InnerGraphRef& inner_graph() const = 0;
  // The op with another inner graph that computes the same, with inputs and outputs of the same types.
  virtual OpRef with_inner_graph(InnerGraphRef graph) const = 0;
  // Whether the op's derivatives are those of the graph, neither defined by a user nor cut off.
  virtual bool has_derivatives_of_graph() const = 0;
  // Does what the op's perform does, with `evaluate` in place of evaluating the inner graph: computes its outputs from
  // its inputs. Default: the op is its inner graph, evaluated once.
  using Evaluate = std::function<std::vector<Array>(std::span<const Array>)>;
  virtual void perform_by(const Apply& node, std::span<const Array> in, std::span<Array> out,
                          const Evaluate& evaluate) const;
};
// The op's inner graph; nullptr for an op that has none.
const InnerGraph* inner_graph_of(const Op& op);
// Whether the pullback of each node of the graph is known to be linear.
bool have_linear_pullbacks(const InnerGraph& graph);

}  // namespace bitale
