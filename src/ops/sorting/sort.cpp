#include "ops/sorting/sort.hpp"

#include <cmath>
#include <numeric>

#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/sorting.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/reductions/reduce.hpp"
#include "ops/sample_values.hpp"
#include "runtime/sort.hpp"

namespace bitale {

namespace {

// The rows to sort, in a dtype for which there are functions.
Variable sortable(std::string_view who, std::span<const Variable> inputs) {
  const Variable& x = single_input(who, inputs);
  if (x.ndim() == 0) throw ValueError(cat(who, ": expected at least one dimension, got ", x.str(), " with none"));
  return cast(x, computing_dtype(x.dtype()));
}

struct Rows {
  std::int64_t count, length;
};
Rows rows_of(const Array& x) {
  const std::int64_t length = x.shape(x.ndim() - 1);
  return {length == 0 ? 0 : x.size() / length, length};
}

template <class T>
void sort_rows(Rows rows, const T* from, T* to);
template <class T>
void argsort_rows(Rows rows, const T* from, std::int64_t* to);
#define X(id, name, suffix, T, ...)                                  \
  template <>                                                        \
  void sort_rows<T>(Rows rows, const T* from, T* to) {               \
    bt_sort_##suffix(rows.count, rows.length, from, to);             \
  }                                                                  \
  template <>                                                        \
  void argsort_rows<T>(Rows rows, const T* from, std::int64_t* to) { \
    bt_argsort_##suffix(rows.count, rows.length, from, to);          \
  }
BITALE_SORTED_DTYPES(X)
#undef X

void emit_rows(Lowering& to, const char* function, DType dtype) {
  const auto lengths = to.shape_in(0);
  Expr rows = to.pool().integer(1);
  for (auto& length : lengths.first(lengths.size() - 1)) rows = rows * length;
  to.call(cat(function, dtype_short_name(dtype)), {rows, lengths.back(), InputData{0}, OutputData{0}});
}

// The position in x of y[..., k] = x[..., positions[..., k]].
std::vector<IndexItem> taken_from(const Variable& x, const Variable& positions) {
  std::vector<IndexItem> items;
  const int ndim = x.ndim();
  for (int axis = 0; axis + 1 < ndim; ++axis) {
    std::vector<int> order(std::size_t(ndim), new_axis);
    order[std::size_t(axis)] = 0;
    items.push_back(IndexItem(dimshuffle(arange(length_of(x, axis)), order)));
  }
  items.push_back(IndexItem(positions));
  return items;
}

Variable positions_of(const Variable& x) { return (*make_ref<ArgSortOp>())({x}); }

}  // namespace

// ---- SortOp ---------------------------------------------------------------------------------------------------------

Apply SortOp::make_node(std::span<const Variable> inputs) const {
  const Variable x = sortable("sort", inputs);
  return Apply(OpRef(this), {x}, {tensor_type(x.dtype(), x.static_shape())});
}

std::vector<Shape> SortOp::infer_shape(const Apply&, std::span<const Shape> inputs) const { return {inputs[0]}; }

void SortOp::perform(const Apply&, std::span<const Array> in, std::span<Array> out) const {
  const Array x = in[0].contiguous();
  out[0] = Array::empty(x.dtype(), x.shape());
  visit_dtype(x.dtype(), [&]<class T>() {
    if constexpr (is_half<T>)
      throw InternalError("sort: float16 is cast");
    else
      sort_rows<T>(rows_of(x), static_cast<const T*>(x.data()), static_cast<T*>(out[0].mutable_data()));
  });
}

bool SortOp::emit(Lowering& to, const Apply& node) const {
  emit_rows(to, "bt_sort_", node.output().dtype());
  return true;
}

std::vector<std::vector<bool>> SortOp::connection_pattern(const Apply& node) const {
  return {{!is_discrete(node.output().dtype())}};
}

Variables SortOp::pullback(const Apply& node, std::span<const Variable> cotangents) const {
  const Variable &x = node.input(0), &g = cotangents[0];
  if (g.is_disconnected() || is_discrete(x.dtype())) return {disconnected()};
  return {with_static_shape_of(x, set_subtensor(zeros_like(x), taken_from(x, positions_of(x)), g))};
}

Variables SortOp::pushforward(const Apply& node, std::span<const Variable> tangents) const {
  const Variable &x = node.input(0), &t = tangents[0];
  if (t.is_disconnected() || is_discrete(x.dtype())) return {disconnected()};
  return {with_static_shape_of(x, subtensor(t, taken_from(x, positions_of(x))))};
}

Apply SortOp::vectorize(const Apply&, std::span<const Variable> batched) const { return make_node(batched); }

// ---- ArgSortOp ------------------------------------------------------------------------------------------------------

Apply ArgSortOp::make_node(std::span<const Variable> inputs) const {
  const Variable x = sortable("argsort", inputs);
  return Apply(OpRef(this), {x}, {tensor_type(DType::Int64, x.static_shape())});
}

std::vector<Shape> ArgSortOp::infer_shape(const Apply&, std::span<const Shape> inputs) const { return {inputs[0]}; }

void ArgSortOp::perform(const Apply&, std::span<const Array> in, std::span<Array> out) const {
  const Array x = in[0].contiguous();
  out[0] = Array::empty(DType::Int64, x.shape());
  visit_dtype(x.dtype(), [&]<class T>() {
    if constexpr (is_half<T>)
      throw InternalError("argsort: float16 is cast");
    else
      argsort_rows<T>(rows_of(x), static_cast<const T*>(x.data()), out[0].mutable_data_as<std::int64_t>());
  });
}

bool ArgSortOp::emit(Lowering& to, const Apply& node) const {
  emit_rows(to, "bt_argsort_", node.input(0).dtype());
  return true;
}

namespace {

// The sorted rows, and the original positions of their elements: by value, nan last, stable.
TensorValues sorted_rows(TensorBuilder& builder, const TensorValue& x) {
  const int axis = x.ndim() - 1;
  const TensorValue both[] = {x, builder.iota(DType::Int64, x.lengths, axis)};
  return builder.sort(both, axis, [](std::span<const Expr> at) {
    const Expr less = at[0] < at[1];
    return is_float(at[0].dtype()) ? less | (is_nan(at[1]) & ~is_nan(at[0])) : less;
  });
}
TensorValue comparable(TensorLowering& to) {
  const TensorValue x = to.in(0);
  return to.builder().convert(x, x.dtype == DType::Bool ? DType::UInt8 : computing_dtype(x.dtype));
}

}  // namespace

void SortOp::emit_tensors(TensorLowering& to, const Apply& node) const {
  to.out(0, to.builder().convert(sorted_rows(to.builder(), comparable(to))[0], node.output().dtype()));
}
void ArgSortOp::emit_tensors(TensorLowering& to, const Apply&) const {
  to.out(0, sorted_rows(to.builder(), comparable(to))[1]);
}

Variables ArgSortOp::pullback(const Apply&, std::span<const Variable>) const { return {disconnected()}; }
Variables ArgSortOp::pushforward(const Apply&, std::span<const Variable>) const { return {disconnected()}; }

Apply ArgSortOp::vectorize(const Apply&, std::span<const Variable> batched) const { return make_node(batched); }

// ---- public functions -----------------------------------------------------------------------------------------------

namespace {

template <class RowOp>
Variable along(const Operand& x, std::optional<int> axis, const char* who) {
  const LocationScope here(x.where);
  const auto op = make_ref<RowOp>();
  if (!axis) return (*op)({flatten(x)});
  const int last = x.ndim() - 1, sorted = normal_axis(*axis, x.ndim(), who);
  if (sorted == last) return (*op)({x.variable});
  std::vector<int> order = axes_below(x.ndim());
  std::swap(order[std::size_t(sorted)], order[std::size_t(last)]);
  return dimshuffle((*op)({dimshuffle(x, order)}), order);
}

}  // namespace

Variable sort(const Operand& x, std::optional<int> axis) {
  const LocationScope here(x.where);
  return cast(along<SortOp>(x, axis, "sort"), x.dtype());
}
Variable argsort(const Operand& x, std::optional<int> axis) { return along<ArgSortOp>(x, axis, "argsort"); }

// ---- samples --------------------------------------------------------------------------------------------------------

namespace {

template <class RowOp>
std::vector<Sample> sort_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  auto add = [&](DType dtype, const Dims& type, const Array& value, bool smooth = false) {
    const Variable x[] = {sample_input(dtype, type, "x")};
    out.push_back({make_ref<RowOp>()->make_node(x), {value}, 1e-6, smooth});
  };
  for (DType dtype : real_dtypes()) {
    add(dtype, {any, 4}, sample_values(dtype, {3, 4}), dtype == DType::Float64);
    add(dtype, {any}, sample_values(dtype, {1003}));  // values are repeated
  }
  add(DType::Float64, {any, any, any}, sample_values(DType::Float64, {2, 3, 3}));
  add(DType::Float64, {any, 1}, sample_values(DType::Float64, {3, 1}), true);
  add(DType::Float64, {any, any}, sample_values(DType::Float64, {3, 0}));
  add(DType::Float64, {any, any}, sample_values(DType::Float64, {0, 3}));
  const Array special{std::nan(""), 1.0, -std::nan(""), -HUGE_VAL, 0.0, -0.0, HUGE_VAL, 0.0};
  add(DType::Float64, {any}, special);
  add(DType::Float64, {any}, special.insert_axis(0, 40).reshape({320}));
  return out;
}

BITALE_REGISTER_OP(SortOp, "The last dimension in increasing order, nan last.", sort_samples<SortOp>);
BITALE_REGISTER_OP(
    ArgSortOp, "The positions that sorting the last dimension takes its elements from; equal ones keep their order.",
    sort_samples<ArgSortOp>);

}  // namespace

}  // namespace bitale
