// Windows, shifts, differences and interpolation along a dimension, by gathering neighbours: gathers fuse into the
// loops that read them, so no window is stored.
#include "bitale/xtensor/windows.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/arrange.hpp"
#include "bitale/ops/search.hpp"
#include "bitale/ops/vectorize.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/signal/line_between.hpp"

namespace bitale::xtensor {

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// x in a dtype that has nan.
XVariable as_float(const XVariable& x) { return is_discrete(x.dtype()) ? cast(x, DType::Float64) : x; }
// nan in x's dtype.
XVariable nan_like(const XVariable& x) { return XVariable(bitale::cast(constant(Array(not_a_number)), x.dtype()), {}); }

XVariable at_positions(const XVariable& x, const std::string& dim, const XVariable& positions) {
  return isel(x, {{dim, positions}});
}

std::string unused_name(const XVariable& x, std::string name) {
  while (x.find(name) >= 0) name += "_";
  return name;
}

// For each position and each offset in a window, the position that it reads, which may be outside.
XVariable positions_of_windows(const XVariable& x, const std::string& dim, std::int64_t length, const Dim& window,
                               bool center) {
  const Dim& along = x.dims()[std::size_t(x.axis(dim, "rolling"))];
  const XVariable position(bitale::arange(x.length(dim)), {along}), offset(bitale::arange(length), {window});
  const std::int64_t before = center ? length / 2 : length - 1;
  return sub(add(position, offset), before);
}

// For a message.
std::string first_labels(const Coordinates& labels) {
  constexpr std::int64_t most = 8;
  std::vector<std::string> out;
  for (std::int64_t i = 0; i < std::min(most, labels.count()); ++i) out.push_back(labels.label(i));
  return cat(join(out, ", "), labels.count() > most ? ", ..." : "");
}

void require_length(std::int64_t length, const char* who) {
  if (length < 1) throw ValueError(cat(who, ": expected windows of at least one position, got ", length));
}

}  // namespace

XVariable windows(const XOperand& given, const std::string& dim, std::int64_t length, const Dim& window,
                  WindowPlace place) {
  const LocationScope here(given.where);
  require_length(length, "rolling");
  const bool center = place == WindowPlace::Center;
  const XVariable x = as_float(given.variable);
  if (x.find(window.name()) >= 0)
    throw ValueError(cat("rolling: ", x.values().str(), " has a dimension \"", window.name(), "\" already"));
  const XVariable at = positions_of_windows(x, dim, length, window, center);
  const XVariable count(x.length(dim), {});
  const XVariable inside = center ? and_(ge(at, 0), lt(at, count)) : ge(at, 0);
  const XVariable clipped = center ? minimum(maximum(at, 0), sub(count, 1)) : maximum(at, 0);
  const XVariable out = where(inside, at_positions(x, dim, clipped), nan_like(x));
  std::vector<std::string> order;
  for (const Dim& each : x.dims()) order.push_back(each.name());
  order.push_back(window.name());
  return transpose(out, order);
}

XVariable rolling(const XOperand& given, const std::string& dim, std::int64_t length, Rolling reduction,
                  const RollingOptions& options) {
  const LocationScope here(given.where);
  const auto& [min_periods, place, ddof] = options;
  if (min_periods && (*min_periods < 0 || *min_periods > length))
    throw ValueError(cat("rolling: expected min_periods from 0 to ", length, ", got ", *min_periods));
  const std::string window = unused_name(given.variable, "_window");
  const XVariable all = windows(given, dim, length, Dim(window), place);
  const XVariable valid = logical_not(isnan(all)), count = sum(valid, window);
  const auto with = [&](double neutral) {
    return where(valid, all, XVariable(bitale::cast(constant(Array(neutral)), all.dtype()), {}));
  };
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const auto squares = [&] {
    const XVariable mean = true_div(sum(with(0), window), count);
    const XVariable centred =
        where(valid, sub(all, mean), XVariable(bitale::cast(constant(Array(0.0)), all.dtype()), {}));
    return where(gt(count, ddof), true_div(sum(sqr(centred), window), sub(count, ddof)), nan_like(all));
  };
  XVariable out = all;
  switch (reduction) {
    case Rolling::Sum: out = sum(with(0), window); break;
    case Rolling::Mean: out = true_div(sum(with(0), window), count); break;
    case Rolling::Max: out = max(with(-infinite), window); break;
    case Rolling::Min: out = min(with(infinite), window); break;
    case Rolling::Prod: out = prod(with(1), window); break;
    case Rolling::Var: out = squares(); break;
    case Rolling::Std: out = sqrt(squares()); break;
    case Rolling::Count: out = count; break;
  }
  const bool needs_elements = reduction != Rolling::Sum && reduction != Rolling::Prod && reduction != Rolling::Count;
  const std::int64_t needed = std::max<std::int64_t>(min_periods.value_or(length), needs_elements ? 1 : 0);
  return where(ge(count, needed), cast(out, all.dtype()), nan_like(all));
}

