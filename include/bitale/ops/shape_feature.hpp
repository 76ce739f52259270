// ShapeFeature: the lengths of every variable of a FunctionGraph as expressions of its inputs' lengths, computed on
// request and memoized until a change invalidates them. After PyTensor's pytensor.tensor.rewriting.shape.ShapeFeature.
#pragma once

#include <optional>
#include <unordered_map>

#include "bitale/graph/function_graph.hpp"

namespace bitale {

class ShapeFeature final : public Feature {
 public:
  std::string name() const override { return "shape feature"; }
  // One int64 scalar per dimension: a constant where the length is known, else an expression that reads as little as
  // Op::infer_shape needs. ValueError for a variable that is not in the graph, TypeError for one that is not a tensor.
  Variables shape_of(const FunctionGraph& graph, const Variable& v);
  // The length of one dimension, which may be counted from the end; IndexError.
  Variable get_shape(const FunctionGraph& graph, const Variable& v, int axis);
  // Whether the lengths are certainly equal, as constants or as expressions; only those of one dimension each, if they
  // are given.
  bool same_shape(const FunctionGraph& graph, const Variable& x, const Variable& y, std::optional<int> axis_x = {},
                  std::optional<int> axis_y = {});

  void on_detach(FunctionGraph& graph) override;
  void on_prune(FunctionGraph& graph, const Apply& node, std::string_view reason) override;
  void on_change_input(FunctionGraph& graph, const Client& client, const Variable& before, const Variable& after,
                       std::string_view reason) override;

 private:
  Variables lengths(const Variable& v) const;
  void infer(const Variable& v);
  void infer_node(ApplyNode* node);
  std::unordered_map<const VariableNode*, Variables> known_;  // of the outputs of nodes
};

}  // namespace bitale
