#include "ops/shapes/join.hpp"

#include <numeric>

#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/dependencies.hpp"
#include "ops/analysis/interval.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/analysis/support_masks.hpp"
#include "ops/sample_values.hpp"

namespace bitale {

Apply Join::make_node(std::span<const Variable> inputs) const {
  if (inputs.empty()) throw ValueError("join: expected at least one tensor");
  const int ndim = inputs[0].ndim();
  if (ndim == 0) throw TypeError("join: scalars can't be joined; use stack");
  if (axis < 0 || axis >= ndim) throw ValueError(cat("join: axis ", axis, " of tensors with ", ndim, " dimensions"));
  std::vector<DType> dtypes;
  Dims shape(std::size_t(ndim), unknown_length);
  std::int64_t total = 0;
  for (auto& input : inputs) {
    if (input.ndim() != ndim)
      throw TypeError(cat("join: expected tensors of one rank, got ", inputs[0].str(), " with ", ndim, " and ",
                          input.str(), " with ", input.ndim(), " dimensions"));
    dtypes.push_back(input.dtype());
    for (int d = 0; d < ndim; ++d) {
      const std::int64_t length = input.static_shape()[std::size_t(d)];
      if (d != axis)
        shape[std::size_t(d)] = common_length(shape[std::size_t(d)], length, d, "join");
      else
        total = total == unknown_length || length == unknown_length ? unknown_length : total + length;
    }
  }
  shape[std::size_t(axis)] = total;
  const DType dtype = promote(dtypes);
  Variables own;
  for (auto& input : inputs) own.push_back(cast(input, dtype));
  return Apply(OpRef(this), own, {tensor_type(dtype, shape)});
}

std::vector<Shape> Join::infer_shape(const Apply&, std::span<const Shape> inputs) const {
  Shape out = inputs[0];
  for (auto& input : inputs.subspan(1)) {
    for (std::size_t d = 0; d < out.size(); ++d) {
      if (int(d) == axis)
        out[d] = lengths::add(out[d], input[d]);
      else if (!known_integer(out[d]))
        out[d] = known_integer(input[d]) ? input[d] : out[d];
    }
  }
  return {out};
}

void Join::perform(const Apply&, std::span<const Array> in, std::span<Array> out) const {
  Dims shape = in[0].shape();
  for (std::size_t i = 1; i < in.size(); ++i) {
    for (int d = 0; d < in[i].ndim(); ++d)
      if (d != axis && in[i].shape(d) != shape[std::size_t(d)])
        throw ShapeError(cat("join: along axis ", axis, ", tensor 0 has length ", shape[std::size_t(d)],
                             " in dimension ", d, ", but tensor ", i, " has ", in[i].shape(d)));
    shape[std::size_t(axis)] += in[i].shape(axis);
  }
  out[0] = Array::empty(in[0].dtype(), shape);
  std::int64_t start = 0;
  for (auto& part : in) {
    out[0].slice(axis, start, part.shape(axis), 1).assign(part);
    start += part.shape(axis);
  }
}

bool Join::emit(Lowering& to, const Apply& node) const {
  const auto out = to.shape_out(0);
  std::vector<ConcatSegment> segments;
  for (int i = 0; i < int(node.inputs().size()); ++i) {
    const auto lengths = to.shape_in(i);
    for (std::size_t d = 0; d < lengths.size(); ++d)
      if (int(d) != axis && !(lengths[d] == out[d]))
        to.require(equal(lengths[d], out[d]),
                   cat("join: the tensors have different lengths in dimension ", d, ", which is not the joined one"));
    segments.push_back({lengths[std::size_t(axis)], [&to, i](Index at) { return to.in(i, at); }});
  }
  to.concatenate(0, axis, std::move(segments));
  return true;
}

void Join::emit_tensors(TensorLowering& to, const Apply& node) const {
  TensorBuilder& builder = to.builder();
  const DType dtype = node.output().dtype();
  TensorValues parts;
  for (int i = 0; i < int(node.inputs().size()); ++i) {
    parts.push_back(builder.convert(to.in(i), dtype));
    for (int d = 0; d < parts[0].ndim(); ++d)
      if (d != axis && parts.back().lengths[std::size_t(d)] != parts[0].lengths[std::size_t(d)])
        throw ShapeError(cat("join: along axis ", axis, ", tensor 0 has length ", parts[0].lengths[std::size_t(d)],
                             " in dimension ", d, ", but tensor ", i, " has ", parts.back().lengths[std::size_t(d)]));
  }
  to.out(0, builder.concatenate(parts, axis));
}

Variables Join::pullback(const Apply& node, std::span<const Variable> cotangents) const {
  if (cotangents[0].is_disconnected()) return no_gradients(node);
  Variables out;
  Variable start = int64_constant(0);
  for (auto& input : node.inputs()) {
    const Variable stop = lengths::add(start, length_of(input, axis));
    std::vector<IndexItem> items(std::size_t(axis), IndexItem(Slice{}));
    items.push_back(Slice{start, stop, {}});
    out.push_back(with_static_shape_of(input, subtensor(cotangents[0], items)));
    start = stop;
  }
  return out;
}

Variables Join::pushforward(const Apply& node, std::span<const Variable> tangents) const {
  Variables parts(tangents.begin(), tangents.end());
  bool any = false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].is_disconnected())
      parts[i] = zeros_like(node.input(int(i)));
    else
      any = true;
  }
  return {any ? (*this)(parts) : disconnected()};
}