XVariable shift(const XOperand& given, const std::string& dim, std::int64_t periods,
                const std::optional<XOperand>& fill) {
  const LocationScope here(given.where);
  const XVariable& x = given.variable;
  const Dim& along = x.dims()[std::size_t(x.axis(dim, "shift"))];
  if (fill && fill->variable.ndim() != 0)
    throw ValueError(cat("shift: expected a scalar to fill with, got ", fill->variable.str()));
  const XVariable kept = fill ? x : as_float(x);
  const XVariable filler = fill ? cast(fill->variable, kept.dtype()) : nan_like(kept);
  const XVariable at(bitale::sub(bitale::arange(x.length(dim)), periods), {along}), count(x.length(dim), {});
  const XVariable inside = periods >= 0 ? ge(at, 0) : lt(at, count);
  const XVariable clipped = periods >= 0 ? maximum(at, 0) : minimum(at, sub(count, 1));
  // A shift beyond the length reads positions that are clipped at the other end as well.
  const XVariable safe = periods >= 0 ? clipped : maximum(clipped, 0);
  return transpose(where(inside, at_positions(kept, dim, safe), filler), x.names());
}

XVariable roll(const XOperand& given, const std::string& dim, std::int64_t periods) {
  const LocationScope here(given.where);
  const XVariable& x = given.variable;
  const int axis = x.axis(dim, "roll");
  return x.with_values(bitale::roll(x.values(), periods, axis));
}

XVariable diff(const XOperand& given, const std::string& dim, std::int64_t n, DiffLabel label) {
  const LocationScope here(given.where);
  if (n < 0) throw ValueError(cat("diff: expected a number of differences, at least 0, got ", n));
  XVariable x = given.variable;
  x.axis(dim, "diff");
  for (std::int64_t i = 0; i < n; ++i) {
    const XVariable later = isel(x, {{dim, Slice{.start = Operand(1)}}});
    const XVariable earlier = isel(x, {{dim, Slice{.stop = Operand(-1)}}});
    const XVariable& named = label == DiffLabel::Upper ? later : earlier;
    x = XVariable(x.dtype() == DType::Bool ? bitale::neq(later.values(), earlier.values())
                                           : bitale::sub(later.values(), earlier.values()),
                  named.dims());
  }
  return x;
}

