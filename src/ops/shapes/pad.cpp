// pad: gathers with computed positions for modes that repeat elements of x, and concatenations for modes that add
// values. Its result is the output of an OpFromGraph, so that programs find the op of a padding and its mode.
#include "bitale/ops/arrange.hpp"

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/test_value.hpp"
#include "bitale/ops/creation.hpp"
#include "bitale/ops/op_from_graph.hpp"
#include "bitale/ops/search.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/option_names.hpp"

namespace bitale {

namespace {

const Padding& of_axis(const std::vector<Padding>& pairs, int axis) {
  return pairs[pairs.size() == 1 ? 0 : std::size_t(axis)];
}

void require_pairs(const std::vector<Padding>& pairs, int ndim, const char* what) {
  if (pairs.size() > 1 && int(pairs.size()) != ndim)
    throw ValueError(cat("pad: expected one pair or ", ndim, " pairs as ", what, ", got ", pairs.size()));
}

Variable width_of(const Operand& width) {
  const Variable length = as_length(width.variable, "pad");
  if (const auto known = known_integer(length); known && *known < 0)
    throw ValueError(cat("pad: expected widths of at least 0, got ", *known));
  return length;
}

Variable part_of(const Variable& x, int axis, const Slice& slice) {
  std::vector<IndexItem> items(std::size_t(axis), IndexItem(Slice{}));
  items.push_back(slice);
  return subtensor(x, items);
}

// The first or the last slice along the axis, which is kept as a dimension of static length 1.
Variable edge_of(const Variable& x, int axis, int index) {
  std::vector<IndexItem> items(std::size_t(axis), IndexItem(Slice{}));
  items.push_back(IndexItem(index));
  return expand_dims(subtensor(x, items), axis);
}

// For each index along the padded axis, which of the n elements it repeats.
Variable repeated_indices(PadMode mode, const Variable& n, const Variable& before, const Variable& after) {
  const Variable total = lengths::add(lengths::add(before, n), after), one = int64_constant(1);
  const Variable index = sub(arange(total), before), last = sub(n, one);
  if (mode == PadMode::Edge) return clip(index, int64_constant(0), last);
  if (mode == PadMode::Wrap) return mod(index, n);
  const bool reflects = mode == PadMode::Reflect;  // the edge element occurs once, in "symmetric" twice
  const Variable period = reflects ? lengths::max(mul(int64_constant(2), last), one) : mul(int64_constant(2), n);
  const Variable within = mod(index, period);
  return switch_(lt(within, n), within, sub(reflects ? period : sub(period, one), within));
}

// x reflected repeatedly at the points at its edges. A value beyond an edge is 2 * edge - x; a value two reflections
// away is x, shifted by twice the difference of the edges.
Variable mirrored_at_points(const Variable& x, int axis, const Variable& before, const Variable& after, bool reflects) {
  const Variable n = length_of(x, axis), one = int64_constant(1), last = sub(n, one);
  const Variable index = sub(arange(lengths::add(lengths::add(before, n), after)), before);
  const Variable step = reflects ? lengths::max(last, one) : n;
  const Variable count = int_div(index, step);  // of reflections, negative before x
  const Variable within = sub(index, mul(count, step));
  const Variable turned = neq(mod(count, int64_constant(2)), int64_constant(0)), behind = gt(count, int64_constant(0));
  std::vector<IndexItem> items(std::size_t(axis), IndexItem(Slice{}));
  items.push_back(IndexItem(switch_(turned, sub(last, within), within)));
  const Variable value = subtensor(x, items), first_edge = edge_of(x, axis, 0), last_edge = edge_of(x, axis, -1);
  std::vector<int> order(std::size_t(x.ndim()), new_axis);
  order[std::size_t(axis)] = 0;
  const auto along = [&](const Variable& vector) { return dimshuffle(vector, order); };
  const Variable edge = switch_(along(behind), last_edge, first_edge);
  const Variable base = switch_(along(turned), sub(add(edge, edge), value), value);
  const Variable shifts = switch_(turned, switch_(behind, sub(count, one), add(count, one)), count);
  const Variable shifted = add(base, mul(cast(along(shifts), x.dtype()), sub(last_edge, first_edge)));
  // 0 times an infinite difference would be nan.
  const Variable mirrored = switch_(along(eq(shifts, int64_constant(0))), base, shifted);
  // The elements of x itself are kept, and so is a single element, which NumPy repeats: a reflection at itself would be
  // nan if it is infinite.
  const Variable is_own = and_(ge(index, int64_constant(0)), le(index, last));
  return switch_(or_(along(is_own), eq(n, one)), value, mirrored);
}

// `count` repetitions of a slice of length 1.
Variable repeated(const Variable& slice, int axis, const Variable& count) {
  Variables lengths = lengths_of(slice);
  lengths[std::size_t(axis)] = count;
  return alloc(slice, Operands(lengths));
}

Variable statistic(PadMode mode, const Variable& x, int axis) {
  const std::vector<int> axes{axis};
  if (mode == PadMode::Maximum) return max(x, axes, KeepDims::Yes);
  if (mode == PadMode::Minimum) return min(x, axes, KeepDims::Yes);
  const Variable value = mode == PadMode::Mean ? mean(x, axes, KeepDims::Yes) : median(x, axes, KeepDims::Yes);
  return cast(is_discrete(x.dtype()) ? round(value) : value, x.dtype());
}

// A ramp from `value` at the outer end to the edge, which is not part of it.
Variable ramp(const Variable& edge, int axis, const Variable& value, const Variable& count, bool before) {
  const DType dtype = is_float(edge.dtype()) ? edge.dtype() : DType::Float64;
  std::vector<int> order(std::size_t(edge.ndim()), new_axis);
  order[std::size_t(axis)] = 0;
  const Variable step = cast(dimshuffle(arange(count), order), dtype);
  const Variable from_end = before ? step : sub(cast(sub(count, int64_constant(1)), dtype), step);
  const Variable end = cast(value, dtype);
  const Variable slope = (cast(edge, dtype) - end) / cast(lengths::max(count, int64_constant(1)), dtype);
  const Variable values = end + from_end * slope;
  return cast(is_discrete(edge.dtype()) ? trunc(values) : values, edge.dtype());
}

Variable formula(const Variable& x, const std::vector<Padding>& widths, PadMode mode, const PadOptions& options) {
  const bool mirrors = mode == PadMode::Symmetric || mode == PadMode::Reflect;
  Variable out = x;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    const Variable before = width_of(of_axis(widths, axis).before), after = width_of(of_axis(widths, axis).after);
    if (known_integer(before) == 0 && known_integer(after) == 0) continue;
    const Variable n = length_of(out, axis);
    if (options.is_odd) {
      out = mirrored_at_points(out, axis, before, after, mode == PadMode::Reflect);
      continue;
    }
    if (mode == PadMode::Edge || mode == PadMode::Wrap || mirrors) {
      std::vector<IndexItem> items(std::size_t(axis), IndexItem(Slice{}));
      items.push_back(IndexItem(repeated_indices(mode, n, before, after)));
      out = subtensor(out, items);
      continue;
    }
    Variable left, right;
    const auto value_of = [&](bool first) {
      if (options.values.empty()) return cast(Operand(0), out.dtype());
      const Padding& pair = of_axis(options.values, axis);
      return cast(first ? pair.before : pair.after, out.dtype());
    };
    if (mode == PadMode::Constant) {
      const auto filled = [&](bool first, const Variable& count) {
        Variables lengths = lengths_of(out);
        lengths[std::size_t(axis)] = count;
        return alloc(value_of(first), Operands(lengths));
      };
      left = filled(true, before);
      right = filled(false, after);
    } else if (mode == PadMode::LinearRamp) {
      left = ramp(edge_of(out, axis, 0), axis, value_of(true), before, true);
      right = ramp(edge_of(out, axis, -1), axis, value_of(false), after, false);
    } else {
      const auto length_at = [&](bool first) {
        const Padding& pair = of_axis(options.stat_length, axis);
        return lengths::min(width_of(first ? pair.before : pair.after), n);
      };
      const bool all = options.stat_length.empty();
      const Variable first = all ? out : part_of(out, axis, Slice{{}, Operand(length_at(true)), {}});
      const Variable last = all ? out : part_of(out, axis, Slice{Operand(lengths::sub(n, length_at(false))), {}, {}});
      left = repeated(statistic(mode, first, axis), axis, before);
      right = repeated(statistic(mode, last, axis), axis, after);
    }
    out = concatenate(Operands({left, out, right}), axis);
  }
  return out;
}

// The graph of a Pad is one of leaves: these, for everything whose value is not known, and what they stand for.
class LeavesOfPad {
 public:
  Variable of(const Variable& x) {
    if (x.is_constant()) return x;
    if (x.ndim() == 0 && is_integer(x.dtype()))
      if (const auto known = known_integer(x)) return int64_constant(*known);
    for (std::size_t k = 0; k < given.size(); ++k)
      if (given[k].same_as(x)) return own[k];
    given.push_back(x);
    return own.emplace_back(x.type(), x.name());
  }
  std::vector<Padding> of(const std::vector<Padding>& pairs) {
    std::vector<Padding> out;
    for (auto& [before, after] : pairs) out.push_back({of(before.variable), of(after.variable)});
    return out;
  }
  Variables given, own;
};

}  // namespace

