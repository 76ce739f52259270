// Cumulative sums and products (prefix scans), combined sequentially in the dtype of the result, as in NumPy.
#include "ops/reductions/cum_op.hpp"

#include "bitale/core/config.hpp"
#include "bitale/ops/complex.hpp"
#include "bitale/ops/cumulative.hpp"
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/scan.hpp"
#include "graph/dependencies.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/analysis/support_masks.hpp"
#include "ops/array_loops.hpp"
#include "ops/reductions/reduce.hpp"
#include "ops/sample_values.hpp"

namespace bitale {

namespace {

// x reversed along `axis`.
Variable reversed(const Variable& x, int axis) {
  std::vector<IndexItem> items(std::size_t(axis), IndexItem(Slice{}));
  items.push_back(Slice{{}, {}, Operand(constant(Array(std::int64_t(-1))))});
  return subtensor(x, items);
}

Variable accumulated(const Variable& x, int axis, const char* mode) { return (*make_ref<CumOp>(axis, mode))({x}); }
// For each element, the sum of it and all elements after it.
Variable sum_from_here(const Variable& x, int axis) {
  return reversed(accumulated(reversed(x, axis), axis, "add"), axis);
}

// 1 followed by x without its last element, along `axis`.
Variable preceded_by_one(const Variable& x, int axis) {
  Variables row;
  for (int k = 0; k < x.ndim(); ++k) row.push_back(k == axis ? int64_constant(1) : shape_i(x, k));
  std::vector<IndexItem> items(std::size_t(axis), IndexItem(Slice{}));
  items.push_back(Slice{{}, Operand(constant(Array(std::int64_t(-1)))), {}});
  const Variable out = subtensor(join(axis, {alloc(cast(Operand(1), x.dtype()), row), x}), items);
  return with_static_shape_of(x, out);
}

// The solution of y[k] = a[k] y[k-1] + b[k] along `axis`, with y[-1] = 0. Derivatives of cumulative products are
// recurrences of this form. They divide by no element, so they are valid where elements are 0, and to every order.
Variable linear_recurrence(const Variable& a, const Variable& b, int axis) {
  const int ndim = a.ndim();
  std::vector<int> to_front{axis}, back;
  Variables row;
  for (int k = 0; k < ndim; ++k) {
    back.push_back(k < axis ? k + 1 : k == axis ? 0 : k);
    if (k == axis) continue;
    to_front.push_back(k);
    row.push_back(shape_i(a, k));
  }
  const Variable zero = cast(Operand(0), a.dtype());
  const auto solution = scan({.sequences = {dimshuffle(a, to_front), dimshuffle(b, to_front)},
                              .initial = {ScanInitial(row.empty() ? zero : alloc(zero, row))},
                              .name = "linear_recurrence"},
                             [](const Variable& a_k, const Variable& b_k, const Variable& y) { return a_k * y + b_k; });
  return with_static_shape_of(a, dimshuffle(solution.traces[0], back));
}

template <class T>
std::complex<T> product_of_complex(std::complex<T> a, std::complex<T> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

}  // namespace

Apply CumOp::make_node(std::span<const Variable> inputs) const {
  const char* const who = mode == "add" ? "cumsum" : "cumprod";
  if (mode != "add" && mode != "mul")
    throw ValueError(cat("CumOp: expected mode \"add\" or \"mul\", got \"", mode, "\""));
  const Variable& x = single_input(who, inputs);
  if (axis < 0 || axis >= x.ndim())
    throw ValueError(cat(who, ": axis ", axis, " of a tensor with ", x.ndim(), " dimensions"));
  const DType dtype = is_complex(x.dtype()) ? x.dtype() : computing_dtype(accumulated_dtype(x.dtype()));
  return Apply(OpRef(this), {cast(x, dtype)}, {tensor_type(dtype, x.static_shape())});
}

std::vector<Shape> CumOp::infer_shape(const Apply&, std::span<const Shape> inputs) const { return {inputs[0]}; }

void CumOp::perform(const Apply&, std::span<const Array> in, std::span<Array> out) const {
  const Array result = in[0].copy();
  out[0] = result;
  const bool adds = combiner() == program::Combiner::add;
  Dims others = result.shape(), strides = result.strides();
  const std::int64_t count = others[std::size_t(axis)];
  others.erase(std::size_t(axis));
  strides.erase(std::size_t(axis));
  const auto run = [&]<class T>(T (*combine)(T, T)) {
    const std::int64_t step = result.strides()[std::size_t(axis)] / std::int64_t(sizeof(T));
    for_each_offset<1>(others, {strides}, [&](auto& at) {
      T* x = reinterpret_cast<T*>(static_cast<char*>(result.mutable_data()) + at[0]);
      for (std::int64_t i = 1; i < count; ++i) {
        T& here = x[i * step];
        here = combine(x[(i - 1) * step], here);
      }
    });
  };
  if (result.dtype() == DType::Complex64)
    run.operator()<std::complex<float>>(product_of_complex);
  else if (result.dtype() == DType::Complex128)
    run.operator()<std::complex<double>>(product_of_complex);
  else
    visit_dtype(result.dtype(), [&]<class T>() {
      if (adds)
        run.template operator()<T>([](T a, T b) -> T { return sum_of(a, b); });
      else
        run.template operator()<T>([](T a, T b) -> T { return product_of(a, b); });
    });
}

bool CumOp::emit(Lowering& to, const Apply& node) const {
  const auto lengths = to.shape_in(0);
  std::vector<bool> along(lengths.size(), false);
  along[std::size_t(axis)] = true;
  to.scan(0, {program::CarryKind::prefix,
              combiner(),
              {lengths.begin(), lengths.end()},
              std::move(along),
              node.output().dtype(),
              [&to](Index at) { return to.in(0, at); }});
  return true;
}

namespace {

// A prefix scan that combines neighbours in pairs, scans the pairs recursively, and then computes the elements between.
// The work is proportional to the length, the number of rounds to its logarithm.
TensorValue prefix_scan(TensorBuilder& builder, const TensorValue& x, int axis, const ElementwiseRule& combine) {
  const auto along = std::size_t(axis);
  const std::int64_t length = x.lengths[along];
  if (length < 2) return x;
  const Dims ones(x.lengths.size(), 1), zeros(x.lengths.size(), 0);
  const auto every = [&](const TensorValue& of, std::int64_t start, std::int64_t stop, std::int64_t step) {
    Dims from = zeros, to = of.lengths, by = ones;
    from[along] = start;
    to[along] = stop;
    by[along] = step;
    return builder.slice(of, from, to, by);
  };
  const std::int64_t pairs = length / 2;
  const TensorValue together = builder.map(x.dtype, {every(x, 0, 2 * pairs, 2), every(x, 1, 2 * pairs, 2)}, combine);
  const TensorValue odd = prefix_scan(builder, together, axis, combine);
  const std::int64_t behind = (length - 1) / 2;  // number of even positions except the first
  TensorValues even{every(x, 0, 1, 1)};
  if (behind > 0) even.push_back(builder.map(x.dtype, {every(odd, 0, behind, 1), every(x, 2, length, 2)}, combine));
  const TensorValue at_even = builder.concatenate(even, axis);
  const auto spread = [&](const TensorValue& part, std::int64_t first) {
    Dims low = zeros, high = zeros, between = zeros;
    low[along] = first;
    between[along] = 1;
    high[along] = length - first - (2 * part.lengths[along] - 1);
    return builder.pad(part, builder.number(0, x.dtype), low, high, between);
  };
  const TensorValue is_odd =
      builder.map(DType::Bool, {builder.iota(DType::Int64, x.lengths, axis)},
                  [](std::span<const Expr> k) { return program::equal(program::rem(k[0], 2), 1); });
  return builder.map(x.dtype, {is_odd, spread(odd, 1), spread(at_even, 0)},
                     [](std::span<const Expr> in) { return select(in[0], in[1], in[2]); });
}

}  // namespace

void CumOp::emit_tensors(TensorLowering& to, const Apply& node) const {
  TensorBuilder& builder = to.builder();
  const DType dtype = node.output().dtype();
  const TensorValue x = builder.convert(to.in(0), computing_dtype(dtype));
  if (product(x.lengths) == 0) return to.out(0, builder.convert(x, dtype));
  const TensorValue y = prefix_scan(builder, x, axis, [combiner = combiner()](std::span<const Expr> in) {
    return program::combine(combiner, in[0], in[1]);
  });
  to.out(0, builder.convert(y, dtype));
}

std::vector<std::vector<bool>> CumOp::connection_pattern(const Apply& node) const {
  return {{!is_discrete(node.output().dtype())}};
}

Variables CumOp::pullback(const Apply& node, std::span<const Variable> cotangents) const {
  const Variable &x = node.input(0), &g = cotangents[0];
  if (g.is_disconnected() || is_discrete(x.dtype())) return {disconnected()};
  if (mode == "add") return {with_static_shape_of(x, sum_from_here(g, axis))};
  // d L / d x[i] = p[i-1] r[i], where r[i] = g[i] + x[i+1] r[i+1]; for complex numbers with the conjugates of p and x.
  const Variable factors = is_complex(x) ? conj(x) : x;
  const Variable rest = linear_recurrence(preceded_by_one(reversed(factors, axis), axis),
                                          reversed(with_static_shape_of(x, cast(g, x.dtype())), axis), axis);
  return {with_static_shape_of(x, product_before(factors, axis) * reversed(rest, axis))};
}

Variables CumOp::pushforward(const Apply& node, std::span<const Variable> tangents) const {
  const Variable &x = node.input(0), &t = tangents[0];
  if (t.is_disconnected() || is_discrete(x.dtype())) return {disconnected()};
  if (mode == "add") return {(*this)({t})};
  return {linear_recurrence(x, product_before(x, axis) * with_static_shape_of(x, cast(t, x.dtype())), axis)};
}

std::vector<int> CumOp::support_carriers(const Apply&, int) const {
  return mode == "add" ? std::vector<int>{0} : std::vector<int>();
}

// A sum may be nonzero from the first element on that may be.
Support CumOp::support(const Apply& node, int, std::span<const Support> inputs) const {
  if (!inputs[0].is_masked()) return inputs[0];
  const Variable mask = full_mask(inputs[0], node.input(0));
  return {Support::Kind::masked, gt(cumsum(cast(mask, DType::Int64), axis), 0), true};
}

Apply CumOp::vectorize_along(const Batch& batch) const {
  return make_ref<CumOp>(axis + batch.before(), mode)->make_node(batch.inputs);
}

// ---- public functions -----------------------------------------------------------------------------------------------

namespace {

Variable cumulated(const Operand& x, std::optional<int> axis, const char* mode, const char* who) {
  const LocationScope here(x.where);
  const Variable out =
      axis ? accumulated(x.variable, normal_axis(*axis, x.ndim(), who), mode) : accumulated(flatten(x), 0, mode);
  return is_float(x.dtype()) ? cast(out, x.dtype()) : out;
}

}  // namespace

Variable product_before(const Variable& x, int axis) { return preceded_by_one(accumulated(x, axis, "mul"), axis); }
Variable product_behind(const Variable& x, int axis) { return reversed(product_before(reversed(x, axis), axis), axis); }

Variable cumsum(const Operand& x, std::optional<int> axis) { return cumulated(x, axis, "add", "cumsum"); }
Variable cumprod(const Operand& x, std::optional<int> axis) { return cumulated(x, axis, "mul", "cumprod"); }

// Each element depends on those up to it, unless these sets together become too large.
std::optional<Array> CumOp::dependencies(const Apply&, int, InputDependencies& inputs) const {
  const Array out = inputs.of(0)->copy();
  const Dims& lengths = out.shape();
  std::int64_t step = 1;
  for (std::size_t k = axis + 1; k < lengths.size(); ++k) step *= lengths[k];
  auto* const sets = out.mutable_data_as<std::int64_t>();
  const std::int64_t limit = inputs.sets().size() + max_accumulated_elements;
  for (std::int64_t k = 0; k < out.size(); ++k) {
    if (k / step % lengths[axis] > 0) sets[k] = inputs.sets().united(sets[k - step], sets[k]);
    if (inputs.sets().size() > limit) return std::nullopt;
  }
  return out;
}

namespace {

std::vector<Sample> cum_op_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  auto add = [&](const char* mode, DType dtype, const Dims& type, const Array& value, int axis) {
    const Variable x[] = {sample_input(dtype, type, "x")};
    out.push_back({make_ref<CumOp>(axis, mode)->make_node(x), {value}});
  };
  for (const char* mode : {"add", "mul"}) {
    for (DType dtype : real_dtypes()) add(mode, dtype, {any, 4}, sample_values(dtype, {3, 4}), 1);
    add(mode, DType::Float64, {any, any}, sample_values(DType::Float64, {3, 4}), 0);
    add(mode, DType::Float64, {any, any, any}, sample_values(DType::Float64, {2, 3, 4}), 1);
    add(mode, DType::Float64, {any, 3, 1}, sample_values(DType::Float64, {2, 3, 1}), 1);
    add(mode, DType::Float64, {3, 1}, sample_values(DType::Float64, {3, 1}), 1);
    add(mode, DType::Int32, {any, any}, sample_values(DType::Int32, {5, 37}), 1);
    add(mode, DType::Float32, {any}, sample_values(DType::Float32, {37}), 0);
    add(mode, DType::Float64, {any}, Array{2.0, -3.0, 0.0, 5.0, 0.0, 7.0}, 0);
    add(mode, DType::Float64, {any, any}, sample_values(DType::Float64, {0, 3}), 0);
    add(mode, DType::Float64, {any, any}, sample_values(DType::Float64, {3, 0}), 0);
  }
  return out;
}

BITALE_REGISTER_OP(CumOp, "Sums or products along an axis of all elements up to and including each.", cum_op_samples);

}  // namespace

}  // namespace bitale
