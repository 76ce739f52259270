#include "ops/linalg/dot.hpp"

#include <algorithm>
#include <numeric>

#include "bitale/ops/arrange.hpp"
#include "bitale/ops/contraction.hpp"
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "graph/dependencies.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/analysis/symmetry.hpp"
#include "ops/complex/complex.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "ops/linalg/dot_arrays.hpp"
#include "ops/linalg/linalg_core.hpp"
#include "ops/sample_values.hpp"
#include "ops/shapes/dimshuffle.hpp"

namespace bitale {
namespace {

constexpr std::string_view inner_message = "the lengths of the summed dimension differ";

std::string shape_text(const Dims& shape) {
  std::vector<std::string> parts;
  for (std::int64_t length : shape) parts.push_back(length == unknown_length ? "?" : std::to_string(length));
  return cat("[", join(parts, ", "), "]");
}

std::string transpose_hint(std::string_view which, const Variable& matrix) {
  const std::string& name = matrix.name();
  return cat("the transpose of the ", which, " argument would fit",
             name.empty() ? "" : cat("; did you mean transpose(", name, ")?"));
}

// The summed dimensions must agree; a hint names a matrix whose transpose would fit. While the graph is built, the
// error shows the shapes itself: there is no node yet whose context would.
void check_inner(std::string_view who, const Dims& x, const Dims& y, std::span<const Variable> given, bool building) {
  const std::size_t xn = x.size(), yn = y.size();
  const std::int64_t a = x[xn - 1], b = yn == 1 ? y[0] : y[yn - 2];
  if (a == b || a == unknown_length || b == unknown_length) return;
  ShapeError error(cat(who, ": lengths ", a, " and ", b, " of the summed dimension differ."));
  if (building)
    error.add("inputs", cat(given[0].str(), ": ", shape_text(x), "    ", given[1].str(), ": ", shape_text(y)));
  if (yn >= 2 && y[yn - 1] == a)
    error.add("hint", transpose_hint("second", given[1]));
  else if (xn >= 2 && x[xn - 2] == b)
    error.add("hint", transpose_hint("first", given[0]));
  throw error;
}

// The two inputs in their common dtype.
Variables in_common_dtype(const Op& op, std::span<const Variable> inputs) {
  require_inputs(op, inputs, 2);
  const DType dtype = promote(inputs[0].dtype(), inputs[1].dtype());
  return {cast(inputs[0], dtype), cast(inputs[1], dtype)};
}

// x with the last two dimensions exchanged.
Variable matrix_transposed(const Variable& x) {
  std::vector<int> order(static_cast<std::size_t>(x.ndim()));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return dimshuffle(x, order);
}

// The product of two matrices or stacks of matrices; ranks are made equal with batch dimensions of length 1.
Variable stacked_product(const Variable& x, const Variable& y) {
  if (x.ndim() == 2 && y.ndim() == 2) return (*make_ref<Dot>())({x, y});
  const Variable both[] = {x, y};
  return (*make_ref<BatchedDot>())(pad_ranks(both));
}

Variable row_of(const Variable& x) { return expand_dims(x, x.ndim() - 1); }  // [..., k] -> [..., 1, k]
Variable column_of(const Variable& x) { return expand_dims(x, x.ndim()); }   // [..., k] -> [..., k, 1]

// The product over the last dimension of x (with `x_vector`, its only core dimension) and the matching one of y.
Variable general_product(const Variable& x, bool x_vector, const Variable& y, bool y_vector) {
  Variable out = stacked_product(x_vector ? row_of(x) : x, y_vector ? column_of(y) : y);
  std::vector<int> kept;
  for (int axis = 0; axis < out.ndim(); ++axis) {
    const bool inserted = (x_vector && axis == out.ndim() - 2) || (y_vector && axis == out.ndim() - 1);
    if (!inserted) kept.push_back(axis);
  }
  return dimshuffle(out, kept);
}

}  // namespace

// ---- Dot ------------------------------------------------------------------------------------------------------------

namespace {

// Whether y is x with its matrices transposed.
bool is_transpose_of(const Variable& y, const Variable& x) {
  const auto* shuffle = y.has_owner() ? dynamic_cast<const DimShuffle*>(y.owner_op()) : nullptr;
  if (!shuffle || !y.owner().input(0).same_as(x) || shuffle->new_order.size() != std::size_t(x.ndim())) return false;
  std::vector<int> order = axes_below(x.ndim());
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return shuffle->new_order == order;
}
bool are_transposes(const Variable& x, const Variable& y) { return is_transpose_of(y, x) || is_transpose_of(x, y); }

// The structure of x y. x x^T is symmetric, and positive definite if x is known to be nonsingular.
Structure structure_of_product(const Apply& node, InputStructures& inputs) {
  const Variable &x = node.input(0), &y = node.input(1);
  if (x.ndim() < 2 || y.ndim() < 2) return {};
  const Structure a = inputs.of(0), b = inputs.of(1);
  Structure out = product_structure(a, b);
  if (!are_transposes(x, y)) {
    if (are_transposes(without_scaling(x, true), without_scaling(y, false))) out.add(Fact::Symmetric);
    return out;
  }
  out.add(Fact::PositiveSemidefinite);
  if (a.is(Fact::Orthogonal))
    for (const Fact fact : {Fact::Diagonal, Fact::UnitDiagonal}) out.add(fact);
  if (a.is(Fact::PositiveDefinite) || (a.is_triangular() && a.is(Fact::Square) && a.is(Fact::PositiveDiagonal)))
    out.add(Fact::PositiveDefinite);
  return out;
}

}  // namespace

namespace {

// A complex product is four real products.
PartsOfOutputs product_parts(const Op& op, std::span<const ComplexParts> in) {
  const auto& [x, y] = std::tie(in[0], in[1]);
  return {{{op({x.real, y.real}) - op({imaginary(x), imaginary(y)}),
            op({x.real, imaginary(y)}) + op({imaginary(x), y.real})}}};
}

}  // namespace

PartsOfOutputs Dot::complex_parts(const Apply&, std::span<const ComplexParts> inputs) const {
  return product_parts(*this, inputs);
}
PartsOfOutputs BatchedDot::complex_parts(const Apply&, std::span<const ComplexParts> inputs) const {
  return product_parts(*this, inputs);
}

Structure Dot::structure(const Apply& node, int, InputStructures& inputs) const {
  return structure_of_product(node, inputs);
}
Structure BatchedDot::structure(const Apply& node, int, InputStructures& inputs) const {
  return structure_of_product(node, inputs);
}

Apply Dot::make_node(std::span<const Variable> inputs) const {
  const Variables own = in_common_dtype(*this, inputs);
  const Variable &x = own[0], &y = own[1];
  for (auto& input : own)
    if (input.ndim() < 1 || input.ndim() > 2)
      throw TypeError(
          cat("dot: expected vectors or matrices, got ", input.str(), " with ", input.ndim(), " dimensions"));
  check_inner("dot", x.static_shape(), y.static_shape(), own, true);
  Dims shape;
  if (x.ndim() == 2) shape.push_back(x.static_shape()[0]);
  if (y.ndim() == 2) shape.push_back(y.static_shape()[1]);
  return Apply(OpRef(this), own, {tensor_type(x.dtype(), shape)});
}

bool uses_blas(DType dtype) { return dtype == DType::Float64 || dtype == DType::Float32; }

bool are_few_long_rows(std::int64_t rows, std::int64_t length) {
  constexpr std::int64_t most = 32, shortest = 16;
  return rows >= 1 && rows <= most && length >= shortest;
}

bool has_few_long_rows(const Variable& x) {
  if (!x.is_constant() || x.ndim() != 2 || !uses_blas(x.dtype())) return false;
  return are_few_long_rows(x.static_shape()[0], x.static_shape()[1]);
}

std::vector<Shape> Dot::infer_shape(const Apply&, std::span<const Shape> inputs) const {
  Shape out;
  if (inputs[0].size() == 2) out.push_back(inputs[0][0]);
  if (inputs[1].size() == 2) out.push_back(inputs[1][1]);
  return {out};
}

void Dot::perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const {
  check_inner("dot", in[0].shape(), in[1].shape(), node.inputs(), false);
  const bool x_vector = in[0].ndim() == 1, y_vector = in[1].ndim() == 1;
  Array result = matrix_product(x_vector ? in[0].insert_axis(0) : in[0], y_vector ? in[1].insert_axis(1) : in[1]);
  if (y_vector) result = result.take_index(1, 0);
  if (x_vector) result = result.take_index(0, 0);
  out[0] = result;
}

bool Dot::emit(Lowering& to, const Apply&) const {
  to.require(equal(to.shape_in(0).back(), to.shape_in(1).front()), cat("dot: ", inner_message));
  to.contract({});
  return true;
}

void Dot::emit_tensors(TensorLowering& to, const Apply& node) const {
  TensorBuilder& builder = to.builder();
  const DType dtype = node.output().dtype(), computing = computing_dtype(dtype);
  const TensorValue x = builder.convert(to.in(0), computing), y = builder.convert(to.in(1), computing);
  if (x.lengths.back() != y.lengths[0]) throw ShapeError(cat("dot: ", inner_message));
  const int last[] = {x.ndim() - 1}, first[] = {0};
  to.out(0, builder.convert(builder.dot(x, y, 0, last, first), dtype));
}

Variables Dot::pullback(const Apply& node, std::span<const Variable> cotangents) const {
  const Variable& g = cotangents[0];
  if (g.is_disconnected()) return no_gradients(node);
  if (touches_complex(node)) return pullback_through_parts(node, cotangents);
  const Variable &x = node.input(0), &y = node.input(1);
  const bool x_vector = x.ndim() == 1, y_vector = y.ndim() == 1;
  Variable gx, gy;
  if (x_vector && y_vector) {
    gx = mul(g, y);
    gy = mul(g, x);
  } else if (y_vector) {
    gx = outer(g, y);
    gy = dot(transpose(x), g);
  } else if (x_vector) {
    gx = dot(y, g);
    gy = outer(x, g);
  } else {
    gx = dot(g, transpose(y));
    gy = dot(transpose(x), g);
  }
  return {with_static_shape_of(x, gx), with_static_shape_of(y, gy)};
}

namespace {

Variables product_rule(const Op& op, const Apply& node, std::span<const Variable> tangents) {
  const bool from_x = !tangents[0].is_disconnected(), from_y = !tangents[1].is_disconnected();
  Variable out = disconnected();
  if (from_x) out = op({tangents[0], node.input(1)});
  if (!from_y) return {out};
  const Variable second = op({node.input(0), tangents[1]});
  return {from_x ? add(out, second) : second};
}

}  // namespace

Variables Dot::pushforward(const Apply& node, std::span<const Variable> tangents) const {
  return product_rule(*this, node, tangents);
}

namespace {

// An operand of a product as a matrix [rows, inner]: what its elements depend on, and whether they may be nonzero, as
// far as this is known.
struct Factor {
  Factor(std::int64_t rows, const std::optional<Array>& given_sets, const std::optional<Array>& value, bool transposed)
      : rows(rows) {
    const auto as_rows = [&](const Array& given) {
      const Array matrix = given.ndim() == 2 ? given : given.insert_axis(transposed ? 1 : 0);
      return (transposed ? matrix.transpose() : matrix).contiguous();
    };
    if (given_sets) sets = as_rows(*given_sets);
    if (value) nonzero = as_rows(value->astype(DType::Bool));
  }
  std::int64_t inner() const { return (sets ? *sets : *nonzero).shape(1); }
  bool may_be_nonzero(std::int64_t row, std::int64_t k) const {
    return !nonzero || nonzero->data_as<bool>()[row * inner() + k];
  }
  // Adds the sets of a row's elements that meet one that may be nonzero in a row of the other factor.
  void add_terms(std::int64_t row, const Factor* other, std::int64_t other_row,
                 std::vector<ElementSets::Set>& terms) const {
    if (!sets) return;
    for (std::int64_t k = 0; k < inner(); ++k)
      if (!other || other->may_be_nonzero(other_row, k))
        terms.push_back(sets->data_as<std::int64_t>()[row * inner() + k]);
  }
  std::int64_t rows;
  std::optional<Array> sets, nonzero;
};

// The sets [x.rows, y.rows] of the product.
Array product_dependencies(ElementSets& sets, const Factor& x, const Factor& y) {
  const Array out = Array::zeros(DType::Int64, {x.rows, y.rows});
  std::vector<ElementSets::Set> terms;
  if (!x.nonzero && !y.nonzero) {  // the union of a row and a column
    std::vector<ElementSets::Set> columns;
    for (std::int64_t j = 0; j < y.rows; ++j) {
      terms.clear();
      y.add_terms(j, nullptr, 0, terms);
      columns.push_back(sets.united(terms));
    }
    for (std::int64_t i = 0; i < x.rows; ++i) {
      terms.clear();
      x.add_terms(i, nullptr, 0, terms);
      const ElementSets::Set row = sets.united(terms);
      for (std::int64_t j = 0; j < y.rows; ++j)
        out.mutable_data_as<std::int64_t>()[i * y.rows + j] = sets.united(row, columns[std::size_t(j)]);
    }
    return out;
  }
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::int64_t j = 0; j < y.rows; ++j) {
      terms.clear();
      x.add_terms(i, &y, j, terms);
      y.add_terms(j, &x, i, terms);
      out.mutable_data_as<std::int64_t>()[i * y.rows + j] = sets.united(terms);
    }
  return out;
}

}  // namespace

