#include "ops/indexing/segment_scatter.hpp"

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "bitale/ops/segments.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/array_loops.hpp"
#include "ops/indexing/segment_sum.hpp"
#include "ops/linalg/blockwise.hpp"
#include "ops/sample_values.hpp"

namespace bitale {

namespace {

constexpr const char* who = "segment_scatter";

void require_integers(const Variable& x, const char* what) {
  if (!is_integer(x.dtype()) || x.dtype() == DType::Bool || x.ndim() != 1)
    throw TypeError(
        cat(who, ": expected ", what, " that are a vector of integers, got ", x.str(), " of type ", x.type()->str()));
}

// Bounds of parts that have all elements, of which there are `count`, or as many as columns; and the columns.
void check(const Array& bounds, const Array& columns, std::int64_t count, std::int64_t width) {
  check_segment_bounds(bounds, count, who);
  const Array column = columns.astype(DType::Int64).contiguous(), ends = bounds.astype(DType::Int64).contiguous();
  const auto* const at = ends.data_as<std::int64_t>();
  const std::int64_t last = at[ends.size() - 1];
  if (at[0] != 0 || last != column.size() || (count != unknown_length && last != count))
    throw ValueError(cat(who, ": expected bounds from 0 to the number of elements, ",
                         count == unknown_length ? column.size() : count, ", and as many columns, got bounds from ",
                         at[0], " to ", last, " and ", column.size(), " columns"));
  for (std::int64_t k = 0; k < column.size(); ++k)
    if (const std::int64_t at = column.data_as<std::int64_t>()[k]; at < 0 || at >= width)
      throw IndexError(cat(who, ": column ", at, " of element ", k, " is out of range for rows of length ", width));
}

bool is_known(const Apply& node) { return node.input(1).is_constant() && node.input(2).is_constant(); }

}  // namespace

Apply SegmentScatter::make_node(std::span<const Variable> inputs) const {
  require_inputs(*this, inputs, 3);
  const Variable &x = inputs[0], &bounds = inputs[1], &columns = inputs[2];
  if (x.ndim() != 1 || (x.dtype() != DType::Float32 && x.dtype() != DType::Float64))
    throw TypeError(cat(who, ": expected a vector of float32 or float64, got ", x.str(), " of type ", x.type()->str()));
  require_integers(bounds, "bounds");
  require_integers(columns, "columns");
  if (width < 1) throw ValueError(cat(who, ": expected rows of at least one column, got ", width));
  if (bounds.is_constant() && columns.is_constant())
    check(*bounds.constant(), *columns.constant(), x.static_shape()[0], width);
  const std::int64_t count = bounds.static_shape()[0];
  return Apply(OpRef(this), {x, bounds, columns},
               {tensor_type(x.dtype(), {count == unknown_length ? unknown_length : count - 1, width})});
}

std::vector<Shape> SegmentScatter::infer_shape(const Apply&, std::span<const Shape> inputs) const {
  return {{lengths::sub(inputs[1][0], int64_constant(1)), int64_constant(width)}};
}

void SegmentScatter::perform(const Apply&, std::span<const Array> in, std::span<Array> out) const {
  check(in[1], in[2], in[0].shape(0), width);
  const Array x = in[0].contiguous(), bounds = in[1].astype(DType::Int64).contiguous(),
              columns = in[2].astype(DType::Int64).contiguous();
  const auto *at = bounds.data_as<std::int64_t>(), *column = columns.data_as<std::int64_t>();
  const std::int64_t parts = bounds.size() - 1;
  out[0] = Array::zeros(x.dtype(), {parts, width});
  visit_dtype(x.dtype(), [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>) {
      T* const to = out[0].mutable_data_as<T>();
      for (std::int64_t part = 0; part < parts; ++part)
        for (std::int64_t k = at[part]; k < at[part + 1]; ++k) to[part * width + column[k]] += x.data_as<T>()[k];
    }
  });
}

