// Ops that pass their input on and only speak to differentiation: zero_grad says the derivative is zero,
// disconnected_grad that there is no connection.
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/lowering.hpp"
#include "ops/registry.hpp"
#include "ops/sample_values.hpp"

namespace bitale {

namespace {

class PassOn : public Op {
 public:
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
  bool has_pushforward() const override { return true; }
  Apply vectorize(const Apply&, std::span<const Variable> batched) const override { return make_node(batched); }
  std::vector<int> view_of(const Apply&, int) const override { return {0}; }
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

template <class Which>
std::vector<Sample> view_ops_samples() {
  const Variable x[] = {sample_input(DType::Float64, {unknown_length, 3}, "x")};
  return {{make_ref<Which>()->make_node(x), {sample_values(DType::Float64, {2, 3})}, 1e-6, false}};
}

REGISTER_OP(ZeroGrad, "Its input, with gradient zero.", view_ops_samples<ZeroGrad>);
REGISTER_OP(DisconnectedGrad, "Its input, without connection to the gradient.", view_ops_samples<DisconnectedGrad>);

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

}  // namespace bitale