std::optional<Array> Dot::dependencies(const Apply& node, int, InputDependencies& inputs) const {
  const Dims& lengths = inputs.lengths();
  const std::int64_t rows = node.input(0).ndim() == 2 ? lengths[0] : 1,
                     columns = node.input(1).ndim() == 2 ? lengths.back() : 1;
  const Factor x(rows, inputs.of(0), inputs.value(0), false), y(columns, inputs.of(1), inputs.value(1), true);
  return product_dependencies(inputs.sets(), x, y).reshape(inputs.lengths());
}

std::vector<std::vector<bool>> Dot::connection_pattern(const Apply& node) const { return connect_first(node, 2); }

Apply Dot::vectorize_along(const Batch& batch) const {
  if (batch.ndim() == 0) return make_node(batch.inputs);
  const Variable &x = batch.inputs[0], &y = batch.inputs[1];
  const int x_ndim = batch.node.input(0).ndim(), y_ndim = batch.node.input(1).ndim();
  // With vectors of a batch on both sides, each product is a matrix product of its own.
  if (batch.axis == BatchAxis::first) return general_product(x, x_ndim == 1, y, y_ndim == 1).owner();
  if (!is_float(batch.node.output().dtype())) return {};
  // A product with the same left factor, or of a batch of vectors, for the whole batch is one product of matrices;
  // others are sums.
  if (batch.ndim(0) == 0 && y_ndim == 1) return dot(x, y).owner();
  if (batch.ndim(1) == 0 && x_ndim == 1) return dot(y_ndim == 2 ? transpose(y) : y, x).owner();
  if (batch.ndim(0) == 0) {
    Variables shape{length_of(y, 1), length_of(y, 2)};
    if (x_ndim == 2) shape.insert(shape.begin(), length_of(x, 0));
    return reshape(dot(x, join_dims(y, 1)), shape).owner();
  }
  const Variable left = broadcast_in_batch(batch, 0), right = broadcast_in_batch(batch, 1);
  return sum((y_ndim == 2 ? expand_dims(left, x_ndim) : left) * right, {x_ndim - 1}).owner();
}

