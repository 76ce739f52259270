#include "ops/shapes/shape.hpp"

#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/interval.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/sample_values.hpp"

namespace bitale {
namespace {

Variables no_tangent(const Apply& node) { return Variables(node.output_count(), disconnected()); }

std::vector<std::vector<bool>> unconnected(const Apply& node) { return connect_first(node, 0); }

Variables first_lengths(const Variable& x, int count) {
  Variables out;
  for (int axis = 0; axis < count; ++axis) out.push_back(length_of(x, axis));
  return out;
}

}  // namespace

// ---- Shape ----------------------------------------------------------------------------------------------------------

Apply ShapeOp::make_node(std::span<const Variable> inputs) const {
  require_inputs(*this, inputs, 1);
  return Apply(OpRef(this), {inputs[0]}, {tensor_type(DType::Int64, Dims{inputs[0].ndim()})});
}

std::vector<Shape> ShapeOp::infer_shape(const Apply& node, std::span<const Shape>) const {
  return {{int64_constant(node.input(0).ndim())}};
}

void ShapeOp::perform(const Apply&, std::span<const Array> in, std::span<Array> out) const {
  out[0] = Array::from(in[0].shape().data(), DType::Int64, Dims{in[0].ndim()});
}

bool ShapeOp::emit(Lowering& to, const Apply&) const {
  to.element(0, [&to](Index at) {
    const auto lengths = to.shape_in(0);
    Expr out = lengths.empty() ? to.pool().integer(0) : lengths.back();
    for (std::size_t k = lengths.size(); k-- > 1;) out = select(equal(at[0], double(k - 1)), lengths[k - 1], out);
    return out;
  });
  return true;
}

void ShapeOp::emit_tensors(TensorLowering& to, const Apply&) const {
  const Dims lengths = to.lengths_in(0);
  to.out_known(0, Array::from(lengths.data(), DType::Int64, {std::int64_t(lengths.size())}));
}

Variables ShapeOp::pullback(const Apply& node, std::span<const Variable>) const { return no_gradients(node); }
Variables ShapeOp::pushforward(const Apply& node, std::span<const Variable>) const { return no_tangent(node); }
std::vector<std::vector<bool>> ShapeOp::connection_pattern(const Apply& node) const { return unconnected(node); }

// The lengths of the core dimensions, which are the same for every batch.
Apply ShapeOp::vectorize(const Apply& node, std::span<const Variable> batched) const {
  const int gained = Batch{node, batched}.ndim(0);
  if (gained == 0) return make_node(batched);
  Variables core;
  for (int axis = gained; axis < batched[0].ndim(); ++axis) core.push_back(length_of(batched[0], axis));
  Variables shape = first_lengths(batched[0], gained);
  shape.push_back(int64_constant(std::int64_t(core.size())));
  return alloc(make_vector(core, DType::Int64), shape).owner();
}

// ---- Shape_i --------------------------------------------------------------------------------------------------------

Apply ShapeI::make_node(std::span<const Variable> inputs) const {
  require_inputs(*this, inputs, 1);
  if (i < 0 || i >= inputs[0].ndim())
    throw ValueError(cat("Shape_i: dimension ", i, " of ", inputs[0].str(), ", which has ", inputs[0].ndim()));
  return Apply(OpRef(this), {inputs[0]}, {tensor_type(DType::Int64, Dims{})});
}

std::vector<Shape> ShapeI::infer_shape(const Apply&, std::span<const Shape>) const { return {Shape{}}; }

void ShapeI::perform(const Apply&, std::span<const Array> in, std::span<Array> out) const {
  out[0] = Array(in[0].shape(i));
}

bool ShapeI::emit(Lowering& to, const Apply&) const {
  to.element(
      0, [this, &to](Index) { return to.shape_in(0)[std::size_t(i)]; }, 0);
  return true;
}

void ShapeI::emit_tensors(TensorLowering& to, const Apply&) const {
  to.out_known(0, Array(to.lengths_in(0)[std::size_t(i)]));
}

Variables ShapeI::pullback(const Apply& node, std::span<const Variable>) const { return no_gradients(node); }
Variables ShapeI::pushforward(const Apply& node, std::span<const Variable>) const { return no_tangent(node); }
std::vector<std::vector<bool>> ShapeI::connection_pattern(const Apply& node) const { return unconnected(node); }

Apply ShapeI::vectorize(const Apply& node, std::span<const Variable> batched) const {
  const int gained = Batch{node, batched}.ndim(0);
  if (gained == 0) return make_node(batched);
  return alloc(length_of(batched[0], i + gained), first_lengths(batched[0], gained)).owner();
}

// ---- public functions -----------------------------------------------------------------------------------------------

Variable shape(const Operand& x) {
  LocationScope here(x.where);
  const Dims& lengths = x.variable.static_shape();
  for (std::int64_t length : lengths)
    if (length == unknown_length) return (*make_ref<ShapeOp>())({x.variable});
  return constant(Array::from(lengths.data(), DType::Int64, Dims{x.ndim()}));
}

Variable shape_i(const Operand& x, int axis) {
  LocationScope here(x.where);
  return length_of(x.variable, normal_axis(axis, x.ndim(), "shape_i"));
}

Variable size(const Operand& x) {
  LocationScope here(x.where);
  std::int64_t known = 1;
  for (std::int64_t length : x.variable.static_shape()) {
    if (length == unknown_length) return prod(shape(x));
    known *= length;
  }
  return int64_constant(known);
}

namespace {

constexpr auto any = unknown_length;

Sample shape_sample(const OpRef& op, DType dtype, const Dims& type, const Dims& value) {
  auto x = sample_input(dtype, type);
  return {op->make_node({{x}}), {sample_values(dtype, value)}};
}

std::vector<Sample> shape_samples() {
  return {shape_sample(make_ref<ShapeOp>(), DType::Float64, {any, 3}, {2, 3}),
          shape_sample(make_ref<ShapeOp>(), DType::Int8, {any}, {0}),
          shape_sample(make_ref<ShapeOp>(), DType::Float64, {any, any, any, any}, {2, 1, 3, 2}),
          shape_sample(make_ref<ShapeOp>(), DType::Float64, {}, {})};
}

std::vector<Sample> shape_i_samples() {
  return {shape_sample(make_ref<ShapeI>(1), DType::Float64, {any, any}, {2, 3}),
          shape_sample(make_ref<ShapeI>(0), DType::Bool, {any}, {0})};
}

const RegisterOp register_shape("Shape", "The lengths of a tensor.", shape_samples, make_op<ShapeOp>);
const RegisterOp register_shape_i("Shape_i", "One length of a tensor.", shape_i_samples, make_op<ShapeI>);

}  // namespace

Range ShapeOp::range(const Apply&, int, InputRanges&) const { return interval::closed(0, interval::max_exact); }
Range ShapeI::range(const Apply&, int, InputRanges&) const { return interval::closed(0, interval::max_exact); }

}  // namespace bitale
