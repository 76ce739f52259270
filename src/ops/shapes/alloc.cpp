#include "ops/shapes/alloc.hpp"

#include "bitale/core/config.hpp"
#include "bitale/graph/range.hpp"
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "graph/literal.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/sample_values.hpp"

namespace bitale {
namespace {

// Dimension k of the value corresponds to dimension k + offset of the output.
int offset_of(const Apply& node) { return node.output().ndim() - node.input(0).ndim(); }

// Where the value does not broadcast, its length must be that of the output.
bool must_match(const Apply& node, int value_axis) { return !node.input(0).tensor().broadcasts(value_axis); }

Variables lengths_in(const Apply& node) { return {node.inputs().begin() + 1, node.inputs().end()}; }

}  // namespace

Apply Alloc::make_node(std::span<const Variable> inputs) const {
  if (inputs.empty()) throw TypeError("alloc: expected a value and lengths, got nothing");
  const TensorType& value = inputs[0].tensor();
  const int ndim = int(inputs.size()) - 1;
  if (value.ndim() > ndim)
    throw TypeError(cat("alloc: the value ", inputs[0].str(), " has ", value.ndim(), " dimensions, more than the ",
                        ndim, " lengths given"));
  Variables own{inputs[0]};
  Dims shape;
  for (int axis = 0; axis < ndim; ++axis) {
    own.push_back(as_length(inputs[std::size_t(1 + axis)], "alloc"));
    auto known = known_integer(own.back());
    if (known && *known < 0) throw ValueError(cat("alloc: negative length ", *known, " of dimension ", axis));
    std::int64_t length = known.value_or(unknown_length);
    const int under = axis - (ndim - value.ndim());
    if (under >= 0 && !value.broadcasts(under)) {
      const std::int64_t given = value.shape[std::size_t(under)];
      if (given != unknown_length && length != unknown_length && given != length)
        throw ShapeError(cat("alloc: the value ", inputs[0].str(), " has length ", given, " in dimension ", under,
                             " and can't become ", length));
      if (length == unknown_length) length = given;
    }
    shape.push_back(length);
  }
  return Apply(OpRef(this), own, {tensor_type(value.dtype, shape)});
}

std::vector<Shape> Alloc::infer_shape(const Apply& node, std::span<const Shape>) const { return {lengths_in(node)}; }

void Alloc::perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const {
  Dims shape;
  for (std::size_t i = 1; i < in.size(); ++i) shape.push_back(in[i].int_item());
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] < 0) throw ValueError(cat("alloc: negative length ", shape[axis], " of dimension ", axis));
  for (int k = 0; k < in[0].ndim(); ++k) {
    const std::int64_t wanted = shape[std::size_t(k + offset_of(node))];
    if (must_match(node, k) && in[0].shape(k) != wanted)
      throw ShapeError(cat("alloc: the value has length ", in[0].shape(k), " in dimension ", k, ", but ", wanted,
                           " is asked for; only a length known to be 1 when the graph is built broadcasts"));
  }
  out[0] = Array::empty(in[0].dtype(), shape);
  out[0].assign(in[0].broadcast_to(shape));
}

bool Alloc::emit(Lowering& to, const Apply& node) const {
  const int ndim = node.input(0).ndim(), offset = offset_of(node);
  std::vector<bool> match;
  for (int k = 0; k < ndim; ++k) {
    match.push_back(must_match(node, k));
    if (!match.back()) continue;
    to.require(equal(to.shape_in(0)[std::size_t(k)], to.shape_out(0)[std::size_t(k + offset)]),
               cat("alloc: the value's length in dimension ", k, " is not the requested one"));
  }
  for (int axis = 0; axis < node.output().ndim(); ++axis)
    if (!is_never_negative(node.input(1 + axis)))
      to.require(to.shape_out(0)[std::size_t(axis)] >= 0, cat("alloc: negative length of dimension ", axis));
  to.element(
      0,
      [&to, match, offset](Index at) {
        std::vector<Expr> source;
        for (std::size_t k = 0; k < match.size(); ++k)
          source.push_back(match[k] ? at[k + std::size_t(offset)] : to.pool().integer(0));
        return to.in(0, source);
      },
      0);
  return true;
}

void Alloc::emit_tensors(TensorLowering& to, const Apply& node) const {
  Dims lengths;
  for (int axis = 0; axis < node.output().ndim(); ++axis) {
    lengths.push_back(to.need_integer(1 + axis, "a length"));
    if (lengths.back() < 0) throw ValueError(cat("alloc: negative length ", lengths.back(), " of dimension ", axis));
  }
  const TensorValue value = to.in(0);
  const int offset = offset_of(node);
  std::vector<int> axes;
  for (int k = 0; k < value.ndim(); ++k) {
    axes.push_back(k + offset);
    const std::int64_t have = value.lengths[std::size_t(k)], wanted = lengths[std::size_t(k + offset)];
    if (must_match(node, k) && have != wanted)
      throw ShapeError(cat("alloc: the value has length ", have, " in dimension ", k, ", but ", wanted,
                           " is asked for; only a length known to be 1 when the graph is built broadcasts"));
  }
  to.out(0, to.builder().broadcast(value, lengths, axes));
}

