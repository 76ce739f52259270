// Ops that pass their input on and only affect differentiation: for zero_grad the derivative is zero, for
// disconnected_grad there is no connection, for undefined_grad the derivative is undefined; grad_scale and grad_clip
// modify gradients on the way back.
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/gradient_control.hpp"
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "graph/dependencies.hpp"
#include "ops/sample_values.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

namespace {

class PassOn : public Op, public StatesDependencies, public EmitsTensors {
 public:
  ComplexForm complex_form() const override { return ComplexForm::by_parts; }
  Apply make_node(std::span<const Variable> inputs) const override {
    if (inputs.size() != 1) throw TypeError(cat(name(), ": expected 1 operand, got ", inputs.size()));
    return Apply(OpRef(this), {inputs[0]}, {inputs[0].type()});
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape> inputs) const override { return {inputs[0]}; }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override { out[0] = in[0]; }
  bool emit(Lowering& to, const Apply&) const override {
    to.element(0, [&to](Index at) { return to.in(0, at); });
    return true;
  }
  void emit_tensors(TensorLowering& to, const Apply&) const override { to.out(0, to.in(0)); }
  bool has_pushforward() const override { return true; }
  Apply vectorize(const Apply&, std::span<const Variable> batched) const override { return make_node(batched); }
  std::vector<int> view_of(const Apply&, int) const override { return {0}; }
  std::optional<Array> dependencies(const Apply&, int, InputDependencies& inputs) const override {
    return inputs.of(0);
  }
};

class ZeroGrad final : public PassOn {
 public:
  std::string_view name() const override { return "ZeroGrad"; }
  Variables pullback(const Apply& node, std::span<const Variable>) const override {
    return {zeros_like(node.input(0))};
  }
  Variables pushforward(const Apply& node, std::span<const Variable>) const override {
    return {zeros_like(node.input(0))};
  }
  std::vector<std::vector<bool>> connection_pattern(const Apply&) const override { return {{true}}; }
};

class DisconnectedGrad final : public PassOn {
 public:
  std::string_view name() const override { return "DisconnectedGrad"; }
  Variables pullback(const Apply&, std::span<const Variable>) const override { return {disconnected()}; }
  Variables pushforward(const Apply&, std::span<const Variable>) const override { return {disconnected()}; }
  std::vector<std::vector<bool>> connection_pattern(const Apply&) const override { return {{false}}; }
};

class UndefinedGrad final : public PassOn {
 public:
  std::string_view name() const override { return "UndefinedGrad"; }
  Variables pullback(const Apply& node, std::span<const Variable>) const override { return undefined(node); }
  Variables pushforward(const Apply& node, std::span<const Variable>) const override { return undefined(node); }
  std::vector<std::vector<bool>> connection_pattern(const Apply&) const override { return {{true}}; }

 private:
  static Variables undefined(const Apply& node) {
    return {undefined_gradient(cat("the gradient of `", node.input(0).str(), "` has been declared undefined"))};
  }
};

bool has_gradient(const Apply& node) { return !is_discrete(node.output().dtype()); }

class GradScale final : public PassOn {
 public:
  explicit GradScale(double multiplier) : multiplier(multiplier) {}

  double multiplier;
  static constexpr auto fields = attribute_list(attribute("multiplier", &GradScale::multiplier));

  std::string_view name() const override { return "GradScale"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }
  Variables pullback(const Apply& node, std::span<const Variable> g) const override { return scaled(node, g[0]); }
  Variables pushforward(const Apply& node, std::span<const Variable> t) const override { return scaled(node, t[0]); }
  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override { return {{has_gradient(node)}}; }

 private:
  Variables scaled(const Apply& node, const Variable& g) const {
    if (g.is_disconnected() || !has_gradient(node)) return {disconnected()};
    return {mul(g, cast(Operand(multiplier), g.dtype()))};
  }
};

class GradClip final : public PassOn {
 public:
  GradClip(double lower, double upper) : lower(lower), upper(upper) {}

  double lower, upper;
  static constexpr auto fields =
      attribute_list(attribute("lower", &GradClip::lower), attribute("upper", &GradClip::upper));

  std::string_view name() const override { return "GradClip"; }
  ComplexForm complex_form() const override { return ComplexForm::none; }  // complex numbers have no order
  bool has_linear_pullback() const override { return false; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }
  Variables pullback(const Apply& node, std::span<const Variable> g) const override {
    if (g[0].is_disconnected() || !has_gradient(node)) return {disconnected()};
    return {clip(g[0], cast(Operand(lower), g[0].dtype()), cast(Operand(upper), g[0].dtype()))};
  }
  // The modification of cotangents is not linear, so it has no counterpart for tangents: they are passed on unchanged.
  Variables pushforward(const Apply& node, std::span<const Variable> t) const override {
    return {has_gradient(node) ? t[0] : disconnected()};
  }
  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override { return {{has_gradient(node)}}; }
};

template <class Which, auto... arguments>
std::vector<Sample> view_ops_samples() {
  const Variable x[] = {sample_input(DType::Float64, {unknown_length, 3}, "x")};
  return {{make_ref<Which>(arguments...)->make_node(x), {sample_values(DType::Float64, {2, 3})}, 1e-6, false}};
}

BITALE_REGISTER_OP(ZeroGrad, "Its input, with gradient zero.", view_ops_samples<ZeroGrad>);
BITALE_REGISTER_OP(UndefinedGrad, "Its input, whose gradient is declared undefined.", view_ops_samples<UndefinedGrad>);
BITALE_REGISTER_OP(GradScale, "Its input, with gradients multiplied by a number.", (view_ops_samples<GradScale, 0.5>));
BITALE_REGISTER_OP(GradClip, "Its input, with gradients brought between two bounds.",
                   (view_ops_samples<GradClip, -0.5, 1.0>));
BITALE_REGISTER_OP(DisconnectedGrad, "Its input, without connection to the gradient.",
                   view_ops_samples<DisconnectedGrad>);

}  // namespace

Variable zero_grad(const Operand& x) {
  static const OpRef op = make_ref<ZeroGrad>();
  const LocationScope here(x.where);
  return (*op)({x.variable});
}

Variable disconnected_grad(const Operand& x) {
  static const OpRef op = make_ref<DisconnectedGrad>();
  const LocationScope here(x.where);
  return (*op)({x.variable});
}

Variable undefined_grad(const Operand& x) {
  static const OpRef op = make_ref<UndefinedGrad>();
  const LocationScope here(x.where);
  return (*op)({x.variable});
}

Variable grad_scale(const Operand& x, double multiplier) {
  const LocationScope here(x.where);
  return (*make_ref<GradScale>(multiplier))({x.variable});
}

Variable grad_clip(const Operand& x, double lower, double upper) {
  const LocationScope here(x.where);
  if (!(lower <= upper))
    throw ValueError(cat("grad_clip: expected a lower bound up to the upper one, got ", lower, " and ", upper));
  return (*make_ref<GradClip>(lower, upper))({x.variable});
}

}  // namespace bitale
