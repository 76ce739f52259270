#include "ops/shapes/arange.hpp"

#include <algorithm>
#include <cmath>

#include "bitale/graph/range.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/lowering.hpp"
#include "ops/sample_values.hpp"

namespace bitale {
namespace {

constexpr std::string_view zero_arange_step = "arange: the step can't be zero";
constexpr std::string_view bad_length = "arange: the bounds and the step give no finite length";

bool integer_bounds(const Apply& node) {
  return is_discrete(node.input(0).dtype()) && is_discrete(node.input(1).dtype()) && is_discrete(node.input(2).dtype());
}

// ceil((stop - start) / step), at least 0. Integers are counted exactly; floats in double precision, as NumPy does.
std::int64_t integer_length(std::int64_t start, std::int64_t stop, std::int64_t step) {
  if (step == 0) throw ValueError(std::string(zero_arange_step));
  if (step > 0 ? start >= stop : start <= stop) return 0;
  const auto distance =
      step > 0 ? std::uint64_t(stop) - std::uint64_t(start) : std::uint64_t(start) - std::uint64_t(stop);
  const auto size = step > 0 ? std::uint64_t(step) : 0 - std::uint64_t(step);
  return std::int64_t((distance - 1) / size + 1);
}

std::int64_t float_length(double start, double stop, double step) {
  if (step == 0) throw ValueError(std::string(zero_arange_step));
  const double length = std::ceil((stop - start) / step);
  if (!(length < 0x1p62)) throw ValueError(std::string(bad_length));
  return length > 0 ? std::int64_t(length) : 0;
}

std::int64_t length_from(bool integers, const Array& start, const Array& stop, const Array& step) {
  if (integers) return integer_length(start.int_item(), stop.int_item(), step.int_item());
  return float_length(start.item(), stop.item(), step.item());
}

}  // namespace

Apply ARange::make_node(std::span<const Variable> inputs) const {
  require_inputs(*this, inputs, 3);
  for (auto& input : inputs) {
    if (input.ndim() != 0)
      throw TypeError(cat("arange: expected scalars, got ", input.str(), " with ", input.ndim(), " dimensions"));
    if (is_complex(input.dtype())) throw TypeError(cat("arange: complex bound ", input.str()));
  }
  if (dtype == DType::Bool) throw TypeError("arange: bool has no range");
  Apply node(OpRef(this), {inputs.begin(), inputs.end()}, {tensor_type(dtype, Dims{unknown_length})});
  std::int64_t length = unknown_length;
  if (integer_bounds(node)) {
    auto start = known_integer(inputs[0]), stop = known_integer(inputs[1]), step = known_integer(inputs[2]);
    if (step == 0) throw ValueError(std::string(zero_arange_step));
    if (start && stop && step) length = integer_length(*start, *stop, *step);
  } else if (inputs[0].is_constant() && inputs[1].is_constant() && inputs[2].is_constant()) {
    length = length_from(false, *inputs[0].constant(), *inputs[1].constant(), *inputs[2].constant());
  }
  if (length == unknown_length) return node;
  return Apply(OpRef(this), {inputs.begin(), inputs.end()}, {tensor_type(dtype, Dims{length})});
}

std::vector<Shape> ARange::infer_shape(const Apply& node, std::span<const Shape>) const {
  const std::int64_t known = node.output().static_shape()[0];
  if (known != unknown_length) return {{int64_constant(known)}};
  const Variable zero = int64_constant(0);
  if (!integer_bounds(node)) {
    const Variable start = cast(node.input(0), DType::Float64), stop = cast(node.input(1), DType::Float64);
    const Variable length = ceil((stop - start) / cast(node.input(2), DType::Float64));
    return {{cast(maximum(length, 0.0), DType::Int64)}};
  }
  auto as_int64 = [](const Variable& v) {
    auto value = known_integer(v);
    return value ? int64_constant(*value) : cast(v, DType::Int64);
  };
  const Variable start = as_int64(node.input(0)), stop = as_int64(node.input(1)), step = as_int64(node.input(2));
  // ceil(a / b) = -floor(-a / b)
  if (known_integer(step) == 1) return {{lengths::max(lengths::sub(stop, start), zero)}};
  return {{lengths::max(lengths::sub(zero, lengths::floor_div(lengths::sub(start, stop), step)), zero)}};
}

void ARange::perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const {
  const std::int64_t length = length_from(integer_bounds(node), in[0], in[1], in[2]);
  out[0] = Array::empty(dtype, Dims{length});
  const Array start = in[0].astype(dtype), step = in[2].astype(dtype);
  visit_dtype(dtype, [&]<class T>() {
    T* values = out[0].data_as<T>();
    const T first = *start.data_as<T>(), by = *step.data_as<T>();
    for (std::int64_t i = 0; i < length; ++i) {
      if constexpr (is_half<T>)
        values[i] = float(first) + float(i) * float(by);
      else if constexpr (std::is_floating_point_v<T>)
        values[i] = first + T(i) * T(T(first + by) - first);  // as in NumPy, to the last bit
      else
        values[i] = T(std::uint64_t(first) + std::uint64_t(i) * std::uint64_t(by));
    }
  });
}

bool ARange::emit(Lowering& to, const Apply& node) const {
  if (!(integer_bounds(node) && known_integer(node.input(2))))
    to.require(not_equal(cast(to.in(2), computing_dtype(node.input(2).dtype())), 0), std::string(zero_arange_step));
  to.element(
      0,
      [this, &to](Index at) {
        const DType computing = computing_dtype(dtype);
        const auto value = [&](Expr expr) { return cast(expr, computing); };
        const Expr first = value(cast(to.in(0), dtype)), step = value(cast(to.in(2), dtype));
        const Expr apart = dtype == DType::Float64 || dtype == DType::Float32 ? first + step - first : step;
        return cast(first + value(at[0]) * apart, dtype);
      },
      0);
  return true;
}

void ARange::emit_tensors(TensorLowering& to, const Apply& node) const {
  const std::int64_t length = length_from(integer_bounds(node), to.need_known(0, "the start"),
                                          to.need_known(1, "the end"), to.need_known(2, "the step"));
  TensorBuilder& builder = to.builder();
  const DType computing = computing_dtype(dtype);
  const auto scalar = [&](int input) { return builder.convert(builder.convert(to.in(input), dtype), computing); };
  const TensorValue values = builder.map(computing, {builder.iota(computing, {length}, 0), scalar(0), scalar(2)},
                                         [](std::span<const Expr> in) { return in[1] + in[0] * in[2]; });
  to.out(0, builder.convert(values, dtype));
}

// Element i is start + i * step; the length is piecewise constant in all three.
Variables ARange::pullback(const Apply& node, std::span<const Variable> cotangents) const {
  Variables out = no_gradients(node);
  const Variable& g = cotangents[0];
  if (g.is_disconnected() || is_discrete(dtype)) return out;
  const Variable numbers = cast(arange(length_of(node.output(), 0)), dtype);
  auto of_bound = [&](int input, const Variable& gradient) {
    const DType own = node.input(input).dtype();
    return is_discrete(own) ? constant(Array::zeros(dtype, Dims{})) : cast(gradient, own);
  };
  out[0] = of_bound(0, sum(g));
  out[2] = of_bound(2, sum(g * numbers));
  return out;
}

Variables ARange::pushforward(const Apply& node, std::span<const Variable> tangents) const {
  if (is_discrete(dtype) || (tangents[0].is_disconnected() && tangents[2].is_disconnected())) return {disconnected()};
  const Variable numbers = cast(arange(length_of(node.output(), 0)), dtype);
  Variable out;
  if (!tangents[2].is_disconnected()) out = numbers * cast(tangents[2], dtype);
  if (!tangents[0].is_disconnected())
    out =
        out.defined() ? out + cast(tangents[0], dtype) : alloc(cast(tangents[0], dtype), {length_of(node.output(), 0)});
  return {out};
}

std::vector<std::vector<bool>> ARange::connection_pattern(const Apply&) const {
  const bool connected = !is_discrete(dtype);
  return {{connected}, {false}, {connected}};
}

Apply ARange::vectorize(const Apply& node, std::span<const Variable> batched) const {
  if (common_batch_ndim(node, batched) != 0)
    throw NotImplementedError("ARange: vectorize over the bounds, which would give rows of different lengths");
  return make_node(batched);
}

Range ARange::range(const Apply&, int, InputRanges& inputs) const {
  if (!is_discrete(dtype)) return {};  // rounding may go beyond stop
  const Range start = inputs.of(0), stop = inputs.of(1), step = inputs.of(2);
  return {step.is_positive() ? start.low : std::min(start.low, stop.low),
          step.is_negative() ? start.high : std::max(start.high, stop.high)};
}

bool ARange::may_fold(const Apply& node) const {
  const std::int64_t length = node.output().static_shape()[0];
  return length != unknown_length && length <= largest_folded_size;
}

// ---- public functions -----------------------------------------------------------------------------------------------

Variable arange(const Operand& stop) {
  LocationScope here(stop.where);
  return arange(Operand::number(std::int64_t(0)), stop, Operand::number(std::int64_t(1)));
}

Variable arange(const Operand& start, const Operand& stop, const Operand& step, std::optional<DType> dtype) {
  LocationScope here(start.where);
  if (!dtype) {
    // Small integer dtypes would overflow: integers count in 64 bits.
    // Promotion is pairwise, as in PyTensor: int8 and uint16 give int32, which with float32 gives float64.
    dtype = promote(promote(start.dtype(), stop.dtype()), step.dtype());
    if (kind(*dtype) == DTypeKind::UInt)
      dtype = DType::UInt64;
    else if (is_discrete(*dtype))
      dtype = DType::Int64;
  }
  return (*make_ref<ARange>(*dtype))({start.variable, stop.variable, step.variable});
}

namespace {

std::vector<Sample> arange_samples() {
  auto n = sample_input(DType::Int64, {}), m = sample_input(DType::Int64, {}), k = sample_input(DType::Int64, {});
  auto a = sample_input(DType::Float64, {}), b = sample_input(DType::Float64, {}), c = sample_input(DType::Float64, {});
  auto whole = make_ref<ARange>(DType::Int64);
  auto real = make_ref<ARange>(DType::Float64);
  auto count = [](std::int64_t value) { return Array(value); };
  return {{whole->make_node({{int64_constant(0), n, int64_constant(1)}}), {count(5)}},
          {whole->make_node({{n, m, k}}), {count(7), count(-2), count(-3)}},
          {whole->make_node({{n, m, k}}), {count(3), count(3), count(2)}},
          {make_ref<ARange>(DType::Int16)->make_node({{int64_constant(2), int64_constant(11), int64_constant(3)}}), {}},
          {real->make_node({{a, b, c}}), {Array(0.25), Array(2.1), Array(0.5)}}};
}

REGISTER_OP(ARange, "Evenly spaced numbers from start, before stop.", arange_samples);

}  // namespace
}  // namespace bitale
