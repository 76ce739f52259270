#include "ops/shapes/specify_shape.hpp"

#include <numeric>

#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/sample_values.hpp"
#include "ops/shapes/shape.hpp"

namespace bitale {
namespace {

// The length that is stated, by the names that the user has given.
std::string expected_text(const Variable& length) {
  if (const auto known = known_integer(length)) return cat("length ", *known);
  if (!length.name().empty()) return cat("length `", length.name(), "`");
  const auto* shape = dynamic_cast<const ShapeI*>(length.owner_op());
  if (!shape || length.owner().input(0).name().empty()) return "the length that is stated";
  return cat("the length of `", length.owner().input(0).name(), "` (dimension ", shape->i, ")");
}

}  // namespace

Structure SpecifyShape::structure(const Apply&, int, InputStructures& inputs) const { return inputs.of(0); }

Apply SpecifyShape::make_node(std::span<const Variable> inputs) const {
  require_inputs(*this, inputs, 1 + axes.size());
  const TensorType& x = inputs[0].tensor();
  Variables own{inputs[0]};
  Dims shape = x.shape;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const int axis = axes[k];
    if (axis < 0 || axis >= x.ndim())
      throw ValueError(cat("specify_shape: dimension ", axis, " of ", inputs[0].str(), ", which has ", x.ndim()));
    own.push_back(as_length(inputs[1 + k], "specify_shape"));
    auto known = known_integer(own.back());
    if (!known) continue;
    if (*known < 0) throw ValueError(cat("specify_shape: negative length ", *known, " of dimension ", axis));
    std::int64_t& length = shape[std::size_t(axis)];
    if (length != unknown_length && length != *known)
      throw ShapeError(
          cat("specify_shape: ", inputs[0].str(), " has length ", length, " in dimension ", axis, ", not ", *known));
    length = *known;
  }
  return Apply(OpRef(this), own, {tensor_type(x.dtype, shape)});
}

std::vector<Shape> SpecifyShape::infer_shape(const Apply& node, std::span<const Shape> inputs) const {
  Shape out = inputs[0];
  for (std::size_t k = 0; k < axes.size(); ++k) {
    Variable& length = out[std::size_t(axes[k])];
    if (!known_integer(length)) length = node.input(int(1 + k));
  }
  return {out};
}

void SpecifyShape::perform(const Apply&, std::span<const Array> in, std::span<Array> out) const {
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const std::int64_t expected = in[1 + k].int_item(), actual = in[0].shape(axes[k]);
    if (actual != expected)
      throw ShapeError(cat("specify_shape: expected length ", expected, " in dimension ", axes[k], ", got ", actual,
                           " (shape ", tuple_text(in[0].shape()), ")"));
  }
  out[0] = in[0];
}

bool SpecifyShape::emit(Lowering& to, const Apply& node) const {
  for (std::size_t k = 0; k < axes.size(); ++k)
    to.require(equal(to.shape_in(0)[std::size_t(axes[k])], to.in(int(1 + k))),
               cat("specify_shape: expected ", expected_text(node.input(int(1 + k))), " in dimension ", axes[k]));
  std::vector<int> order(std::size_t(node.output().ndim()));
  std::iota(order.begin(), order.end(), 0);
  to.permute(0, 0, order);
  return true;
}

void SpecifyShape::emit_tensors(TensorLowering& to, const Apply&) const {
  const Dims lengths = to.lengths_in(0);
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const std::int64_t expected = to.need_integer(int(1 + k), "the length that is stated");
    const std::int64_t actual = lengths[std::size_t(axes[k])];
    if (actual != expected)
      throw ShapeError(cat("specify_shape: expected length ", expected, " in dimension ", axes[k], ", got ", actual,
                           " (shape ", tuple_text(lengths), ")"));
  }
  to.out(0, to.in(0));
}

Variables SpecifyShape::pullback(const Apply& node, std::span<const Variable> cotangents) const {
  Variables out = no_gradients(node);
  out[0] = cotangents[0];
  return out;
}

Variables SpecifyShape::pushforward(const Apply&, std::span<const Variable> tangents) const { return {tangents[0]}; }

std::vector<std::vector<bool>> SpecifyShape::connection_pattern(const Apply& node) const {
  return connect_first(node, 1);
}

Apply SpecifyShape::vectorize(const Apply& node, std::span<const Variable> batched) const {
  const int gained = Batch{node, batched}.ndim(0);
  std::vector<int> moved;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (Batch{node, batched}.ndim(int(1 + k)) != 0)
      throw NotImplementedError("SpecifyShape: vectorize over the lengths");
    moved.push_back(axes[k] + gained);
  }
  return make_ref<SpecifyShape>(moved)->make_node(batched);
}

std::vector<int> SpecifyShape::view_of(const Apply&, int) const { return {0}; }

// Lengths that are statically known are not checked again.
Variable specify_shape(const Operand& x, const std::vector<std::optional<Operand>>& lengths) {
  LocationScope here(x.where);
  if (int(lengths.size()) != x.ndim())
    throw ValueError(cat("specify_shape: expected ", x.ndim(), " lengths, got ", lengths.size()));
  std::vector<int> axes;
  Variables inputs{x.variable};
  for (int axis = 0; axis < x.ndim(); ++axis) {
    auto& length = lengths[std::size_t(axis)];
    if (!length) continue;
    const Variable expected = as_length(length->variable, "specify_shape");
    const std::int64_t known = static_length(expected);
    if (known != unknown_length && known == x.variable.static_shape()[std::size_t(axis)]) continue;
    axes.push_back(axis);
    inputs.push_back(expected);
  }
  if (axes.empty()) return x.variable;
  return (*make_ref<SpecifyShape>(axes))(inputs);
}

namespace {

std::vector<Sample> specify_shape_samples() {
  constexpr auto any = unknown_length;
  auto x = sample_input(DType::Float64, {any, any}), y = sample_input(DType::Int16, {any});
  auto n = sample_input(DType::Int64, {});
  return {{make_ref<SpecifyShape>(std::vector<int>{1})->make_node({{x, int64_constant(3)}}),
           {sample_values(DType::Float64, {2, 3})}},
          {make_ref<SpecifyShape>(std::vector<int>{0})->make_node({{y, n}}),
           {sample_values(DType::Int16, {4}), Array(std::int64_t(4))}}};
}

BITALE_REGISTER_OP(SpecifyShape, "The input, with lengths that are checked at run time and known from then on.",
                   specify_shape_samples);

}  // namespace
}  // namespace bitale
