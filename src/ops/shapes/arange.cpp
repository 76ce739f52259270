#include "ops/shapes/arange.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bitale/graph/range.hpp"
#include "bitale/ops/debugging.hpp"
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/sample_values.hpp"

namespace bitale {
namespace {

constexpr std::string_view zero_arange_step = "arange: the step can't be zero";
constexpr std::string_view bad_length = "arange: the bounds and the step give no finite length";
constexpr std::string_view too_long =
    "arange: expected bounds less than 2**64 apart, with less than 2**63 elements between them; give a larger step, or "
    "bounds that are closer together";

bool integer_bounds(const Apply& node) {
  return is_discrete(node.input(0).dtype()) && is_discrete(node.input(1).dtype()) && is_discrete(node.input(2).dtype());
}

// An integer of any dtype: int64 can't represent each uint64, nor uint64 each int64.
struct Bound {
  std::uint64_t bits;
  bool negative;
};

Bound bound_of(const Array& value) {
  const std::int64_t bits = value.int_item();
  return {std::uint64_t(bits), value.dtype() != DType::UInt64 && bits < 0};
}

bool is_below(const Bound& a, const Bound& b) { return a.negative != b.negative ? a.negative : a.bits < b.bits; }

// ceil((stop - start) / step), at least 0. Integers are counted exactly, by the distance of the bounds, which int64
// need not represent; floats in double precision, as NumPy does.
std::int64_t integer_length(const Bound& start, const Bound& stop, const Bound& step) {
  if (step.bits == 0) throw ValueError(std::string(zero_arange_step));
  const Bound &low = step.negative ? stop : start, &high = step.negative ? start : stop;
  if (!is_below(low, high)) return 0;
  const std::uint64_t distance = high.bits - low.bits, size = step.negative ? 0 - step.bits : step.bits;
  const bool is_wrapped = low.negative && !high.negative && distance < high.bits;
  const std::uint64_t length = (distance - 1) / size + 1;
  if (is_wrapped || length > std::uint64_t(std::numeric_limits<std::int64_t>::max()))
    throw ValueError(std::string(too_long));
  return std::int64_t(length);
}

std::int64_t float_length(double start, double stop, double step) {
  if (step == 0) throw ValueError(std::string(zero_arange_step));
  const double length = std::ceil((stop - start) / step);
  if (!(length < 0x1p62)) throw ValueError(std::string(bad_length));
  return length > 0 ? std::int64_t(length) : 0;
}

std::int64_t length_from(bool integers, const Array& start, const Array& stop, const Array& step) {
  if (integers) return integer_length(bound_of(start), bound_of(stop), bound_of(step));
  return float_length(start.item(), stop.item(), step.item());
}

// The value of a bound that is known when the graph is built.
std::optional<Array> known_value(const Variable& bound) {
  if (bound.is_constant()) return *bound.constant();
  if (const auto value = known_integer(bound)) return Array(*value);
  return {};
}

// The step, which a call fails without if it is 0.
Variable nonzero_step(const Variable& step) {
  if (known_value(step)) return step;
  return check_and_raise(step, {neq(step, 0)}, "ValueError", std::string(zero_arange_step));
}

bool is_narrow(const Variable& bound) { return itemsize(bound.dtype()) < 8; }

// Whether an expression is a bound in either dtype, int64 and uint64.
bool fits_both(const Variable& bound) { return is_never_negative(bound) || kind(bound.dtype()) == DTypeKind::Bool; }

// a < b, for integers of any dtypes.
Variable is_below(const Variable& a, const Variable& b) {
  const auto as = [](const Variable& v, DType dtype) { return cast(v, dtype); };
  const bool a_unsigned = a.dtype() == DType::UInt64, b_unsigned = b.dtype() == DType::UInt64;
  if (!a_unsigned && !b_unsigned) return lt(as(a, DType::Int64), as(b, DType::Int64));
  const Variable by_bits = lt(as(a, DType::UInt64), as(b, DType::UInt64));
  if (!a_unsigned && !fits_both(a)) return or_(lt(a, 0), by_bits);
  if (!b_unsigned && !fits_both(b)) return and_(ge(b, 0), by_bits);
  return by_bits;
}

// The length as integer_length computes it, of bounds that only a call knows.
Variable exact_length(const Variable& start, const Variable& stop, const Variable& given_step) {
  const Variable step = nonzero_step(given_step);
  const auto bits = [](const Variable& v) { return cast(v, DType::UInt64); };
  const Variable none = constant(Array(std::uint64_t(0))), one = constant(Array(std::uint64_t(1)));
  const bool is_up = step.dtype() == DType::UInt64 || fits_both(step);
  const auto known_step = known_integer(step);
  const bool is_down = known_step && *known_step < 0;
  const auto by_sign = [&](const Variable& up, const Variable& down) {
    return is_up ? up : is_down ? down : switch_(lt(step, 0), down, up);
  };
  const Variable is_any = by_sign(is_below(start, stop), is_below(stop, start));
  const Variable apart = by_sign(bits(stop) - bits(start), bits(start) - bits(stop));
  const Variable size = by_sign(bits(step), none - bits(step));
  const Variable length = switch_(is_any, int_div(apart - one, size) + one, none);
  Variable fits = le(length, constant(Array(std::uint64_t(std::numeric_limits<std::int64_t>::max()))));
  const auto is_wrapped = [&](const Variable& low, const Variable& high) {
    return and_(lt(low, 0), lt(apart, bits(high)));
  };
  const auto is_mixed = [&](const Variable& low, const Variable& high) {
    return high.dtype() == DType::UInt64 && low.dtype() != DType::UInt64 && !fits_both(low);
  };
  if (!is_down && is_mixed(start, stop)) fits = and_(fits, invert(and_(is_any, is_wrapped(start, stop))));
  if (!is_up && is_mixed(stop, start)) fits = and_(fits, invert(and_(is_any, is_wrapped(stop, start))));
  return cast(check_and_raise(length, {fits}, "ValueError", std::string(too_long)), DType::Int64);
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
    const auto start = known_value(inputs[0]), stop = known_value(inputs[1]), step = known_value(inputs[2]);
    if (step && step->int_item() == 0) throw ValueError(std::string(zero_arange_step));
    if (start && stop && step) length = length_from(true, *start, *stop, *step);
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
    const Variable length = ceil((stop - start) / cast(nonzero_step(node.input(2)), DType::Float64));
    const Variable checked = check_and_raise(length, {lt(length, 0x1p62)}, "ValueError", std::string(bad_length));
    return {{cast(maximum(checked, 0.0), DType::Int64)}};
  }
  const auto known_step = known_integer(node.input(2));
  const auto is_int64 = [](const Variable& v) { return v.dtype() != DType::UInt64 || known_integer(v); };
  const bool is_exact = (is_narrow(node.input(0)) && is_narrow(node.input(1)) && is_int64(node.input(2))) ||
                        (known_step && *known_step > 0 && is_never_negative(node.input(0)) && is_int64(node.input(1)));
  if (!is_exact) return {{exact_length(node.input(0), node.input(1), node.input(2))}};
  // Differences that int64 represents: the expressions that other lengths are compared with.
  auto as_int64 = [](const Variable& v) {
    auto value = known_integer(v);
    return value ? int64_constant(*value) : cast(v, DType::Int64);
  };
  const Variable start = as_int64(node.input(0)), step = as_int64(nonzero_step(node.input(2)));
  Variable stop = as_int64(node.input(1));
  if (!is_narrow(node.input(1))) stop = lengths::max(stop, zero);
  // ceil(a / b) = -floor(-a / b)
  if (known_step == 1) return {{lengths::max(lengths::sub(stop, start), zero)}};
  return {{lengths::max(lengths::sub(zero, lengths::floor_div(lengths::sub(start, stop), step)), zero)}};
}

void ARange::perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const {
  const std::int64_t length = length_from(integer_bounds(node), in[0], in[1], in[2]);
  out[0] = Array::empty(dtype, Dims{length});
  const Array start = in[0].astype(dtype), step = in[2].astype(dtype);
  visit_dtype(dtype, [&]<class T>() {
    T* values = out[0].mutable_data_as<T>();
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

bool ARange::emit(Lowering& to, const Apply&) const {
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
  if (Batch{node, batched}.ndim() != 0)
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

BITALE_REGISTER_OP(ARange, "Evenly spaced numbers from start, before stop.", arange_samples);

}  // namespace
}  // namespace bitale