// ---- BatchedDot -----------------------------------------------------------------------------------------------------

namespace {

bool repeats_everywhere(const Variable& x) {
  for (int axis = 0; axis + 2 < x.ndim(); ++axis)
    if (!x.tensor().broadcasts(axis)) return false;
  return true;
}

// If an operand has only some of the batch dimensions, repeats it to the other operand's lengths.
Variable with_whole_batch(const Variable& x, const Variable& other) {
  if (repeats_everywhere(x)) return x;
  Shape shape = lengths_of(x);
  bool partly = false;
  for (int axis = 0; axis + 2 < x.ndim(); ++axis) {
    if (!x.tensor().broadcasts(axis) || other.tensor().broadcasts(axis)) continue;
    shape[std::size_t(axis)] = length_of(other, axis);
    partly = true;
  }
  return partly ? alloc(x, shape) : x;
}

// The operand whose batch lengths the output has.
int batch_source(const Apply& node) { return repeats_everywhere(node.input(0)) ? 1 : 0; }

Array flat_batch(const Array& x) {
  std::int64_t batch = 1;
  for (int axis = 0; axis + 2 < x.ndim(); ++axis) batch *= x.shape(axis);
  return x.reshape(Dims{batch, x.shape(x.ndim() - 2), x.shape(x.ndim() - 1)});
}

}  // namespace