std::vector<int> Join::support_carriers(const Apply& node, int) const {
  std::vector<int> out(node.inputs().size());
  std::iota(out.begin(), out.end(), 0);
  return out;
}

Support Join::support(const Apply& node, int, std::span<const Support> inputs) const {
  return moved_support(node, inputs, support_carriers(node, 0));
}

std::optional<Array> Join::dependencies(const Apply& node, int, InputDependencies& inputs) const {
  std::vector<int> all(node.inputs().size());
  std::iota(all.begin(), all.end(), 0);
  return moved_dependencies(node, inputs, all);
}

std::vector<std::vector<bool>> Join::connection_pattern(const Apply& node) const {
  return connect_first(node, node.inputs().size());
}

Apply Join::vectorize_along(const Batch& batch) const {
  Variables parts;
  for (int i = 0; i < int(batch.inputs.size()); ++i) parts.push_back(with_batch(batch, i));
  return make_ref<Join>(axis + batch.before())->make_node(parts);
}

// ---- public functions -----------------------------------------------------------------------------------------------

Variable join(int axis, const Operands& operands) {
  LocationScope here(operands.where);
  const Variables& tensors = operands.variables;
  if (tensors.empty()) throw ValueError("join: expected at least one tensor");
  if (tensors[0].ndim() == 0) throw TypeError("join: scalars can't be joined; use stack");
  axis = normal_axis(axis, tensors[0].ndim(), "join");
  return tensors.size() == 1 ? tensors[0] : (*make_ref<Join>(axis))(tensors);
}

Variable concatenate(const Operands& tensors, int axis) { return join(axis, tensors); }

Variable stack(const Operands& operands, int axis) {
  LocationScope here(operands.where);
  const Variables& tensors = operands.variables;
  if (tensors.empty()) throw ValueError("stack: expected at least one tensor");
  const int ndim = tensors[0].ndim();
  axis = normal_axis(axis, ndim + 1, "stack");
  bool scalars = true;
  Variables parts;
  for (auto& tensor : tensors) {
    if (tensor.ndim() != ndim)
      throw TypeError(cat("stack: expected tensors of one rank, got ", tensors[0].str(), " with ", ndim, " and ",
                          tensor.str(), " with ", tensor.ndim(), " dimensions"));
    scalars &= tensor.ndim() == 0;
  }
  if (scalars) return make_vector(tensors);
  for (auto& tensor : tensors) parts.push_back(expand_dims(tensor, axis));
  return join(axis, parts);
}

namespace {

std::vector<Sample> join_samples() {
  constexpr auto any = unknown_length;
  auto x = sample_input(DType::Float64, {any, 3}), y = sample_input(DType::Float64, {any, 3});
  auto z = sample_input(DType::Float64, {2, any}), w = sample_input(DType::Float64, {2, 1});
  auto u = sample_input(DType::Int8, {any}), v = sample_input(DType::Int8, {any}), t = sample_input(DType::Int8, {3});
  return {{make_ref<Join>(0)->make_node({{x, y}}),
           {sample_values(DType::Float64, {2, 3}), sample_values(DType::Float64, {1, 3}, 1)}},
          {make_ref<Join>(1)->make_node({{z, w}}),
           {sample_values(DType::Float64, {2, 2}), sample_values(DType::Float64, {2, 1}, 1)}},
          {make_ref<Join>(0)->make_node({{u, v, t}}),
           {sample_values(DType::Int8, {2}), sample_values(DType::Int8, {0}), sample_values(DType::Int8, {3}, 2)}}};
}

BITALE_REGISTER_OP(Join, "Tensors laid one after another along an axis.", join_samples);

}  // namespace

Range Join::range(const Apply& node, int, InputRanges& inputs) const { return interval::of_all(node, inputs); }

}  // namespace bitale
