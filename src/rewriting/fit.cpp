// Helpers for rules: constants seen through views, lengths without values, and the conversion of a replacement to the
// type of the variable that it replaces.
#include <algorithm>

#include "bitale/core/error.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/rewriting/rules.hpp"
#include "ops/analysis/known_number.hpp"

namespace bitale::rewriting {

namespace {

Variables own_lengths(const Variable& variable) {
  Variables out;
  for (int axis = 0; axis < variable.ndim(); ++axis) {
    const std::int64_t known = variable.static_shape()[std::size_t(axis)];
    out.push_back(known == unknown_length ? shape_i(variable, axis) : constant(Array(known)));
  }
  return out;
}

bool is_tensor(const Variable& variable) { return as_tensor(variable.type()) != nullptr; }

bool lacks_length(const Variable& value, const Variable& like, std::size_t axis) {
  return value.static_shape()[axis] == 1 && like.static_shape()[axis] != 1;
}

bool lacks_lengths(const Variable& value, const Variable& like) {
  if (!is_tensor(value)) return false;
  for (std::size_t axis = 0; axis < value.static_shape().size(); ++axis)
    if (lacks_length(value, like, axis)) return true;
  return false;
}

// Repeats value along the axes where it has length 1 and `like` does not.
std::optional<Variable> broadcast_like(const Variable& value, const Variable& like) {
  const Variables lengths = inferred_lengths(like), own = own_lengths(value);
  if (lengths.size() != own.size()) return std::nullopt;
  Variables target;
  for (std::size_t axis = 0; axis < own.size(); ++axis)
    target.push_back(lacks_length(value, like, axis) ? lengths[axis] : own[axis]);
  return alloc(value, target);
}

Variable pad_rank(const Variable& value, int rank) {
  std::vector<int> order(std::size_t(rank - value.ndim()), new_axis);
  for (int axis = 0; axis < value.ndim(); ++axis) order.push_back(axis);
  return value.ndim() == rank ? value : dimshuffle(value, order);
}

Variable promise_lengths(const Variable& value, const Variable& like) {
  std::vector<std::optional<Operand>> lengths;
  for (std::int64_t length : like.static_shape())
    lengths.push_back(length == unknown_length ? std::optional<Operand>() : Operand(length));
  return specify_shape(value, lengths);
}

bool can_hold(const Dims& value, const Dims& like) {
  for (std::size_t axis = 0; axis < value.size(); ++axis)
    if (like[axis] != unknown_length && value[axis] != unknown_length && value[axis] != like[axis]) return false;
  return true;
}

}  // namespace

bool is_among(DType dtype, std::uint32_t dtypes) { return dtypes >> unsigned(kind(dtype)) & 1; }

std::optional<double> scalar_constant(const Variable& variable) { return known_number(variable); }

bool may_be_number(const Variable& variable) {
  return variable.is_constant() || (variable.has_owner() && !variable.owner_op()->elementwise());
}

Variable constant_like(double value, DType dtype) { return constant(Array(value).astype(dtype)); }

Variables inferred_lengths(const Variable& variable) {
  const Apply owner = variable.owner();
  if (!owner.defined()) return own_lengths(variable);
  std::vector<Shape> inputs;
  for (auto& input : owner.inputs()) inputs.push_back(is_tensor(input) ? own_lengths(input) : Shape{});
  std::vector<Shape> outputs = owner.op().infer_shape(owner, inputs);
  if (outputs.empty()) return {};
  Variables out = std::move(outputs[std::size_t(variable.index())]);
  // Static lengths are better than any expression.
  for (std::size_t axis = 0; axis < out.size(); ++axis)
    if (variable.static_shape()[axis] != unknown_length) out[axis] = constant(Array(variable.static_shape()[axis]));
  return out;
}

std::optional<Variable> fit(const Variable& value, const Variable& like) {
  // A static length of 1 is more specific than an unknown one, but most likely means "not repeated yet".
  if (like.type()->is_super(*value.type()) && !lacks_lengths(value, like)) return value;
  if (!is_tensor(value) || !is_tensor(like) || value.ndim() > like.ndim()) return std::nullopt;
  Variable out = pad_rank(value, like.ndim());
  if (out.dtype() != like.dtype()) {
    if (!can_cast_safely(out.dtype(), like.dtype())) return std::nullopt;
    out = cast(out, like.dtype());
  }
  if (lacks_lengths(out, like)) {
    const std::optional<Variable> repeated = broadcast_like(out, like);
    if (!repeated) return std::nullopt;
    out = *repeated;
  }
  if (!can_hold(out.static_shape(), like.static_shape())) return std::nullopt;
  if (!like.type()->is_super(*out.type())) out = promise_lengths(out, like);
  return like.type()->is_super(*out.type()) ? std::optional(out) : std::nullopt;
}

}  // namespace bitale::rewriting