Apply BatchedDot::make_node(std::span<const Variable> inputs) const {
  Variables own = in_common_dtype(*this, inputs);
  const int ndim = own[0].ndim();
  if (ndim < 3 || own[1].ndim() != ndim)
    throw TypeError(cat("BatchedDot: expected stacks of matrices of equal rank, got ", own[0].str(), " with ", ndim,
                        " and ", own[1].str(), " with ", own[1].ndim(), " dimensions"));
  check_inner("matmul", own[0].static_shape(), own[1].static_shape(), own, true);
  Dims shape;
  for (int axis = 0; axis + 2 < ndim; ++axis) {
    const std::int64_t a = own[0].static_shape()[std::size_t(axis)], b = own[1].static_shape()[std::size_t(axis)];
    shape.push_back(a == 1 ? b : b == 1 ? a : common_length(a, b, axis, "matmul"));
  }
  shape.push_back(own[0].static_shape()[std::size_t(ndim - 2)]);
  shape.push_back(own[1].static_shape()[std::size_t(ndim - 1)]);
  const Variable x = with_whole_batch(own[0], own[1]), y = with_whole_batch(own[1], own[0]);
  return Apply(OpRef(this), {x, y}, {tensor_type(x.dtype(), shape)});
}

std::vector<Shape> BatchedDot::infer_shape(const Apply& node, std::span<const Shape> inputs) const {
  Shape out = inputs[std::size_t(batch_source(node))];
  out[out.size() - 2] = inputs[0][out.size() - 2];
  out[out.size() - 1] = inputs[1][out.size() - 1];
  return {out};
}

