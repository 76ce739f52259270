// The functions of calculus.hpp, as expressions over slices, which fuse with what is around them.
#include "bitale/ops/calculus.hpp"

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/arrange.hpp"
#include "bitale/ops/cumulative.hpp"
#include "bitale/ops/debugging.hpp"
#include "bitale/ops/scan.hpp"
#include "ops/analysis/known_number.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/reductions/reduce.hpp"

namespace bitale {

namespace {

// Polynomials of at most so many coefficients are written out.
constexpr std::int64_t coefficients_written_out = 64;

Variable without_integers(const Operand& x) { return is_discrete(x.dtype()) ? cast(x, DType::Float64) : x.variable; }

// The part x[from:to] along an axis; bounds are Python's.
Variable part_of(const Variable& x, int axis, std::optional<int> from, std::optional<int> to) {
  Slice slice;
  if (from) slice.start = Operand(*from);
  if (to) slice.stop = Operand(*to);
  return subtensor(x, slice_at_axis(slice, axis));
}
Variable part_at(const Variable& x, int axis, int index) {
  return part_of(x, axis, index, index == -1 ? std::nullopt : std::optional<int>(index + 1));
}

// A vector along an axis of a tensor of some rank.
Variable along_axis(const Variable& vector, int axis, int ndim) {
  std::vector<int> order(std::size_t(ndim), new_axis);
  order[std::size_t(axis)] = 0;
  return dimshuffle(vector, order);
}

// The weights of three samples, in a sum that is the derivative at one of them.
struct Weights {
  Variable before, at, after;
};

Variable weighted(const Weights& w, const Variable& before, const Variable& at, const Variable& after) {
  return add(add(mul(w.before, before), mul(w.at, at)), mul(w.after, after));
}

// The derivatives along one axis of points with one distance h.
Variable by_equal_steps(const Variable& f, int axis, const Variable& h, int edge_order) {
  const auto at = [&](int index) { return part_at(f, axis, index); };
  const Variable inner = true_div(sub(part_of(f, axis, 2, {}), part_of(f, axis, {}, -2)), mul(2, h));
  if (edge_order == 1) return join(axis, {true_div(sub(at(1), at(0)), h), inner, true_div(sub(at(-1), at(-2)), h)});
  const Variable first = weighted({true_div(-1.5, h), true_div(2, h), true_div(-0.5, h)}, at(0), at(1), at(2));
  const Variable last = weighted({true_div(0.5, h), true_div(-2, h), true_div(1.5, h)}, at(-3), at(-2), at(-1));
  return join(axis, {first, inner, last});
}

// The derivatives along one axis, where the vector has the distance from each point to the next.
Variable by_steps(const Variable& f, int axis, const Variable& steps, int edge_order) {
  const auto at = [&](int index) { return part_at(f, axis, index); };
  const auto step_at = [&](int index) { return part_at(steps, axis, index); };
  const Variable a = part_of(steps, axis, {}, -1), b = part_of(steps, axis, 1, {}), both = add(a, b);
  const Weights between{neg(true_div(b, mul(a, both))), true_div(sub(b, a), mul(a, b)), true_div(a, mul(b, both))};
  const Variable inner = weighted(between, part_of(f, axis, {}, -2), part_of(f, axis, 1, -1), part_of(f, axis, 2, {}));
  if (edge_order == 1)
    return join(axis, {true_div(sub(at(1), at(0)), step_at(0)), inner, true_div(sub(at(-1), at(-2)), step_at(-1))});
  const auto edge = [](const Variable& near, const Variable& far) {
    const Variable sum_of = add(near, far);
    return Weights{neg(true_div(add(sum_of, near), mul(near, sum_of))), true_div(sum_of, mul(near, far)),
                   neg(true_div(near, mul(far, sum_of)))};
  };
  const Weights start = edge(step_at(0), step_at(1)), end = edge(step_at(-1), step_at(-2));
  const Variable last = neg(weighted(end, at(-1), at(-2), at(-3)));
  return join(axis, {weighted(start, at(0), at(1), at(2)), inner, last});
}

// x, which has `least` elements along an axis: now, if that is known, or in a call.
Variable with_points(const Variable& x, int axis, int least) {
  const std::int64_t length = x.static_shape()[std::size_t(axis)];
  const std::string message = cat("gradient: axis ", axis, " needs at least edge_order + 1 = ", least, " points");
  if (length == unknown_length)
    return check_and_raise(x, {ge(length_of(x, axis), int64_constant(least))}, "ValueError", message);
  if (length < least) throw ValueError(cat(message, ", got ", length));
  return x;
}

Variable component(const Variable& vectors, int i) {
  return subtensor(vectors, {IndexItem(Ellipsis{}), IndexItem(Operand(i))});
}

// The vectors along the last axis.
Variable with_vectors_last(const Operand& x, int axis, const char* what) {
  if (x.ndim() == 0) throw ValueError(cat("cross: expected vectors as ", what, ", got the scalar ", x.variable.str()));
  const Variable out = moveaxis(x, normal_axis(axis, x.ndim(), "cross"), -1);
  const std::int64_t length = out.static_shape().back();
  if (length != unknown_length && length != 3)
    throw ValueError(cat("cross: expected vectors of length 3 as ", what, ", got ", x.variable.str(),
                         " with vectors of length ", length));
  if (length == 3) return out;
  std::vector<std::optional<Operand>> lengths(std::size_t(out.ndim()));
  lengths.back() = Operand(3);
  return specify_shape(out, lengths);
}

}  // namespace

Variable trapezoid(const Operand& y, const std::optional<Operand>& x, const Operand& dx, int axis) {
  const LocationScope here(y.where);
  const Variable values = without_integers(y);
  const int along = normal_axis(axis, y.ndim(), "trapezoid");
  // The default distance is a number without a dtype, so that float16 stays what it is.
  Variable steps = known_number(dx.variable) == 1.0 ? cast(dx, values.dtype()) : dx.variable;
  if (x && x->ndim() == 1)
    steps = along_axis(diff(without_integers(*x)), along, y.ndim());
  else if (x)
    steps = diff(without_integers(*x), 1, axis);
  const Variable heights = add(part_of(values, along, 1, {}), part_of(values, along, {}, -1));
  const Variable areas = true_div(mul(steps, heights), 2);
  return sum(areas, {along - y.ndim()});
}

Variables gradient(const Operand& f, const std::vector<Operand>& spacings, const Axes& axis, int edge_order) {
  const LocationScope here(f.where);
  if (edge_order != 1 && edge_order != 2)
    throw ValueError(cat("gradient: expected an edge_order of 1 or 2, got ", edge_order));
  std::vector<int> axes;
  for (const int each : axis ? *axis : axes_or_all("gradient", axis, f.ndim()))
    axes.push_back(normal_axis(each, f.ndim(), "gradient"));
  normalized_axes("gradient", axes, f.ndim());  // no axis may be given twice
  if (spacings.size() > 1 && spacings.size() != axes.size())
    throw ValueError(
        cat("gradient: expected one spacing, or one for each of the ", axes.size(), " axes, got ", spacings.size()));
  const Variable values = without_integers(f);
  Variables out;
  const auto add_derivative = [&](const Variable& derivative) { out.push_back(cast(derivative, values.dtype())); };
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Variable points = with_points(values, axes[i], edge_order + 1);
    if (spacings.empty()) {
      add_derivative(by_equal_steps(points, axes[i], cast(Operand(1), component_dtype(values.dtype())), edge_order));
      continue;
    }
    const Operand& spacing = spacings[spacings.size() == 1 ? 0 : i];
    if (spacing.ndim() > 1)
      throw ValueError(cat("gradient: expected a scalar or a vector as a spacing, got ", spacing.variable.str(),
                           " with ", spacing.ndim(), " dimensions"));
    if (spacing.ndim() == 0) {
      add_derivative(by_equal_steps(points, axes[i], without_integers(spacing), edge_order));
      continue;
    }
    const Variable points_along = specify_shape(without_integers(spacing), {Operand(length_of(values, axes[i]))});
    add_derivative(by_steps(points, axes[i], along_axis(diff(points_along), axes[i], f.ndim()), edge_order));
  }
  return out;
}

