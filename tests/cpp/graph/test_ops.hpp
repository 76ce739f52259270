// Small ops for tests of graphs, independent of the real ops.
#pragma once

#include "bitale/core/error.hpp"
#include "bitale/graph/traversal.hpp"

namespace bitale::testing {

// Adds float64 tensors of one shape, times `scale`. `kind` distinguishes ops.
class Sum final : public OpOf<Sum> {
 public:
  explicit Sum(std::string kind, double scale = 1) : kind(std::move(kind)), scale(scale) {}
  std::string kind;
  double scale;
  static constexpr auto fields = attribute_list(attribute("kind", &Sum::kind), attribute("scale", &Sum::scale));

  std::string_view name() const override { return "Sum"; }
  Apply make_node(std::span<const Variable> inputs) const override {
    return Apply(OpRef(this), Variables(inputs.begin(), inputs.end()), {inputs[0].type()});
  }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    if (kind == "fail") throw ValueError("it fails");
    out[0] = Array::zeros(DType::Float64, in[0].shape());
    for (auto& x : in) {
      if (!(x.shape() == in[0].shape())) throw ShapeError("lengths differ");
      for (std::int64_t i = 0; i < x.size(); ++i) out[0].mutable_data_as<double>()[i] += scale * x.data_as<double>()[i];
    }
  }
};

// Two outputs: the input, and the input negated.
class Split final : public Op {
 public:
  std::string_view name() const override { return "Split"; }
  Apply make_node(std::span<const Variable> inputs) const override {
    return Apply(OpRef(this), {inputs[0]}, {inputs[0].type(), inputs[0].type()});
  }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    out[0] = in[0];
    out[1] = in[0].copy();
    for (std::int64_t i = 0; i < in[0].size(); ++i) out[1].mutable_data_as<double>()[i] *= -1;
  }
};

inline Variable node(std::string kind, Variables inputs, double scale = 1) {
  return (*make_ref<Sum>(std::move(kind), scale))(inputs);
}
inline Variable f(const Variable& x) { return node("f", {x}); }
inline Variable g(const Variable& x) { return node("g", {x}); }
inline Variable h(const Variable& x, const Variable& y) { return node("h", {x, y}); }
inline Variables split(const Variable& x) { return make_ref<Split>()->make_node({&x, 1}).outputs(); }
inline Variable leaf(std::string name = {}, Dims shape = {unknown_length}) {
  return Variable(tensor_type(DType::Float64, shape), std::move(name));
}
inline Variable chain(Variable x, int length) {
  OpRef op = make_ref<Sum>("f");
  for (int i = 0; i < length; ++i) x = (*op)({x});
  return x;
}

}  // namespace bitale::testing
