// Print: x, which is printed when it is computed.
#pragma once

#include "bitale/graph/op.hpp"

namespace bitale {

class Print final : public OpOf<Print> {
 public:
  Print(std::string message, std::string attrs, std::string function)
      : message(std::move(message)), attrs(std::move(attrs)), function(std::move(function)) {}

  std::string message;
  std::string attrs;     // the attributes of the value to print, separated by commas
  std::string function;  // the name of the user's function that prints; "" if there is none
  static constexpr auto fields =
      attribute_list(attribute("message", &Print::message), attribute("attrs", &Print::attrs),
                     attribute("function", &Print::function));

  std::string_view name() const override { return "Print"; }
  ComplexForm complex_form() const override { return ComplexForm::own; }
  std::string label() const override;
  Apply make_node(std::span<const Variable> inputs) const override;
  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape> inputs) const override;
  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override;
  bool emit(Lowering& to, const Apply& node) const override;
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override;
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override;
  bool has_pushforward() const override { return true; }
  Apply vectorize(const Apply& node, std::span<const Variable> batched) const override;
  std::vector<int> view_of(const Apply& node, int output) const override;
  bool may_fold(const Apply&) const override { return false; }  // each call prints
};

}  // namespace bitale