Variable polyval(const Operand& p, const Operand& x) {
  const LocationScope here(p.where);
  if (p.ndim() != 1)
    throw ValueError(
        cat("polyval: expected a vector of coefficients, got ", p.variable.str(), " with ", p.ndim(), " dimensions"));
  const DType dtype = promote(p.dtype(), x.dtype());
  const Variable at = cast(x, dtype), coefficients = cast(p, dtype), nothing = zeros_like(at);
  const std::int64_t count = coefficients.static_shape()[0];
  const auto next = [&](const Variable& coefficient, const Variable& value) {
    return add(mul(value, at), coefficient);
  };
  if (count == unknown_length || count > coefficients_written_out)
    return scan({.sequences = {coefficients}, .initial = {ScanInitial(nothing)}},
                [&](Variable coefficient, Variable value) { return next(coefficient, value); })
        .finals[0];
  Variable out = nothing;
  for (std::int64_t i = 0; i < count; ++i) {
    const Variable coefficient = subtensor(coefficients, {IndexItem(Operand(i))});
    out = i == 0 ? add(nothing, coefficient) : next(coefficient, out);
  }
  return out;
}

Variable vander(const Operand& x, const std::optional<Operand>& n, const VanderOptions& options) {
  const LocationScope here(x.where);
  if (x.ndim() != 1)
    throw ValueError(cat("vander: expected a vector, got ", x.variable.str(), " with ", x.ndim(), " dimensions"));
  const DType dtype = promote(x.dtype(), DType::Int64);
  const Variable rows = length_of(x.variable, 0), one = int64_constant(1), none = int64_constant(0);
  const Variable columns = n ? as_length(n->variable, "vander") : rows;
  // The first powers are 1, without a product: 0 and infinities have it too.
  const Variable first = alloc(cast(Operand(1), dtype), {rows, lengths::min(columns, one)});
  const Variable factors =
      alloc(expand_dims(cast(x, dtype), 1), {rows, lengths::max(lengths::sub(columns, one), none)});
  const Variable powers = join(1, {first, cast(cumprod(factors, 1), dtype)});
  return options.increasing ? powers : flip(powers, {1});
}

Variable cross(const Operand& a, const Operand& b, const CrossAxes& axes) {
  const LocationScope here(a.where);
  const Variable x = with_vectors_last(a, axes.axisa, "a"), y = with_vectors_last(b, axes.axisb, "b");
  const auto minor = [&](int i, int j) {
    return sub(mul(component(x, i), component(y, j)), mul(component(x, j), component(y, i)));
  };
  const Variable out = stack({minor(1, 2), minor(2, 0), minor(0, 1)}, -1);
  return moveaxis(out, -1, normal_axis(axes.axisc, out.ndim(), "cross"));
}

}  // namespace bitale
