// PdbBreakpoint passes variables through; when a condition holds, they can be inspected and changed in a debugger.
#pragma once

#include "bitale/graph/op.hpp"

namespace bitale {

// Inputs: a 0-d condition, then the variables, which are also the outputs.
class PdbBreakpoint final : public OpOf<PdbBreakpoint> {
 public:
  explicit PdbBreakpoint(std::string title) : title(std::move(title)) {}

  std::string title;
  static constexpr auto fields = attribute_list(attribute("name", &PdbBreakpoint::title));

  std::string_view name() const override { return "PdbBreakpoint"; }
  Apply make_node(std::span<const Variable> inputs) const override;
  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape> inputs) const override;
  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override;
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override;
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override;
  bool has_pushforward() const override { return true; }
  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override;
  std::vector<int> view_of(const Apply& node, int output) const override;
  bool may_fold(const Apply&) const override { return false; }
};

}  // namespace bitale
