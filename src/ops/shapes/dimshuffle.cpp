#include "ops/shapes/dimshuffle.hpp"

#include <algorithm>
#include <numeric>

#include "bitale/core/text.hpp"
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "graph/literal.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/sample_values.hpp"

namespace bitale {
namespace {

std::string axes_text(std::string_view what, const std::vector<int>& axes) {
  if (axes.size() == 1) return cat(what, "{axis=", axes[0], "}");
  return cat(what, "{axes=", attribute_text(to_attribute(axes)), "}");
}

}  // namespace

DimShuffle::DimShuffle(int input_ndim, std::vector<int> order) : input_ndim(input_ndim), new_order(std::move(order)) {
  std::vector<bool> seen(std::size_t(input_ndim), false);
  for (std::size_t i = 0; i < new_order.size(); ++i) {
    const int axis = new_order[i];
    if (axis == new_axis) continue;
    if (axis < 0 || axis >= input_ndim)
      throw ValueError(cat("dimshuffle: order[", i, "] is ", axis, ", but the input has ", input_ndim, " dimensions"));
    if (seen[std::size_t(axis)]) throw ValueError(cat("dimshuffle: dimension ", axis, " occurs twice in the order"));
    seen[std::size_t(axis)] = true;
  }
}

std::vector<int> DimShuffle::dropped() const {
  std::vector<int> out;
  for (int axis = 0; axis < input_ndim; ++axis)
    if (std::find(new_order.begin(), new_order.end(), axis) == new_order.end()) out.push_back(axis);
  return out;
}

std::vector<int> DimShuffle::inserted() const {
  std::vector<int> out;
  for (int i = 0; i < int(new_order.size()); ++i)
    if (new_order[std::size_t(i)] == new_axis) out.push_back(i);
  return out;
}

bool DimShuffle::keeps_order() const {
  int last = -1;
  for (int axis : new_order) {
    if (axis == new_axis) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

// The names that PyTensor gives to the special cases.
std::string DimShuffle::label() const {
  const auto drop = dropped(), insert = inserted();
  if (drop.empty() && insert.empty() && !keeps_order()) {
    std::vector<int> swapped(std::size_t(input_ndim), 0);
    std::iota(swapped.begin(), swapped.end(), 0);
    std::swap(swapped[std::size_t(input_ndim - 1)], swapped[std::size_t(input_ndim - 2)]);
    return new_order == swapped ? "MatrixTranspose" : axes_text("Transpose", new_order);
  }
  if (drop.empty() && !insert.empty() && keeps_order()) return axes_text("ExpandDims", insert);
  if (!drop.empty() && insert.empty() && keeps_order()) return axes_text("Squeeze", drop);
  std::vector<std::string> entries;
  for (int axis : new_order) entries.push_back(axis == new_axis ? "x" : std::to_string(axis));
  return cat("DimShuffle{order=[", join(entries, ","), "]}");
}

std::string DimShuffle::pprint_text(std::span<const std::string> inputs) const {
  const auto drop = dropped(), insert = inserted();
  if (keeps_order() && drop.empty()) {
    // New dimensions in front are omitted, since broadcasting adds them; others are written as NumPy indexes them.
    const bool only_in_front = insert.empty() || insert.back() == int(insert.size()) - 1;
    if (only_in_front) return inputs[0];
    std::vector<std::string> entries;
    for (int axis : new_order) entries.push_back(axis == new_axis ? "None" : ":");
    return cat(atom_text(inputs[0]), "[", join(entries, ", "), "]");
  }
  std::vector<int> reversed(new_order.rbegin(), new_order.rend());
  if (insert.empty() && drop.empty() && std::is_sorted(reversed.begin(), reversed.end()))
    return atom_text(inputs[0]) + ".T";
  return {};
}

// The structure of the matrices is kept if the last two dimensions are the same, and transposed if they are exchanged.
Structure DimShuffle::structure(const Apply&, int, InputStructures& inputs) const {
  const int rank = int(new_order.size());
  const Structure of_elements = inputs.of(0).is(Fact::UnitMagnitude) ? Structure{Fact::UnitMagnitude} : Structure();
  if (rank < 2 || input_ndim < 2) return of_elements;
  const int rows = new_order[std::size_t(rank - 2)], columns = new_order[std::size_t(rank - 1)];
  if (rows == input_ndim - 2 && columns == input_ndim - 1) return inputs.of(0);
  if (rows == input_ndim - 1 && columns == input_ndim - 2) return inputs.of(0).transposed();
  return of_elements;
}

Apply DimShuffle::make_node(std::span<const Variable> inputs) const {
  require_inputs(*this, inputs, 1);
  const TensorType& x = inputs[0].tensor();
  if (x.ndim() != input_ndim)
    throw TypeError(cat("dimshuffle: expected ", input_ndim, " dimensions, got ", inputs[0].str(), " with ", x.ndim()));
  for (int axis : dropped())
    if (!x.broadcasts(axis))
      throw ValueError(cat("dimshuffle: dimension ", axis, " of ", inputs[0].str(),
                           " can't be dropped: its length is not known to be 1"));
  Dims shape;
  for (int axis : new_order) shape.push_back(axis == new_axis ? 1 : x.shape[std::size_t(axis)]);
  return Apply(OpRef(this), {inputs[0]}, {tensor_type(x.dtype, shape)});
}

std::vector<Shape> DimShuffle::infer_shape(const Apply&, std::span<const Shape> inputs) const {
  Shape out;
  for (int axis : new_order) out.push_back(axis == new_axis ? int64_constant(1) : inputs[0][std::size_t(axis)]);
  return {out};
}

void DimShuffle::perform(const Apply&, std::span<const Array> in, std::span<Array> out) const {
  const Array& x = in[0];
  for (int axis : dropped())
    if (x.shape(axis) != 1)
      throw ShapeError(cat(label(), ": expected length 1 in dimension ", axis, ", got ", x.shape(axis)));
  Dims shape, strides;
  for (int axis : new_order) {
    shape.push_back(axis == new_axis ? 1 : x.shape(axis));
    strides.push_back(axis == new_axis ? 0 : x.strides()[std::size_t(axis)]);
  }
  out[0] = x.view(shape, strides, 0);
}

bool DimShuffle::emit(Lowering& to, const Apply&) const {
  if (dropped().empty()) {
    to.permute(0, 0, new_order);
    return true;
  }
  to.element(0, [this, &to](Index at) {
    std::vector<Expr> source(std::size_t(input_ndim), to.pool().integer(0));
    for (std::size_t i = 0; i < new_order.size(); ++i)
      if (new_order[i] != new_axis) source[std::size_t(new_order[i])] = at[i];
    return to.in(0, source);
  });
  return true;
}

void DimShuffle::emit_tensors(TensorLowering& to, const Apply&) const {
  const TensorValue x = to.in(0);
  std::vector<int> order;
  Dims lengths;
  for (int axis : dropped())
    if (x.lengths[std::size_t(axis)] != 1)
      throw ShapeError(cat(label(), ": expected length 1 in dimension ", axis, ", got ", x.lengths[std::size_t(axis)]));
  for (int axis : new_order) {
    if (axis != new_axis) order.push_back(axis);
    lengths.push_back(axis == new_axis ? 1 : x.lengths[std::size_t(axis)]);
  }
  for (int axis : dropped()) order.push_back(axis);
  to.out(0, to.builder().reshape(to.builder().transpose(x, order), lengths));
}

// The inverse: kept dimensions are moved back, new ones are dropped, and dropped ones are inserted again.
Variables DimShuffle::pullback(const Apply&, std::span<const Variable> cotangents) const {
  if (cotangents[0].is_disconnected()) return {disconnected()};
  std::vector<int> inverse(std::size_t(input_ndim), new_axis);
  for (int i = 0; i < int(new_order.size()); ++i)
    if (new_order[std::size_t(i)] != new_axis) inverse[std::size_t(new_order[std::size_t(i)])] = i;
  return {dimshuffle(cotangents[0], inverse)};
}

Variables DimShuffle::pushforward(const Apply&, std::span<const Variable> tangents) const {
  if (tangents[0].is_disconnected()) return {disconnected()};
  return {(*this)(tangents)};
}

Apply DimShuffle::vectorize_along(const Batch& batch) const {
  const int gained = batch.ndim(), before = batch.before();
  std::vector<int> order, many(static_cast<std::size_t>(gained));
  for (int axis : new_order) order.push_back(axis == new_axis ? new_axis : axis + before);
  std::iota(many.begin(), many.end(), before ? 0 : input_ndim);
  order.insert(before ? order.begin() : order.end(), many.begin(), many.end());
  return make_ref<DimShuffle>(input_ndim + gained, order)->make_node(batch.inputs);
}

std::vector<int> DimShuffle::view_of(const Apply&, int) const { return {0}; }

// ---- public functions -----------------------------------------------------------------------------------------------

Variable dimshuffle(const Operand& x, const std::vector<int>& order) {
  LocationScope here(x.where);
  auto op = make_ref<DimShuffle>(x.ndim(), order);
  if (op->is_identity()) return x.variable;
  // A dropped dimension must have length 1: if that is not known, the call checks it.
  std::vector<std::optional<Operand>> lengths(std::size_t(x.ndim()));
  bool is_known = true;
  for (int axis : op->dropped())
    if (x.variable.static_shape()[std::size_t(axis)] == unknown_length) {
      lengths[std::size_t(axis)] = Operand(1);
      is_known = false;
    }
  return (*op)({is_known ? x.variable : specify_shape(x, lengths)});
}

Variable transpose(const Operand& x, const Axes& axes) {
  LocationScope here(x.where);
  const int ndim = x.ndim();
  std::vector<int> order;
  if (axes) {
    if (int(axes->size()) != ndim) throw ValueError(cat("transpose: expected ", ndim, " axes, got ", axes->size()));
    for (int axis : *axes) order.push_back(normal_axis(axis, ndim, "transpose"));
  } else {
    for (int axis = ndim; axis-- > 0;) order.push_back(axis);
  }
  return dimshuffle(x, order);
}

Variable expand_dims(const Operand& x, int axis) {
  LocationScope here(x.where);
  std::vector<int> order(std::size_t(x.ndim()));
  std::iota(order.begin(), order.end(), 0);
  order.insert(order.begin() + normal_axis(axis, x.ndim() + 1, "expand_dims"), new_axis);
  return dimshuffle(with_literal_widths({&x.variable, 1})[0], order);
}

// A named axis whose length is not known is checked when the function runs.
Variable squeeze(const Operand& x, const Axes& axis) {
  LocationScope here(x.where);
  std::vector<bool> drop(std::size_t(x.ndim()), false);
  Variable source = x.variable;
  if (axis) {
    std::vector<std::optional<Operand>> lengths(std::size_t(x.ndim()));
    bool unknown = false;
    for (int a : *axis) {
      const auto k = std::size_t(normal_axis(a, x.ndim(), "squeeze"));
      if (drop[k]) throw ValueError(cat("squeeze: axis ", a, " is given twice"));
      const std::int64_t length = source.static_shape()[k];
      if (length != 1 && length != unknown_length)
        throw ValueError(cat("squeeze: dimension ", k, " of ", source.str(), " has length ", length, ", not 1"));
      drop[k] = true;
      if (length == 1) continue;
      lengths[k] = Operand(int64_constant(1));
      unknown = true;
    }
    if (unknown) source = specify_shape(source, lengths);
  } else {
    for (int a = 0; a < x.ndim(); ++a) drop[std::size_t(a)] = source.tensor().broadcasts(a);
  }
  std::vector<int> order;
  for (int a = 0; a < x.ndim(); ++a)
    if (!drop[std::size_t(a)]) order.push_back(a);
  return dimshuffle(source, order);
}

namespace {

std::vector<Sample> dimshuffle_samples() {
  std::vector<Sample> out;
  auto sample = [&](DType dtype, const Dims& type, const Dims& shape, std::vector<int> order) {
    auto x = sample_input(dtype, type);
    out.push_back({make_ref<DimShuffle>(x.ndim(), order)->make_node({{x}}), {sample_values(dtype, shape)}});
  };
  constexpr auto any = unknown_length;
  sample(DType::Float64, {any, any}, {2, 3}, {1, 0});
  sample(DType::Float64, {any}, {4}, {new_axis, 0, new_axis});
  sample(DType::Float64, {1, any, 1}, {1, 3, 1}, {1});
  sample(DType::Float32, {1, 2, any}, {1, 2, 3}, {2, new_axis, 1});
  sample(DType::Int32, {2, 0, 3}, {2, 0, 3}, {2, 0, 1});
  sample(DType::Bool, {}, {}, {new_axis, new_axis});
  return out;
}

BITALE_REGISTER_OP(DimShuffle, "Permutes dimensions, adds dimensions of length 1 and drops dimensions of length 1.",
                   dimshuffle_samples);

}  // namespace
}  // namespace bitale