XVariable interp(const XOperand& given, const std::string& dim, const Variable& at, const XOperand& target,
                 const std::string& method) {
  const LocationScope here(given.where);
  const XVariable x = as_float(given.variable);
  x.axis(dim, "interp");
  if (method != "linear" && method != "nearest")
    throw NotImplementedError(cat("interp: expected method \"linear\" or \"nearest\", got \"", method, '"'));
  const XVariable& wanted = target.variable;
  const auto count = known_integer(length_of(at, 0));
  if (count && *count < 2)
    throw ValueError(cat("interp: expected coordinates of at least 2 positions along \"", dim, '"'));
  const XVariable last(bitale::sub(length_of(at, 0), 1), {});
  // The position on the left of each target, such that there is one on its right.
  const XVariable found = wanted.with_values(bitale::searchsorted(at, wanted.values(), SearchSide::Right));
  const XVariable left = minimum(maximum(sub(found, 1), 0), sub(last, 1));
  const XVariable points(at, {Dim("_points")});
  const XVariable low = at_positions(points, "_points", left), high = at_positions(points, "_points", add(left, 1));
  const XVariable first = at_positions(points, "_points", XVariable(Operand::number(std::int64_t(0)), {}));
  const XVariable inside = and_(ge(wanted, first), le(wanted, at_positions(points, "_points", last)));
  XVariable out = x;
  if (method == "linear") {
    const XVariable a = at_positions(x, dim, left), b = at_positions(x, dim, add(left, 1));
    // An infinite target on a line would make gradients nan, though nan takes the place of the value.
    const XVariable on_line = where(inside, as_float(wanted), as_float(first));
    out = on_line_between(LineEnds<XVariable>{as_float(low), as_float(high), a, b}, on_line);
  } else {
    const XVariable share = true_div(sub(wanted, low), sub(high, low));
    out = at_positions(x, dim, where(gt(share, 0.5), add(left, 1), left));
  }
  const XVariable masked = where(inside, out, nan_like(out));
  // In the order that indexing gives.
  return transpose(masked, at_positions(x, dim, left).names());
}

XVariable interp(const XOperand& given, const std::string& dim, const XOperand& target, const std::string& method) {
  const LocationScope here(given.where);
  const XVariable& x = given.variable;
  const CoordinatesRef& labels = x.dims()[std::size_t(x.axis(dim, "interp"))].coordinates();
  if (!labels)
    throw ValueError(cat("interp: \"", dim, "\" has no coordinates to interpolate between; assign_coords gives them"));
  auto numbers = labels->numbers();
  if (!numbers || labels->distinct().labels->count() != labels->count())
    throw NotImplementedError(
        cat("interp: \"", dim, "\": expected coordinates that are different numbers, got ", first_labels(*labels)));
  if (labels->order() == Coordinates::Order::Ascending)
    return interp(given, dim, constant(Array(*numbers)), target, method);
  std::vector<std::int64_t> order(numbers->size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::int64_t at) { return (*numbers)[std::size_t(at)]; });
  std::ranges::sort(*numbers);
  const XVariable ascending = isel(x, {{dim, index_along(dim, constant(Array(order)))}});
  return interp(ascending, dim, constant(Array(*numbers)), target, method);
}

XVariables vectorize_graph(const XVariables& outputs,
                           const std::vector<std::pair<XVariable, XVariable>>& replacements) {
  XVariables news;
  std::vector<std::vector<std::string>> core;
  for (const auto& [before, after] : replacements) {
    for (const Dim& dim : before.dims())
      if (after.find(dim.name()) < 0)
        throw ValueError(cat("vectorize_graph: ", after.str(), " replaces ", before.str(), ", but has no dimension \"",
                             dim.name(), '"', suggestion(dim.name(), after.names())));
    news.push_back(after);
    core.push_back(before.names());
  }
  const Aligned aligned = align("vectorize_graph", news, core);
  Replacements pairs;
  for (std::size_t i = 0; i < replacements.size(); ++i)
    pairs.emplace_back(replacements[i].first.values(), aligned.values[i]);
  Variables values;
  for (const XVariable& each : outputs) values.push_back(each.values());
  const Variables found = bitale::vectorize_graph(values, pairs);
  XVariables out;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const bool is_batched = found[i].ndim() > outputs[i].ndim();
    DimList dims = is_batched ? aligned.dims : DimList();
    for (const Dim& dim : outputs[i].dims()) {
      if (std::ranges::find(dims, dim.name(), &Dim::name) != dims.end())
        throw ValueError(cat("vectorize_graph: \"", dim.name(), "\" is a dimension of ", outputs[i].str(),
                             " already; rename the dimension of what replaces an input"));
      dims.push_back(dim);
    }
    out.emplace_back(found[i], std::move(dims));
  }
  return out;
}

}  // namespace bitale::xtensor
