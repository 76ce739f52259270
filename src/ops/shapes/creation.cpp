// linspace and related functions, and tensors with special diagonals, as expressions over arange: nothing is stored.
#include "bitale/ops/creation.hpp"

#include <limits>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/arrange.hpp"
#include "bitale/ops/debugging.hpp"
#include "bitale/ops/linalg.hpp"
#include "graph/literal.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/control/check_and_raise.hpp"

namespace bitale {

namespace {

void require_matrix(const Operand& x, const char* who) {
  if (x.ndim() != 2)
    throw ValueError(cat(who, ": expected a matrix, got ", x.variable.str(), " with ", x.ndim(), " dimensions"));
}

// The dtype of the computation: float64, unless both limits are floats of at most 32 bits and at least one is not a
// constant.
DType float_of_limits(const Operand& start, const Operand& stop) {
  return promote(promote(start.dtype(), stop.dtype()), DType::Float32) == DType::Float32 && is_float(start.dtype()) &&
                 is_float(stop.dtype()) && !(start.variable.is_constant() && stop.variable.is_constant())
             ? DType::Float32
             : DType::Float64;
}

// The numbers 0, 1, ... along a new dimension in front of the limits' dimensions, and the number of steps between the
// limits.
struct Steps {
  Variable number, index, count;
};
Steps steps_of(const Operand& num, bool endpoint, int ndim, DType dtype, const char* who) {
  const Variable length = checked_length(num.variable, who);
  Variable index = arange(length);
  for (int k = 0; k < ndim; ++k) index = expand_dims(index, -1);
  const Variable count = endpoint ? lengths::max(lengths::sub(length, int64_constant(1)), int64_constant(1))
                                  : lengths::max(length, int64_constant(1));
  return {cast(index, dtype), index, count};
}

Variable with_axis(const Variable& x, int axis, const char* who) {
  const int to = normal_axis(axis, x.ndim(), who);
  if (to == 0) return x;
  std::vector<int> order;
  for (int a = 1; a < x.ndim(); ++a) order.push_back(a);
  order.insert(order.begin() + to, 0);
  return dimshuffle(x, order);
}

Variable in_dtype(const Variable& x, DType dtype) {
  return is_discrete(dtype) && is_float(x.dtype()) ? cast(floor(x), dtype) : cast(x, dtype);
}

Variable linear_steps(const Operand& start, const Operand& stop, const Operand& num, bool endpoint, DType dtype,
                      const char* who) {
  const Variable from = cast(start, dtype), to = cast(stop, dtype);
  const int ndim = std::max(from.ndim(), to.ndim());
  const Steps steps = steps_of(num, endpoint, ndim, dtype, who);
  const Variable step = (to - from) / cast(steps.count, dtype);
  const Variable value = from + steps.number * step;
  if (!endpoint) return value;
  // The last number is exactly `stop`; a single number is `start`.
  const Variable is_last = and_(eq(steps.index, steps.count), gt(as_length(num.variable, who), int64_constant(1)));
  return switch_(is_last, to, value);
}

}  // namespace

Variable linspace(const Operand& start, const Operand& stop, const Operand& num, const SequenceOptions& options) {
  const LocationScope here(start.where);
  const DType dtype = float_of_limits(start, stop);
  const Variable value = linear_steps(start, stop, num, options.endpoint, dtype, "linspace");
  return with_axis(in_dtype(value, options.dtype.value_or(config::float_x())), options.axis, "linspace");
}

Variable linspace_step(const Operand& start, const Operand& stop, const Operand& num, Endpoint endpoint) {
  const LocationScope here(start.where);
  const DType dtype = float_of_limits(start, stop);
  const Variable n = as_length(num.variable, "linspace");
  const Variable count = endpoint == Endpoint::Included ? lengths::sub(n, int64_constant(1)) : n;
  const Variable step = (cast(stop, dtype) - cast(start, dtype)) / cast(lengths::max(count, int64_constant(1)), dtype);
  return switch_(gt(count, int64_constant(0)), step, cast(Operand(std::numeric_limits<double>::quiet_NaN()), dtype));
}

Variable logspace(const Operand& start, const Operand& stop, const Operand& num, const Operand& base,
                  const SequenceOptions& options) {
  const LocationScope here(start.where);
  const DType dtype = float_of_limits(start, stop);
  const Variable power = pow(cast(base, dtype), linear_steps(start, stop, num, options.endpoint, dtype, "logspace"));
  return with_axis(in_dtype(power, options.dtype.value_or(config::float_x())), options.axis, "logspace");
}

Variable geomspace(const Operand& start, const Operand& stop, const Operand& num, const SequenceOptions& options) {
  const LocationScope here(start.where);
  const DType dtype = float_of_limits(start, stop);
  const Variable from = cast(start, dtype), to = cast(stop, dtype);
  const Variable exponent = linear_steps(log10(abs(from)), log10(abs(to)), num, options.endpoint, dtype, "geomspace");
  const Variable value = sign(from) * pow(cast(Operand(10.0), dtype), exponent);
  const int ndim = std::max(from.ndim(), to.ndim());
  const Steps steps = steps_of(num, options.endpoint, ndim, dtype, "geomspace");
  // The ends are exactly the limits.
  Variable exact = switch_(eq(steps.index, int64_constant(0)), from, value);
  if (options.endpoint) {
    const Variable is_last =
        and_(eq(steps.index, steps.count), gt(as_length(num.variable, "geomspace"), int64_constant(1)));
    exact = switch_(is_last, to, exact);
  }
  return with_axis(in_dtype(exact, options.dtype.value_or(config::float_x())), options.axis, "geomspace");
}

Variable tri(const Operand& n, const std::optional<Operand>& m, int k, std::optional<DType> dtype) {
  const LocationScope here(n.where);
  const Variable rows = as_length(n.variable, "tri"), columns = m ? as_length(m->variable, "tri") : rows;
  const Variable below = le(arange(columns), add(expand_dims(arange(rows), 1), int64_constant(k)));
  return cast(below, dtype.value_or(config::float_x()));
}

Variable eye(const Operand& n, const std::optional<Operand>& m, const Variable& k, std::optional<DType> dtype) {
  const LocationScope here(n.where);
  if (k.ndim() != 0 || !is_integer(k.dtype()))
    throw TypeError(cat("eye: expected an integer scalar as k, got ", k.str(), " of type ", k.type()->str()));
  const Variable rows = as_length(n.variable, "eye"), columns = m ? as_length(m->variable, "eye") : rows;
  const Variable on_diagonal = eq(arange(columns), add(expand_dims(arange(rows), 1), cast(k, DType::Int64)));
  return cast(on_diagonal, dtype.value_or(config::float_x()));
}

Variable nan_to_num(const Operand& x, const Operand& nan, const std::optional<Operand>& posinf,
                    const std::optional<Operand>& neginf) {
  const LocationScope here(x.where);
  const DType dtype = x.dtype();
  if (!is_float(dtype)) return x.variable;
  const double most = visit_dtype(dtype, []<class T>() { return double(std::numeric_limits<T>::max()); });
  const Variable high = cast(posinf ? *posinf : Operand(most), dtype),
                 low = cast(neginf ? *neginf : Operand(-most), dtype);
  const Variable finite = switch_(isinf(x), switch_(gt(x, 0), high, low), x);
  return switch_(isnan(x), cast(nan, dtype), finite);
}

Variable fill_diagonal(const Operand& x, const Operand& value) {
  const LocationScope here(x.where);
  if (x.ndim() < 2)
    throw ValueError(
        cat("fill_diagonal: expected at least two dimensions, got ", x.variable.str(), " with ", x.ndim()));
  Variable length = length_of(x.variable, 0);
  for (int axis = 1; axis < x.ndim(); ++axis) length = lengths::min(length, length_of(x.variable, axis));
  Variable whole = x.variable;
  if (x.ndim() > 2) {
    std::vector<std::optional<Operand>> equal;
    for (int axis = 0; axis < x.ndim(); ++axis) equal.emplace_back(length_of(x.variable, 0));
    whole = specify_shape(x, equal);
  }
  const std::vector<IndexItem> items(std::size_t(x.ndim()), IndexItem(arange(length)));
  return with_static_shape_of(x.variable, set_subtensor(whole, items, cast(value, x.dtype())));
}

Variable fill_diagonal_offset(const Operand& x, const Operand& value, const Operand& offset) {
  const LocationScope here(x.where);
  if (x.ndim() != 2)
    throw ValueError(
        cat("fill_diagonal_offset: expected a matrix, got ", x.variable.str(), " with ", x.ndim(), " dimensions"));
  const Variable k = as_length(offset.variable, "fill_diagonal_offset"), none = int64_constant(0);
  const Variable down = lengths::max(lengths::sub(none, k), none), across = lengths::max(k, none);
  const Variable length = lengths::max(
      lengths::min(lengths::sub(length_of(x.variable, 0), down), lengths::sub(length_of(x.variable, 1), across)), none);
  const Variable index = arange(length);
  return with_static_shape_of(x.variable, set_subtensor(x, {IndexItem(add(index, down)), IndexItem(add(index, across))},
                                                        cast(value, x.dtype())));
}

Variable full(const Operands& shape, const Operand& value, std::optional<DType> dtype) {
  const LocationScope here(value.where);
  return alloc(dtype ? cast(value, *dtype) : value.variable, shape);
}

Variable full_like(const Operand& x, const Operand& value, std::optional<DType> dtype) {
  const LocationScope here(x.where);
  return second(x, dtype ? cast(value, *dtype) : with_literal_widths({&value.variable, 1})[0]);
}

Variable empty(const Operands& shape, std::optional<DType> dtype) { return zeros(shape, dtype); }
Variable empty_like(const Operand& x, std::optional<DType> dtype) { return zeros_like(x, dtype); }

Variable identity_like(const Operand& x, std::optional<DType> dtype) {
  const LocationScope here(x.where);
  require_matrix(x, "identity_like");
  return eye(length_of(x.variable, 0), Operand(length_of(x.variable, 1)), 0, dtype.value_or(x.dtype()));
}

Variable bartlett(const Operand& m) {
  const LocationScope here(m.where);
  const Variable k = cast(arange(as_length(m.variable, "bartlett")), DType::Float64);
  const Variable last = cast(m, DType::Float64) - 1;
  const Variable window = switch_(k <= last / 2, 2 * k / last, 2 - 2 * k / last);
  return switch_(last <= 0, ones_like(k), window);
}

Variables ogrid(const std::vector<Slice>& slices) {
  Variables out;
  for (std::size_t axis = 0; axis < slices.size(); ++axis) {
    const Slice& slice = slices[axis];
    if (!slice.stop) throw ValueError("ogrid: expected slices that have a stop");
    const LocationScope here(slice.stop->where);
    std::vector<int> order(slices.size(), new_axis);
    order[axis] = 0;
    const Variable points = arange(slice.start.value_or(Operand(0)), *slice.stop, slice.step.value_or(Operand(1)));
    out.push_back(dimshuffle(points, order));
  }
  return out;
}

Variables mgrid(const std::vector<Slice>& slices) { return broadcast_arrays(Operands(ogrid(slices))); }

Variables meshgrid(const Operands& xi, const MeshgridOptions& options) {
  const LocationScope here(xi.where);
  const std::size_t rank = xi.variables.size();
  Variables out;
  for (std::size_t k = 0; k < rank; ++k) {
    std::vector<int> order(rank, new_axis);
    order[options.indexing == GridIndexing::Cartesian && rank > 1 && k < 2 ? 1 - k : k] = 0;
    out.push_back(dimshuffle(flatten(xi.variables[k]), order));
  }
  return options.sparse ? out : broadcast_arrays(Operands(out));
}

Variables tril_indices(const Operand& n, int k, const std::optional<Operand>& m) {
  return nonzero(tri(n, m, k, DType::Bool));
}

Variables triu_indices(const Operand& n, int k, const std::optional<Operand>& m) {
  return nonzero(invert(tri(n, m, k - 1, DType::Bool)));
}

Variables tril_indices_from(const Operand& x, int k) {
  require_matrix(x, "tril_indices_from");
  return tril_indices(length_of(x.variable, 0), k, Operand(length_of(x.variable, 1)));
}

Variables triu_indices_from(const Operand& x, int k) {
  require_matrix(x, "triu_indices_from");
  return triu_indices(length_of(x.variable, 0), k, Operand(length_of(x.variable, 1)));
}

}  // namespace bitale
