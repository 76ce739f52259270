// The transforms of fourier.hpp: each converts complex numbers to pairs of real ones, transforms these along one axis
// after the other, and converts them back.
#include "bitale/ops/fourier.hpp"

#include <numeric>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/arrange.hpp"
#include "bitale/ops/complex.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/complex/pairs.hpp"
#include "ops/reductions/reduce.hpp"
#include "ops/signal/fft.hpp"

namespace bitale::fourier {

namespace {

enum class Direction { Forward, Inverse };

Variable half_and_one(const Variable& n) {
  return lengths::add(lengths::floor_div(n, int64_constant(2)), int64_constant(1));
}

// x with n elements along an axis: cut, or with zeros at its end.
Variable with_elements(const Variable& x, int axis, const Variable& n) {
  const Variable own = length_of(x, axis), missing = lengths::max(lengths::sub(n, own), int64_constant(0));
  const Variable cut = subtensor(x, slice_at_axis(Slice{{}, Operand(n), {}}, axis));
  if (const auto known = known_integer(missing); known && *known == 0) return cut;
  Shape zeros = lengths_of(cut);
  zeros[std::size_t(axis)] = missing;
  const Variable out = join(axis, {cut, alloc(cast(Operand(0), x.dtype()), Operands(zeros))});
  std::vector<std::optional<Operand>> lengths(std::size_t(x.ndim()));
  lengths[std::size_t(axis)] = Operand(n);
  return specify_shape(out, lengths);
}

Variable with_requested(const Variable& x, int axis, const std::optional<Operand>& n, const char* who) {
  return n ? with_elements(x, axis, as_length(n->variable, who)) : x;
}

// By which number a transform of n elements is divided; null: by none.
Variable divisor(const Variable& n, Norm norm, Direction direction) {
  if (norm == Norm::Ortho) return sqrt(cast(n, DType::Float64));
  return (norm == Norm::Backward) == (direction == Direction::Inverse) ? cast(n, DType::Float64) : Variable();
}

Variable divided_by_norm(const Variable& x, const Variable& n, Norm norm, Direction direction) {
  const Variable by = divisor(n, norm, direction);
  return by.defined() ? true_div(x, cast(by, x.dtype())) : x;
}

// A tensor with pairs along its last axis, transformed along another one.
Variable transformed_pairs(const Variable& pairs, int axis, Norm norm, Direction direction) {
  const Variable moved = moveaxis(pairs, axis, -2);
  const Variable out = transform_of_pairs(moved, direction == Direction::Inverse);
  return moveaxis(divided_by_norm(out, length_of(pairs, axis), norm, direction), -2, axis);
}

// A real tensor, transformed along an axis to pairs along a new last axis; and the n real numbers of such a transform.
Variable pairs_of_reals(const Variable& x, int axis, Norm norm) {
  const Variable out = transform_of_reals(moveaxis(x, axis, -1));
  return moveaxis(divided_by_norm(out, length_of(x, axis), norm, Direction::Forward), -2, axis);
}
Variable reals_of_pairs(const Variable& pairs, int axis, const Variable& n, Norm norm) {
  const Variable half = with_elements(pairs, axis, half_and_one(n));
  const Variable out = reals_of_transform(moveaxis(half, axis, -2), n);
  return moveaxis(divided_by_norm(out, n, norm, Direction::Inverse), -1, axis);
}

void require_real(const Operand& x, const char* who) {
  if (is_complex(x.dtype()))
    throw TypeError(cat(who, ": expected real numbers, got ", x.variable.str(), " of dtype ", dtype_name(x.dtype())));
}

Norm opposite(Norm norm) {
  return norm == Norm::Backward ? Norm::Forward : norm == Norm::Forward ? Norm::Backward : norm;
}

Variable complex_line(const Operand& x, const LineOptions& options, Direction direction, const char* who) {
  const LocationScope here(x.where);
  const int axis = normal_axis(options.axis, x.ndim(), who);
  const Variable line = with_requested(x.variable, axis, options.n, who);
  return of_pairs(transformed_pairs(as_pairs(line), axis, options.norm, direction));
}

// The number of real elements that the halves of their transform stand for.
Variable real_count(const Variable& x, int axis, const std::optional<Operand>& n, const char* who) {
  if (n) return as_length(n->variable, who);
  return lengths::mul(lengths::sub(length_of(x, axis), int64_constant(1)), int64_constant(2));
}

// The axes of a transform, and the length of each, where it is given.
struct Grid {
  std::vector<int> axes;
  std::vector<std::optional<Operand>> lengths;
};
Grid grid_of(const Operand& x, const GridOptions& options, const char* who) {
  Grid out;
  if (options.axes) {
    out.axes = *options.axes;
  } else {
    const int count = options.s ? int(options.s->size()) : x.ndim();
    for (int k = 0; k < count; ++k) out.axes.push_back(k - count);
  }
  for (int& axis : out.axes) axis = normal_axis(axis, x.ndim(), who);
  if (options.s && options.s->size() != out.axes.size())
    throw ValueError(
        cat(who, ": expected a length for each of the ", out.axes.size(), " axes, got ", options.s->size()));
  out.lengths.resize(out.axes.size());
  for (std::size_t k = 0; options.s && k < out.axes.size(); ++k) out.lengths[k] = (*options.s)[k];
  return out;
}

Variable complex_grid(const Operand& x, const GridOptions& options, Direction direction, const char* who) {
  const LocationScope here(x.where);
  const Grid grid = grid_of(x, options, who);
  if (grid.axes.empty()) return is_complex(x.dtype()) ? x.variable : complex(x, 0);
  Variable value = x.variable;
  for (std::size_t k = 0; k < grid.axes.size(); ++k) value = with_requested(value, grid.axes[k], grid.lengths[k], who);
  Variable pairs = as_pairs(value);
  for (std::size_t k = grid.axes.size(); k-- > 0;)
    pairs = transformed_pairs(pairs, grid.axes[k], options.norm, direction);
  return of_pairs(pairs);
}

Variable real_grid(const Operand& x, const GridOptions& options, const char* who) {
  const LocationScope here(x.where);
  require_real(x, who);
  const Grid grid = grid_of(x, options, who);
  if (grid.axes.empty()) throw ValueError(cat(who, ": expected at least one axis"));
  Variable value = x.variable;
  for (std::size_t k = 0; k < grid.axes.size(); ++k) value = with_requested(value, grid.axes[k], grid.lengths[k], who);
  Variable pairs = pairs_of_reals(value, grid.axes.back(), options.norm);
  for (std::size_t k = grid.axes.size() - 1; k-- > 0;)
    pairs = transformed_pairs(pairs, grid.axes[k], options.norm, Direction::Forward);
  return of_pairs(pairs);
}

Variable inverse_real_grid(const Operand& x, const GridOptions& options, const char* who) {
  const LocationScope here(x.where);
  const Grid grid = grid_of(x, options, who);
  if (grid.axes.empty()) throw ValueError(cat(who, ": expected at least one axis"));
  Variable value = x.variable;
  for (std::size_t k = 0; k + 1 < grid.axes.size(); ++k)
    value = with_requested(value, grid.axes[k], grid.lengths[k], who);
  const Variable n = real_count(value, grid.axes.back(), grid.lengths.back(), who);
  Variable pairs = with_elements(as_pairs(value), grid.axes.back(), half_and_one(n));
  for (std::size_t k = 0; k + 1 < grid.axes.size(); ++k)
    pairs = transformed_pairs(pairs, grid.axes[k], options.norm, Direction::Inverse);
  return reals_of_pairs(pairs, grid.axes.back(), n, options.norm);
}

Variable shifted_by_half(const Operand& x, const Axes& axes, bool back, const char* who) {
  const LocationScope here(x.where);
  Variable out = x.variable;
  for (const int axis : axes_or_all(who, axes, x.ndim())) {
    const Variable half = lengths::floor_div(length_of(x.variable, axis), int64_constant(2));
    out = roll(out, back ? lengths::sub(int64_constant(0), half) : half, axis);
  }
  return out;
}

Variable frequencies(const Variable& indices, const Variable& n, const Operand& d, std::optional<DType> dtype) {
  if (is_complex(d.dtype())) throw TypeError("fftfreq: expected a real distance d");
  const Variable step = true_div(1.0, mul(cast(n, DType::Float64), cast(d, DType::Float64)));
  return cast(mul(cast(indices, DType::Float64), step), dtype.value_or(config::float_x()));
}

}  // namespace

Variable fft(const Operand& x, const LineOptions& options) {
  return complex_line(x, options, Direction::Forward, "fft");
}
Variable ifft(const Operand& x, const LineOptions& options) {
  return complex_line(x, options, Direction::Inverse, "ifft");
}

Variable rfft(const Operand& x, const LineOptions& options) {
  const LocationScope here(x.where);
  require_real(x, "rfft");
  const int axis = normal_axis(options.axis, x.ndim(), "rfft");
  return of_pairs(pairs_of_reals(with_requested(x.variable, axis, options.n, "rfft"), axis, options.norm));
}

Variable irfft(const Operand& x, const LineOptions& options) {
  const LocationScope here(x.where);
  const int axis = normal_axis(options.axis, x.ndim(), "irfft");
  return reals_of_pairs(as_pairs(x.variable), axis, real_count(x.variable, axis, options.n, "irfft"), options.norm);
}

Variable hfft(const Operand& x, const LineOptions& options) {
  const LocationScope here(x.where);
  return irfft(conj(x), {.n = options.n, .axis = options.axis, .norm = opposite(options.norm)});
}

Variable ihfft(const Operand& x, const LineOptions& options) {
  const LocationScope here(x.where);
  require_real(x, "ihfft");
  return conj(rfft(x, {.n = options.n, .axis = options.axis, .norm = opposite(options.norm)}));
}

Variable fftn(const Operand& x, const GridOptions& options) {
  return complex_grid(x, options, Direction::Forward, "fftn");
}
Variable ifftn(const Operand& x, const GridOptions& options) {
  return complex_grid(x, options, Direction::Inverse, "ifftn");
}
Variable rfftn(const Operand& x, const GridOptions& options) { return real_grid(x, options, "rfftn"); }
Variable irfftn(const Operand& x, const GridOptions& options) { return inverse_real_grid(x, options, "irfftn"); }
Variable fft2(const Operand& x, const GridOptions& options) {
  return complex_grid(x, options, Direction::Forward, "fft2");
}
Variable ifft2(const Operand& x, const GridOptions& options) {
  return complex_grid(x, options, Direction::Inverse, "ifft2");
}
Variable rfft2(const Operand& x, const GridOptions& options) { return real_grid(x, options, "rfft2"); }
Variable irfft2(const Operand& x, const GridOptions& options) { return inverse_real_grid(x, options, "irfft2"); }

Variable fftfreq(const Operand& n, const Operand& d, std::optional<DType> dtype) {
  const LocationScope here(n.where);
  const Variable count = as_length(n.variable, "fftfreq"), half = lengths::floor_div(count, int64_constant(2));
  const Variable indices = arange(count), rest = lengths::sub(count, half);
  return frequencies(switch_(lt(indices, rest), indices, sub(indices, count)), count, d, dtype);
}

Variable rfftfreq(const Operand& n, const Operand& d, std::optional<DType> dtype) {
  const LocationScope here(n.where);
  const Variable count = as_length(n.variable, "rfftfreq");
  return frequencies(arange(half_and_one(count)), count, d, dtype);
}

Variable fftshift(const Operand& x, const Axes& axes) { return shifted_by_half(x, axes, false, "fftshift"); }
Variable ifftshift(const Operand& x, const Axes& axes) { return shifted_by_half(x, axes, true, "ifftshift"); }

}  // namespace bitale::fourier