// The value was repeated, so its gradient is a sum over the repetitions.
Variables Alloc::pullback(const Apply& node, std::span<const Variable> cotangents) const {
  Variables out = no_gradients(node);
  Variable g = cotangents[0];
  if (g.is_disconnected()) return out;
  const int offset = offset_of(node);
  std::vector<int> repeated, kept;
  for (int axis = 0; axis < g.ndim(); ++axis) {
    const bool in_value = axis >= offset;
    if (!in_value || (!must_match(node, axis - offset) && node.output().static_shape()[std::size_t(axis)] != 1))
      repeated.push_back(axis);
  }
  if (repeated.empty()) {
    out[0] = g;
    return out;
  }
  g = sum(g, repeated, KeepDims::Yes);
  for (int axis = offset; axis < g.ndim(); ++axis) kept.push_back(axis);
  out[0] = dimshuffle(g, kept);
  return out;
}

Variables Alloc::pushforward(const Apply& node, std::span<const Variable> tangents) const {
  if (tangents[0].is_disconnected()) return {disconnected()};
  Variables inputs = node.inputs();
  inputs[0] = tangents[0];
  return {(*this)(inputs)};
}

std::vector<std::vector<bool>> Alloc::connection_pattern(const Apply& node) const { return connect_first(node, 1); }

Apply Alloc::vectorize_along(const Batch& batch) const {
  if (batch.any_from(1)) throw NotImplementedError("Alloc: vectorize over the lengths");
  if (batch.ndim() == 0) return make_node(batch.inputs);
  const Variables lengths(batch.inputs.begin() + 1, batch.inputs.end()), all = with_batch_lengths(batch, lengths);
  Variables inputs{broadcast_in_batch(batch, 0, batch.node.output().ndim())};
  inputs.insert(inputs.end(), all.begin(), all.end());
  return make_node(inputs);
}

bool Alloc::may_fold(const Apply& node) const {
  std::int64_t size = 1;
  for (std::int64_t length : node.output().static_shape()) {
    if (length == unknown_length) return false;
    size *= length;
    if (size > largest_folded_size) return false;
  }
  return true;
}

// ---- public functions -----------------------------------------------------------------------------------------------

Variable alloc(const Operand& value, const Operands& shape) {
  LocationScope here(value.where);
  Variables inputs = with_literal_widths({&value.variable, 1});
  inputs.insert(inputs.end(), shape.variables.begin(), shape.variables.end());
  return (*make_ref<Alloc>())(inputs);
}

Variable broadcast_to(const Operand& x, const Operands& shape) { return alloc(x, shape); }

namespace {

Variable number(double value, DType dtype) { return constant(Array::full(dtype, Dims{}, value)); }

// PyTensor's form: `second` keeps the shape of x without naming its lengths.
Variable filled_like(const Operand& x, double value, const std::optional<DType>& dtype) {
  LocationScope here(x.where);
  const Variable fill = number(value, dtype.value_or(x.dtype()));
  return x.ndim() == 0 ? fill : second(x, fill);
}

}  // namespace

Variable zeros_like(const Operand& x, std::optional<DType> dtype) { return filled_like(x, 0, dtype); }
Variable ones_like(const Operand& x, std::optional<DType> dtype) { return filled_like(x, 1, dtype); }

Variable zeros(const Operands& shape, std::optional<DType> dtype) {
  LocationScope here(shape.where);
  return alloc(number(0, dtype.value_or(config::float_x())), shape);
}
Variable ones(const Operands& shape, std::optional<DType> dtype) {
  LocationScope here(shape.where);
  return alloc(number(1, dtype.value_or(config::float_x())), shape);
}

namespace {

std::vector<Sample> alloc_samples() {
  constexpr auto any = unknown_length;
  auto s = sample_input(DType::Float64, {}), v = sample_input(DType::Float64, {any});
  auto row = sample_input(DType::Float32, {1, any}), b = sample_input(DType::Bool, {any});
  auto n = sample_input(DType::Int64, {});
  auto op = make_ref<Alloc>();
  auto two = int64_constant(2), three = int64_constant(3), none = int64_constant(0);
  return {{op->make_node({{s, two, three}}), {Array(1.5)}},
          {op->make_node({{v, two, n}}), {sample_values(DType::Float64, {3}), Array(std::int64_t(3))}},
          {op->make_node({{row, two, two, three}}), {sample_values(DType::Float32, {1, 3})}},
          {op->make_node({{b, none, two}}), {sample_values(DType::Bool, {2})}},
          {op->make_node({{v, three}}), {sample_values(DType::Float64, {3})}}};
}

BITALE_REGISTER_OP(Alloc, "A tensor of given lengths filled with a value.", alloc_samples);

}  // namespace

Range Alloc::range(const Apply&, int, InputRanges& inputs) const { return inputs.of(0); }

}  // namespace bitale