Variable pad(const Operand& x, const std::vector<Padding>& widths, PadMode mode, const PadOptions& options) {
  const LocationScope here(x.where);
  const bool mirrors = mode == PadMode::Symmetric || mode == PadMode::Reflect;
  if (options.is_odd && !mirrors)
    throw ValueError(
        cat("pad: only modes \"symmetric\" and \"reflect\" mirror at points, got \"", option_name(mode), "\""));
  if (options.is_odd && x.dtype() == DType::Bool)
    throw NotImplementedError("pad: reflections at points (\"odd\") of bools; cast them first");
  if (widths.empty() && x.ndim() > 0) throw ValueError("pad: expected widths");
  require_pairs(widths, x.ndim(), "widths");
  require_pairs(options.values, x.ndim(), "values");
  require_pairs(options.stat_length, x.ndim(), "lengths of statistics");
  if (x.variable.is_constant()) return formula(x.variable, widths, mode, options);
  LeavesOfPad leaves;
  const Variable inside(x.variable.type(), x.variable.name());
  leaves.given.push_back(x.variable);
  leaves.own.push_back(inside);
  PadOptions of_leaves = options;
  of_leaves.values = leaves.of(options.values);
  of_leaves.stat_length = leaves.of(options.stat_length);
  Variable padded;
  {
    const TestValuesOff none_are_known;
    padded = formula(inside, leaves.of(widths), mode, of_leaves);
  }
  if (padded.same_as(inside)) return x.variable;
  OpFromGraphOptions op{.name = "Pad", .properties = {{"pad_mode", std::string(option_name(mode))}}};
  if (mirrors) op.properties.emplace_back("reflect_type", std::string(options.is_odd ? "odd" : "even"));
  return apply_op(op_from_graph(leaves.own, {padded}, op), Operands(leaves.given))[0];
}

}  // namespace bitale
