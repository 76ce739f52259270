// OpFromGraph: an op all of whose duties follow from a graph of other ops, except derivatives that are overridden.
#pragma once

#include <memory>
#include <string>

#include "bitale/graph/inner_graph.hpp"
#include "bitale/ops/op_from_graph.hpp"
#include "graph/expansion.hpp"
#include "graph/optional_outputs.hpp"
#include "graph/support.hpp"

namespace bitale {

class OpFromGraph final : public Op, public HasInnerGraph, public Expansion, public OptionalOutputs {
 public:
  OpFromGraph(InnerGraphRef graph, OpFromGraphOptions options);
  ~OpFromGraph() override;

  std::string_view name() const override { return "OpFromGraph"; }
  ComplexForm complex_form() const override { return ComplexForm::own; }
  PartsOfOutputs complex_parts(const Apply& node, std::span<const ComplexParts> inputs) const override;
  Attributes attributes() const override;
  std::string label() const override;
  std::string pprint_text(std::span<const std::string> inputs) const override;
  Apply make_node(std::span<const Variable> inputs) const override;
  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape> inputs) const override;
  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override;
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override;
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override;
  bool has_pushforward() const override { return options_.pushforward || !options_.pullback; }
  bool has_linear_pullback() const override { return !options_.pullback && have_linear_pullbacks(*graph_); }
  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override;
  Apply vectorize(const Apply& node, std::span<const Variable> batched) const override;
  bool may_fold(const Apply& node) const override;
  FewerOutputs without_unread(const Apply& node, const std::vector<bool>& read) const override;

  // The graph, if it is inlined.
  std::optional<Variables> expansion(const Apply& node) const override;
  const InnerGraphRef& inner_graph() const override { return graph_; }
  OpRef with_inner_graph(InnerGraphRef graph) const override;
  bool has_derivatives_of_graph() const override { return !options_.pullback && !options_.pushforward; }
  const OpFromGraphOptions& options() const { return options_; }

 private:
  struct Found;
  struct Derivative;
  std::vector<Type> types_for(const Variables& inputs) const;
  const Derivative& derivative(bool is_pullback, std::span<const Variable> given,
                               std::span<const Support> supports) const;
  Variables derived(bool is_pullback, const Apply& node, std::span<const Variable> given) const;
  Variables overridden(bool is_pullback, const Apply& node, std::span<const Variable> given) const;
  std::string called() const;

  const InnerGraphRef graph_;
  const OpFromGraphOptions options_;
  const std::unique_ptr<Found> found_;  // results about the graph, computed once
};

}  // namespace bitale
