// Covariances, ranges, norms, and maxima with their positions.
#include <cmath>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/complex.hpp"
#include "bitale/ops/linalg.hpp"
#include "bitale/ops/statistics.hpp"
#include "ops/analysis/known_number.hpp"
#include "ops/analysis/lengths.hpp"

namespace bitale {

namespace {

// The variables of m as rows of floats.
Variable as_rows(const Operand& m, bool rowvar, const char* what) {
  if (m.ndim() != 1 && m.ndim() != 2)
    throw ValueError(cat("cov: expected a vector or a matrix as ", what, ", got ", m.variable.str(), " with ", m.ndim(),
                         " dimensions"));
  const Variable x = is_discrete(m.dtype()) ? cast(m, DType::Float64) : m.variable;
  if (x.ndim() == 1) return expand_dims(x, 0);
  return rowvar ? x : transpose(x);
}

Variable as_weights(const Operand& weights, DType dtype, const char* what) {
  if (weights.ndim() != 1)
    throw ValueError(cat("cov: expected a vector as ", what, ", got ", weights.variable.str(), " with ", weights.ndim(),
                         " dimensions"));
  return cast(weights, dtype);
}

}  // namespace

Variable ptp(const Operand& x, const Axes& axis, KeepDims keepdims) {
  const LocationScope here(x.where);
  return sub(max(x, axis, keepdims), min(x, axis, keepdims));
}

MaximumAndArgmax max_and_argmax(const Operand& x, const Axes& axis, KeepDims keepdims) {
  const LocationScope here(x.where);
  return {max(x, axis, keepdims), argmax(x, axis, keepdims)};
}

Variable cov(const Operand& m, const std::optional<Operand>& y, const CovarianceOptions& options) {
  const LocationScope here(m.where);
  Variable x = as_rows(m, options.rowvar, "m");
  if (y) x = concatenate({x, as_rows(*y, options.rowvar, "y")}, 0);
  if (options.dtype) x = cast(x, *options.dtype);
  const DType dtype = x.dtype();
  const int ddof = options.ddof.value_or(options.bias ? 0 : 1);
  const Variable taken = cast(Operand(ddof), dtype);
  Variable weights;
  if (options.fweights) weights = as_weights(*options.fweights, dtype, "fweights");
  if (options.aweights) {
    const Variable counts = as_weights(*options.aweights, dtype, "aweights");
    weights = weights.defined() ? mul(weights, counts) : counts;
  }
  const std::vector<int> along{1};
  Variable factor, centred, weighted;
  if (!weights.defined()) {
    factor = sub(cast(length_of(x, 1), dtype), taken);
    centred = weighted = sub(x, mean(x, along, KeepDims::Yes));
  } else {
    const Variable total = sum(weights);
    if (ddof == 0 || !options.aweights)
      factor = sub(total, taken);
    else
      factor = sub(total, true_div(mul(taken, sum(mul(weights, cast(*options.aweights, dtype)))), total));
    centred = sub(x, true_div(sum(mul(x, weights), along, KeepDims::Yes), total));
    weighted = mul(centred, weights);
  }
  if (is_complex(dtype)) factor = real(factor);
  factor = maximum(factor, cast(0, factor.dtype()));  // as NumPy, where there are fewer elements than ddof
  const Variable columns = transpose(is_complex(dtype) ? conj(centred) : centred);
  return squeeze(true_div(dot(weighted, columns), factor));
}

Variable corrcoef(const Operand& m, const std::optional<Operand>& y, const CorrelationOptions& options) {
  const LocationScope here(m.where);
  const Variable c = cov(m, y, {.rowvar = options.rowvar, .dtype = options.dtype});
  const auto limited = [](const Variable& part) { return clip(part, -1, 1); };
  Variable out;
  if (c.ndim() == 0) {
    out = true_div(c, c);
  } else {
    const Variable spread = sqrt(real(diagonal(c)));
    out = true_div(true_div(c, expand_dims(spread, 1)), expand_dims(spread, 0));
  }
  return is_complex(out.dtype()) ? complex(limited(real(out)), limited(imag(out))) : limited(out);
}

Variable power_norm(const Operand& x, const Operand& order, const Axes& axis, KeepDims keepdims) {
  const LocationScope here(x.where);
  const std::optional<double> number = known_number(order.variable);
  if (number == 0.0) return sum(cast(neq(x, 0), x.dtype()), axis, keepdims);
  if (number && std::isinf(*number)) return *number > 0 ? max(abs(x), axis, keepdims) : min(abs(x), axis, keepdims);
  // The inverse of a number is a literal of its own: 1 / 3.5 is not exact in the narrowest dtype that holds 3.5.
  return pow(sum(pow(abs(x), order), axis, keepdims), number ? Operand(1 / *number) : Operand(true_div(1.0, order)));
}

}  // namespace bitale