void BatchedDot::perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const {
  check_inner("matmul", in[0].shape(), in[1].shape(), node.inputs(), false);
  const int ndim = in[0].ndim();
  const bool share = repeats_everywhere(node.input(0)) || repeats_everywhere(node.input(1));
  Dims shape = in[std::size_t(batch_source(node))].shape();
  for (int axis = 0; axis + 2 < ndim; ++axis)
    if (!share && in[0].shape(axis) != in[1].shape(axis))
      throw ShapeError(cat("matmul: batch lengths ", in[0].shape(axis), " and ", in[1].shape(axis), " of dimension ",
                           axis, " differ"));
  shape[std::size_t(ndim - 2)] = in[0].shape(ndim - 2);
  shape[std::size_t(ndim - 1)] = in[1].shape(ndim - 1);
  out[0] = batched_matrix_product(flat_batch(in[0]), flat_batch(in[1])).reshape(shape);
}

bool BatchedDot::emit(Lowering& to, const Apply& node) const {
  const auto x = to.shape_in(0), y = to.shape_in(1);
  const std::size_t batch_axes = x.size() - 2;
  const bool share_x = repeats_everywhere(node.input(0)), share_y = repeats_everywhere(node.input(1));
  to.require(equal(x[batch_axes + 1], y[batch_axes]), cat("matmul: ", inner_message));
  for (std::size_t axis = 0; axis < batch_axes && !share_x && !share_y; ++axis)
    to.require(equal(x[axis], y[axis]), "matmul: the batch lengths differ");
  to.contract({batch_axes, share_x, share_y});
  return true;
}

