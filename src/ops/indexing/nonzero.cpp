#include "ops/indexing/nonzero.hpp"

#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/indexing/check_mask.hpp"
#include "ops/sample_values.hpp"
#include "ops/shapes/dimshuffle.hpp"
#include "runtime/nonzero.hpp"

namespace bitale {

namespace {

// Bytes that are not 0 are true.
const std::uint8_t* bytes_of(const Array& mask) { return static_cast<const std::uint8_t*>(mask.data()); }

std::int64_t count_of(const Array& mask) {
  std::int64_t count = 0;
  for (std::int64_t k = 0; k < mask.size(); ++k) count += bytes_of(mask)[k] != 0;
  return count;
}

Array positions_in(const Array& mask) {
  const Array bytes = mask.contiguous();
  Array out = Array::empty(DType::Int64, Dims{count_of(bytes)});
  bt_nonzero(bytes.size(), out.size(), bytes_of(bytes), out.mutable_data_as<std::int64_t>());
  return out;
}

}  // namespace

Apply Nonzero::make_node(std::span<const Variable> inputs) const {
  require_inputs(*this, inputs, 1);
  const Variable& mask = inputs[0];
  if (mask.dtype() != DType::Bool)
    throw TypeError(cat("Nonzero: expected a boolean tensor, got ", mask.str(), " of dtype ", dtype_name(mask.dtype()),
                        "; neq(x, 0) is one"));
  const Array* known = mask.constant();
  return Apply(OpRef(this), {mask},
               {tensor_type(DType::Int64, Dims{known ? count_of(known->contiguous()) : unknown_length})});
}

std::vector<Shape> Nonzero::infer_shape(const Apply& node, std::span<const Shape>) const {
  const std::int64_t known = node.output().static_shape()[0];
  if (known != unknown_length) return {{int64_constant(known)}};
  return {{sum(cast(node.input(0), DType::Int64))}};
}

void Nonzero::perform(const Apply&, std::span<const Array> in, std::span<Array> out) const {
  out[0] = positions_in(in[0]);
}

bool Nonzero::emit(Lowering& to, const Apply&) const {
  Expr size = to.pool().integer(1);
  for (auto& length : to.shape_in(0)) size = size * length;
  to.call("bt_nonzero", {size, to.shape_out(0)[0], InputData{0}, OutputData{0}});
  return true;
}

Variables Nonzero::pullback(const Apply&, std::span<const Variable>) const { return {disconnected()}; }
Variables Nonzero::pushforward(const Apply&, std::span<const Variable>) const { return {disconnected()}; }

// ---- public functions -----------------------------------------------------------------------------------------------

Variable positions_of_nonzero(const Variable& x) {
  if (const Array* known = x.constant()) return constant(positions_in(known->astype(DType::Bool)));
  return (*make_ref<Nonzero>())({x.dtype() == DType::Bool ? x : neq(x, 0)});
}

Apply nonzero_behind(const Variable& index) {
  Variable at = index;
  while (dynamic_cast<const DimShuffle*>(at.owner_op()) || dynamic_cast<const CheckMask*>(at.owner_op()))
    at = at.owner().input(0);
  return dynamic_cast<const Nonzero*>(at.owner_op()) ? at.owner() : Apply();
}

Variable flatnonzero(const Operand& x) {
  LocationScope here(x.where);
  if (x.ndim() == 0) throw ValueError(cat("nonzero: ", x.variable.str(), " has no dimensions; flatten(x) has one"));
  return positions_of_nonzero(x.variable);
}

Variables nonzero(const Operand& x) {
  LocationScope here(x.where);
  Variable rest = flatnonzero(x);
  Variables out(std::size_t(x.ndim()));
  for (int axis = x.ndim(); axis-- > 1;) {
    const Variable length = length_of(x.variable, axis);
    out[std::size_t(axis)] = mod(rest, length);
    rest = int_div(rest, length);
  }
  out[0] = rest;
  return out;
}

Variable nonzero_values(const Operand& x) {
  LocationScope here(x.where);
  return take(flatten(x), flatnonzero(x));
}

Variable compress(const Operand& condition, const Operand& x, std::optional<int> axis) {
  LocationScope here(x.where);
  if (condition.ndim() != 1)
    throw ValueError(cat("compress: expected a condition of one dimension, got ", condition.variable.str(), " of ",
                         condition.ndim()));
  return take(axis ? x.variable : flatten(x), flatnonzero(condition), axis.value_or(0));
}

// ---- samples --------------------------------------------------------------------------------------------------------

namespace {

std::vector<Sample> nonzero_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  auto add = [&](const Dims& type, const Array& value) {
    out.push_back({make_ref<Nonzero>()->make_node({{sample_input(DType::Bool, type)}}), {value}});
  };
  for (std::int64_t length : {0, 5, 64, 1003}) add({any}, sample_values(DType::Bool, {length}));
  add({any}, Array::zeros(DType::Bool, {130}));
  add({any, 3}, sample_values(DType::Bool, {4, 3}));
  add({}, Array(true));
  add({}, Array(false));
  const Variable x = sample_input(DType::Float64, {any, any});
  out.push_back({make_ref<Nonzero>()->make_node({{gt(x, 0)}}), {sample_values(DType::Float64, {5, 30})}});
  return out;
}

BITALE_REGISTER_OP(Nonzero, "The row-major numbers of the elements that are true, increasing.", nonzero_samples);

}  // namespace

}  // namespace bitale
