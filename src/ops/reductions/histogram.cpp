// histogram: a binary search for the bin of each element, and a scatter of what it counts.
#include "bitale/ops/histogram.hpp"

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/creation.hpp"
#include "bitale/ops/cumulative.hpp"
#include "bitale/ops/debugging.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/search.hpp"
#include "graph/evaluate.hpp"
#include "ops/analysis/lengths.hpp"

namespace bitale {

namespace {

constexpr const char* not_increasing = "histogram: the edges of bins must increase";

// A number of bins of equal lengths.
Variable equal_bins(const Variable& x, const Operand& bins, const HistogramOptions& options) {
  const DType dtype = is_float(x.dtype()) ? x.dtype() : DType::Float64;
  const auto count = known_integer(bins.variable);
  if (!is_integer(bins.dtype()) || !count)
    throw ValueError(
        cat("histogram: expected a constant integer or a vector of edges as bins, got ", bins.variable.str()));
  if (*count < 1) throw ValueError(cat("histogram: expected at least one bin, got ", *count));
  Variable low, high;
  if (options.range) {
    low = cast(options.range->first, DType::Float64);
    high = cast(options.range->second, DType::Float64);
    const Variable holds = and_(le(low, high), and_(isfinite(low), isfinite(high)));
    constexpr const char* message = "histogram: range: expected two finite numbers, the smaller one first";
    if (!options.range->first.variable.is_constant() || !options.range->second.variable.is_constant())
      low = check_and_raise(low, {holds}, "ValueError", message);
    else if (evaluate(holds).item() == 0)
      throw ValueError(message);
  } else {
    const Variable values = cast(x, DType::Float64);
    // Of no elements: from 0 to 1.
    const Variable is_empty = eq(length_of(x, 0), int64_constant(0));
    low = switch_(is_empty, 0, min(values, all_axes, KeepDims::No, INFINITY));
    high = switch_(is_empty, 1, max(values, all_axes, KeepDims::No, -INFINITY));
    low = check_and_raise(low, {and_(isfinite(low), isfinite(high))}, "ValueError",
                          "histogram: the range of the elements is not finite");
  }
  const Variable margin = switch_(eq(low, high), 0.5, 0.0);
  return linspace(sub(low, margin), add(high, margin), Operand(*count + 1), {.dtype = dtype});
}

Variable given_edges(const Operand& bins) {
  if (bins.ndim() != 1)
    throw ValueError(cat("histogram: expected a number or a vector of edges as bins, got ", bins.variable.str(),
                         " with ", bins.ndim(), " dimensions"));
  const Variable increases = all(ge(diff(bins), 0));
  if (!bins.variable.is_constant()) return check_and_raise(bins, {increases}, "ValueError", not_increasing);
  if (evaluate(increases).item() == 0) throw ValueError(not_increasing);
  return bins.variable;
}

}  // namespace

Histogram histogram(const Operand& x, const Operand& bins, const HistogramOptions& options) {
  const LocationScope here(x.where);
  if (is_complex(x.dtype())) throw TypeError("histogram: complex numbers have no order");
  const Variable values = flatten(x.dtype() == DType::Bool ? cast(x, DType::UInt8) : x.variable);
  const Variable edges = bins.ndim() == 0 ? equal_bins(values, bins, options) : given_edges(bins);
  const Variable count = lengths::sub(length_of(edges, 0), int64_constant(1));
  const auto edge = [&](int k) { return subtensor(edges, {IndexItem(Operand(k))}); };
  const Variable is_inside = and_(ge(values, edge(0)), le(values, edge(-1)));
  const Variable above = sub(searchsorted(edges, values, SearchSide::Right), int64_constant(1));
  const Variable bin = switch_(is_inside, minimum(above, sub(count, int64_constant(1))), int64_constant(0));
  const DType dtype = options.weights ? options.weights->dtype() : DType::Int64;
  Variable weights = cast(Operand(1), dtype);
  if (options.weights) {
    std::vector<std::optional<Operand>> lengths;
    if (options.weights->ndim() != x.ndim()) throw ValueError("histogram: expected weights in the shape of x");
    for (const Variable& each : lengths_of(x.variable)) lengths.push_back(Operand(each));
    weights = flatten(specify_shape(*options.weights, lengths));
  }
  const Variable part = switch_(is_inside, weights, cast(Operand(0), dtype));
  const Variable counts = inc_subtensor(alloc(cast(Operand(0), dtype), {count}), {IndexItem(bin)}, part);
  if (!options.density) return {counts, edges};
  const Variable as_floats = cast(counts, DType::Float64);
  return {true_div(true_div(as_floats, cast(diff(edges), DType::Float64)), sum(as_floats)), edges};
}

}  // namespace bitale