// If the right operand is one matrix for the whole batch, there is one product with many rows; a single left matrix is
// repeated over the batch.
void BatchedDot::emit_tensors(TensorLowering& to, const Apply& node) const {
  TensorBuilder& builder = to.builder();
  const DType dtype = node.output().dtype(), computing = computing_dtype(dtype);
  TensorValue x = builder.convert(to.in(0), computing), y = builder.convert(to.in(1), computing);
  const int batch = x.ndim() - 2;
  const int row[] = {batch + 1}, column[] = {batch}, first[] = {0};
  if (x.lengths.back() != y.lengths[std::size_t(batch)]) throw ShapeError(cat("matmul: ", inner_message));
  if (repeats_everywhere(node.input(1))) {
    y = builder.reshape(y, {y.lengths[std::size_t(batch)], y.lengths.back()});
    return to.out(0, builder.convert(builder.dot(x, y, 0, row, first), dtype));
  }
  Dims lengths = x.lengths;
  for (int axis = 0; axis < batch; ++axis) {
    std::int64_t& have = lengths[std::size_t(axis)];
    if (repeats_everywhere(node.input(0)))
      have = y.lengths[std::size_t(axis)];
    else if (have != y.lengths[std::size_t(axis)])
      throw ShapeError("matmul: the batch lengths differ");
  }
  to.out(0, builder.convert(builder.dot(builder.repeat(x, lengths), y, batch, row, column), dtype));
}

Variables BatchedDot::pullback(const Apply& node, std::span<const Variable> cotangents) const {
  const Variable& g = cotangents[0];
  if (g.is_disconnected()) return no_gradients(node);
  if (touches_complex(node)) return pullback_through_parts(node, cotangents);
  const Variable &x = node.input(0), &y = node.input(1);
  // The gradient of an operand that was used for every batch is a sum over the batches.
  auto fitted = [](const Variable& input, Variable gradient) {
    std::vector<int> repeated;
    for (int axis = 0; axis + 2 < input.ndim(); ++axis)
      if (input.tensor().broadcasts(axis) && gradient.static_shape()[std::size_t(axis)] != 1) repeated.push_back(axis);
    if (!repeated.empty()) gradient = sum(gradient, repeated, KeepDims::Yes);
    return with_static_shape_of(input, gradient);
  };
  return {fitted(x, (*this)({g, matrix_transposed(y)})), fitted(y, (*this)({matrix_transposed(x), g}))};
}

Variables BatchedDot::pushforward(const Apply& node, std::span<const Variable> tangents) const {
  return product_rule(*this, node, tangents);
}

std::vector<std::vector<bool>> BatchedDot::connection_pattern(const Apply& node) const {
  return connect_first(node, 2);
}

Apply BatchedDot::vectorize(const Apply&, std::span<const Variable> batched) const {
  return make_node(pad_ranks(batched));
}

// A product depends on its own matrices.
std::optional<Array> BatchedDot::dependencies(const Apply&, int, InputDependencies& inputs) const {
  const Dims& lengths = inputs.lengths();
  std::int64_t count = 1;
  for (std::size_t axis = 0; axis + 2 < lengths.size(); ++axis) count *= lengths[axis];
  const auto in_batch = [&](const std::optional<Array>& given) -> std::optional<Array> {
    if (!given) return std::nullopt;
    Dims whole = lengths;
    for (std::size_t axis : {lengths.size() - 2, lengths.size() - 1}) whole[axis] = given->shape()[axis];
    return flat_batch(given->broadcast_to(whole).contiguous());
  };
  const std::optional<Array> sets[] = {in_batch(inputs.of(0)), in_batch(inputs.of(1))},
                             values[] = {in_batch(inputs.value(0)), in_batch(inputs.value(1))};
  const auto factor = [&](int input, std::int64_t k) {
    const auto part = [&](const std::optional<Array>& all) {
      return all ? std::optional(all->take_index(0, k)) : std::nullopt;
    };
    return Factor(lengths[lengths.size() - 2 + std::size_t(input)], part(sets[input]), part(values[input]), input == 1);
  };
  const Array out = Array::zeros(DType::Int64, lengths);
  if (out.size() == 0) return out;
  const Array products = flat_batch(out);
  for (std::int64_t k = 0; k < count; ++k) {
    products.take_index(0, k).assign(product_dependencies(inputs.sets(), factor(0, k), factor(1, k)));
  }
  return out;
}