// Only of positions that are known, which need no check in a call.
bool SegmentScatter::emit(Lowering& to, const Apply& node) const {
  if (!is_known(node)) return false;
  const std::int64_t parts = node.input(1).static_shape()[0] - 1;
  const std::int64_t position[] = {parts};
  to.require(equal(to.shape_in(0)[0],
                   to.pool().integer(std::int64_t(node.input(1).constant()->astype(DType::Int64).at(position)))),
             cat(who, ": expected as many elements as the bounds say"));
  const auto integer_in = [&to](int input, Expr at) {
    const Expr index[] = {at};
    return program::cast(to.in(input, index), DType::Int64);
  };
  const auto begin_of = [integer_in](Expr part) { return integer_in(1, part); };
  const std::vector<Expr> lengths(to.shape_out(0).begin(), to.shape_out(0).end());
  const auto everywhere = [](Index at) { return std::vector<Expr>(at.begin(), at.end()); };
  const Expr zero = to.pool().number(0.0, node.input(0).dtype());
  Piece elements{{lengths[0], to.pool().integer(0)},
                 [integer_in, begin_of](Index at) {
                   return std::vector<Expr>{at[0], integer_in(2, begin_of(at[0]) + at[1])};
                 },
                 [&to, begin_of](Index at) {
                   const Expr index[] = {begin_of(at[0]) + at[1]};
                   return to.in(0, index);
                 },
                 program::Combiner::add,
                 {1, [begin_of](Index before) { return begin_of(before[0] + 1) - begin_of(before[0]); }}};
  to.assemble(0, std::nullopt, {Piece{lengths, everywhere, [zero](Index) { return zero; }}, std::move(elements)});
  return true;
}

void SegmentScatter::emit_tensors(TensorLowering& to, const Apply& node) const {
  const Variable& x = node.input(0);
  const Variable part = segment_ids(node.input(1), length_of(x, 0));
  const Variable rows = zeros(Operands({length_of(node.input(1), 0) - 1, int64_constant(width)}), x.dtype());
  to.express({inc_subtensor(rows, {IndexItem(part), IndexItem(node.input(2))}, x)});
}

Variables SegmentScatter::pullback(const Apply& node, std::span<const Variable> cotangents) const {
  Variables out = no_gradients(node);
  const Variable& g = cotangents[0];
  if (g.is_disconnected()) return out;
  const Variable part = segment_ids(node.input(1), length_of(node.input(0), 0));
  out[0] = with_static_shape_of(node.input(0), subtensor(g, {IndexItem(part), IndexItem(node.input(2))}));
  return out;
}

Variables SegmentScatter::pushforward(const Apply& node, std::span<const Variable> tangents) const {
  if (tangents[0].is_disconnected()) return {disconnected()};
  return {(*this)({tangents[0], node.input(1), node.input(2)})};
}

Apply SegmentScatter::vectorize(const Apply&, std::span<const Variable> batched) const {
  return blockwise(OpRef(this), "(m),(p),(m)->(q,w)", batched);
}

// ---- samples --------------------------------------------------------------------------------------------------------

namespace {

std::vector<Sample> segment_scatter_samples() {
  std::vector<Sample> out;
  const Array bounds{0, 2, 2, 5, 6}, columns{1, 0, 2, 2, 0, 1};
  for (const DType dtype : {DType::Float64, DType::Float32})
    for (const bool is_constant : {false, true}) {
      const Variable x = sample_input(dtype, {unknown_length});
      std::vector<Array> values{sample_values(dtype, {6})};
      Variables inputs{x};
      for (const Array& each : {bounds, columns.astype(DType::Int32)}) {
        inputs.push_back(is_constant ? constant(each) : sample_input(each.dtype(), {unknown_length}));
        if (!is_constant) values.push_back(each);
      }
      out.push_back({make_ref<SegmentScatter>(3)->make_node(inputs), values});
    }
  return out;
}

BITALE_REGISTER_OP(SegmentScatter,
                   "Sums of the elements of consecutive parts of a vector, at the columns of each part's row.",
                   segment_scatter_samples);

}  // namespace

}  // namespace bitale