// ---- public functions -----------------------------------------------------------------------------------------------

Variable dot(const Operand& x, const Operand& y) {
  LocationScope here(x.where);
  if (x.ndim() == 0 || y.ndim() == 0) return mul(x, y);
  // As in numpy.dot, the sum is over the last dimension of x and the last but one of y.
  if (x.ndim() > 2 || y.ndim() > 2) return tensordot(x, y, {x.ndim() - 1}, {std::max(y.ndim() - 2, 0)});
  return (*make_ref<Dot>())({x.variable, y.variable});
}

Variable matmul(const Operand& x, const Operand& y) {
  LocationScope here(x.where);
  for (auto* input : {&x, &y})
    if (input->ndim() == 0)
      throw ValueError(cat("matmul: the scalar ", input->variable.str(), " has no dimension to sum over"));
  if (x.ndim() <= 2 && y.ndim() <= 2) return (*make_ref<Dot>())({x.variable, y.variable});
  return general_product(x.variable, x.ndim() == 1, y.variable, y.ndim() == 1);
}

Variable outer(const Operand& x, const Operand& y) {
  LocationScope here(x.where);
  return mul(column_of(flatten(x)), row_of(flatten(y)));
}

namespace {

constexpr auto any = unknown_length;

std::vector<Sample> dot_samples() {
  std::vector<Sample> out;
  auto add = [&](DType a, const Dims& x, DType b, const Dims& y) {
    const Dims x_type(x.size(), any), y_type(y.size(), any);
    out.push_back({make_ref<Dot>()->make_node({{sample_input(a, x_type), sample_input(b, y_type)}}),
                   {sample_values(a, x), sample_values(b, y, 1)}});
  };
  const DType f64 = DType::Float64, f32 = DType::Float32;
  add(f64, {3, 4}, f64, {4, 2});
  add(f64, {3, 4}, f64, {4});
  add(f64, {4}, f64, {4, 2});
  add(f64, {4}, f64, {4});
  add(f32, {2, 3}, f32, {3, 2});
  add(DType::Int32, {2, 3}, DType::Int32, {3, 2});
  add(DType::Bool, {2, 3}, DType::Bool, {3});
  add(f32, {2, 3}, f64, {3, 1});
  add(f64, {2, 0}, f64, {0, 3});
  add(f64, {0, 2}, f64, {2, 3});
  // A transposed factor is read in place.
  auto x = sample_input(f64, {any, any}), y = sample_input(f64, {any, any});
  out.push_back(
      {make_ref<Dot>()->make_node({{transpose(x), y}}), {sample_values(f64, {4, 3}), sample_values(f64, {4, 2}, 1)}});
  return out;
}

std::vector<Sample> batched_samples() {
  std::vector<Sample> out;
  auto add = [&](DType dtype, const Dims& x_type, const Dims& x, const Dims& y_type, const Dims& y) {
    out.push_back({make_ref<BatchedDot>()->make_node({{sample_input(dtype, x_type), sample_input(dtype, y_type)}}),
                   {sample_values(dtype, x), sample_values(dtype, y, 1)}});
  };
  add(DType::Float64, {any, any, any}, {2, 3, 4}, {any, any, any}, {2, 4, 2});
  add(DType::Float64, {1, any, any}, {1, 3, 4}, {any, any, any}, {3, 4, 2});
  add(DType::Float32, {any, any, any}, {2, 2, 3}, {1, any, any}, {1, 3, 2});
  add(DType::Int16, {any, any, any}, {2, 2, 3}, {any, any, any}, {2, 3, 2});
  add(DType::Float64, {any, any, any, any}, {2, 1, 2, 2}, {1, 1, any, any}, {1, 1, 2, 3});
  return out;
}

const RegisterOp register_dot("Dot", "Products of vectors and matrices.", dot_samples, make_op<Dot>);
const RegisterOp register_batched_dot("BatchedDot", "Products of stacks of matrices.", batched_samples,
                                      make_op<BatchedDot>);

}  // namespace
}  // namespace bitale
