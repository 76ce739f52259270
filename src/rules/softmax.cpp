// Sums of exponentials: written naively they overflow; shifted by their maximum they do not. The maximum is treated as
// a constant, since derivatives have already been taken.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/float_limits.hpp"
#include "ops/reductions/reduce.hpp"
#include "ops/shapes/dimshuffle.hpp"
#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

namespace {

bool is_sum(const Variable& v) {
  const auto* op = op_as<CAReduce>(v);
  return op && op->kind.name == "sum" && is_float(v.dtype());
}

std::vector<int> axes_of(const CAReduce& op, int rank) {
  std::vector<int> out;
  for (int axis = 0; axis < rank; ++axis)
    if (op.reduces(axis)) out.push_back(axis);
  return out;
}

// Whether x is a difference whose second operand contains a maximum of the first, so that x is already shifted.
bool is_shifted_by_maximum(const Variable& x) {
  if (!is_elemwise(x, "sub")) return false;
  const Variable base = x.owner().input(0);
  std::vector<std::pair<Variable, int>> open{{x.owner().input(1), 0}};
  while (!open.empty()) {
    auto [v, depth] = open.back();
    open.pop_back();
    const auto* op = op_as<CAReduce>(v);
    if (op && op->kind.combiner == program::Combiner::max && v.owner().input(0).same_as(base)) return true;
    constexpr int deepest = 6;
    if (v.has_owner() && depth < deepest)
      for (auto& input : v.owner().inputs()) open.emplace_back(input, depth + 1);
  }
  return false;
}

// The argument of an exponential that is not shifted yet, as a float.
std::optional<Variable> naive_exponent(const Variable& v) {
  if (!is_elemwise(v, "exp")) return std::nullopt;
  const Variable x = v.owner().input(0);
  if (is_shifted_by_maximum(x)) return std::nullopt;
  return is_discrete(x.dtype()) ? cast(x, v.dtype()) : x;
}

// log(sum(exp(x))), also with the reduced dimensions kept.
std::optional<Variables> log_sum_exp(FunctionGraph&, const Apply& node) {
  const Variable output = node.output();
  const Variable total = node.input(0);
  if (!is_sum(total)) return std::nullopt;
  const Variable powers = total.owner().input(0);
  const std::optional<Variable> x = naive_exponent(powers);
  const std::vector<int> axes = axes_of(*op_as<CAReduce>(total), powers.ndim());
  if (!x || x->dtype() != output.dtype() || axes.empty()) return std::nullopt;
  return one(fit(logsumexp(*x, axes), output));
}

// The axes, if the divisor is a sum of v over some axes, with these kept as length 1.
std::optional<std::vector<int>> kept_sum_axes(const Variable& divisor, const Variable& v) {
  Variable total = divisor;
  if (const auto* view = op_as<DimShuffle>(divisor)) {
    total = divisor.owner().input(0);
    if (!is_sum(total) || !view->keeps_order() || !view->dropped().empty()) return std::nullopt;
  }
  if (!is_sum(total) || !total.owner().input(0).same_as(v)) return std::nullopt;
  const std::vector<int> axes = axes_of(*op_as<CAReduce>(total), v.ndim());
  const auto* view = op_as<DimShuffle>(divisor);
  const std::vector<int> inserted = view ? view->inserted() : std::vector<int>{};
  if (inserted != axes) return std::nullopt;
  return axes;
}

std::optional<Variables> naive_softmax(FunctionGraph&, const Apply& node) {
  const std::optional<Variable> x = naive_exponent(node.input(0));
  if (!x || x->dtype() != node.output().dtype()) return std::nullopt;
  const auto axes = kept_sum_axes(node.input(1), node.input(0));
  if (!axes || axes->empty()) return std::nullopt;
  return one(fit(softmax(*x, *axes), node.output()));
}

// exp(s - log(sum(exp(s)))) for a shifted s, which is exp(log_softmax(x)).
std::optional<Variables> exp_of_log_softmax(FunctionGraph&, const Apply& node) {
  const Variable& difference = node.input(0);
  if (!is_elemwise(difference, "sub")) return std::nullopt;
  const Variable shifted = difference.owner().input(0), logarithm = difference.owner().input(1);
  const bool is_view = op_as<DimShuffle>(logarithm);
  const Variable log_total = is_view ? logarithm.owner().input(0) : logarithm;
  if (!is_elemwise(log_total, "log") || !is_shifted_by_maximum(shifted) || !is_float(shifted.dtype()))
    return std::nullopt;
  const Variable argument = log_total.owner().input(0);
  const Variable total = op_as<DimShuffle>(argument) ? argument.owner().input(0) : argument;
  if (!is_sum(total)) return std::nullopt;
  const Variable powers = total.owner().input(0);
  if (!is_elemwise(powers, "exp") || !powers.owner().input(0).same_as(shifted)) return std::nullopt;
  const Variable divisor = is_view ? logarithm.owner().op()({argument}) : argument;
  return one(fit(powers / divisor, node.output()));
}

// ---- x - logsumexp(x) -----------------------------------------------------------------------------------------------

// A variable below its views, and for each axis of the view the axis that it shows (-1: a single element).
struct BelowViews {
  Variable base;
  std::vector<int> axes;

  bool is(std::string_view scalar) const { return is_elemwise(base, scalar); }
  Variable operand(int i) const { return base.owner().input(i); }
};

BelowViews below_views(const Variable& v) {
  BelowViews out{v, {}};
  for (int axis = 0; axis < v.ndim(); ++axis) out.axes.push_back(axis);
  for (const auto* view = op_as<DimShuffle>(out.base); view; view = op_as<DimShuffle>(out.base)) {
    for (int& axis : out.axes)
      if (axis >= 0) axis = view->new_order[std::size_t(axis)];
    out.base = out.base.owner().input(0);
  }
  for (int& axis : out.axes)
    if (axis < 0 || is_one(out.base, axis)) axis = -1;
  return out;
}

// The variable below `inner`, an elementwise operand of the base of `outer`, with the axes of `outer`.
BelowViews below_operand(const BelowViews& outer, const Variable& inner) {
  BelowViews out = below_views(inner);
  std::vector<int> axes;
  for (int axis : outer.axes) axes.push_back(axis < 0 ? -1 : out.axes[std::size_t(axis)]);
  out.axes = std::move(axes);
  return out;
}

// Whether `total` is a sum of exp(x - shift) that is aligned with x along the axes that are not summed.
bool is_sum_along(const BelowViews& total, const Variable& x, Variable* shifted) {
  if (!is_sum(total.base)) return false;
  const Variable powers = total.operand(0);
  if (!is_elemwise(powers, "exp") || !is_shifted_by_maximum(powers.owner().input(0))) return false;
  *shifted = powers.owner().input(0);
  if (!shifted->owner().input(0).same_as(x) || shifted->ndim() != int(total.axes.size())) return false;
  const auto& sum = *op_as<CAReduce>(total.base);
  int kept = 0;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    const int wanted = sum.reduces(axis) ? -1 : kept++;
    if (total.axes[std::size_t(axis)] != wanted && !is_one(x, axis)) return false;
  }
  return true;
}

// x - (log(sum(exp(x - m))) + m) is (x - m) - log(sum(exp(x - m))), which loses no accuracy for a large m.
std::optional<Variables> log_softmax_from_logsumexp(FunctionGraph&, const Apply& node) {
  const Variable x = node.input(0), output = node.output();
  if (!is_float(output.dtype()) || node.input(1).dtype() != x.dtype()) return std::nullopt;
  const BelowViews outer = below_views(node.input(1));
  if (!outer.is("add")) return std::nullopt;
  for (int i = 0; i < 2; ++i) {
    const BelowViews logarithm = below_operand(outer, outer.operand(i));
    if (!logarithm.is("log")) continue;
    const BelowViews total = below_operand(logarithm, logarithm.operand(0));
    Variable shifted;
    if (!is_sum_along(total, x, &shifted)) continue;
    const BelowViews shift = below_operand(outer, outer.operand(1 - i)), held = below_views(shifted.owner().input(1));
    if (!shift.base.same_as(held.base) || shift.axes != held.axes) continue;
    std::vector<int> order;
    for (int axis : total.axes) order.push_back(axis < 0 ? new_axis : axis);
    if (std::size_t(std::count_if(order.begin(), order.end(), [](int axis) { return axis != new_axis; })) !=
        std::size_t(total.base.ndim()))
      continue;  // a dimension of length 1 is left out
    return one(fit(shifted - log(dimshuffle(total.base, order)), output));
  }
  return std::nullopt;
}

// Powers below the smallest normal number are zero beside that of the maximum, which is 1. As subnormal numbers they
// would slow down every product that reads them: processors take hundreds of cycles for one.
std::optional<Variables> negligible_power(FunctionGraph&, const Apply& node) {
  const Variable& x = node.input(0);
  const DType dtype = node.output().dtype();
  if (x.dtype() != dtype || (dtype != DType::Float64 && dtype != DType::Float32)) return std::nullopt;
  if (!is_shifted_by_maximum(x)) return std::nullopt;
  const Variable nothing = constant_like(dtype == DType::Float64 ? -1000. : -200., dtype);  // whose power is 0
  return one(
      fit(exp(switch_(lt(x, constant_like(std::log(smallest_normal(dtype)), dtype)), nothing, x)), node.output()));
}

void declare_softmax(Rules& rules) {
  rules.function("negligible_power", Root::scalar({"exp"}), negligible_power)
      .doc("Rewrites exp(x - max(x)) as 0 where it is less than the smallest normal number.")
      .tags(specialize)
      .depth(6)
      .sample([] {
        const Variable x = sample_matrix();
        return exp(x - max(x, std::vector<int>{1}, KeepDims::Yes));
      });
  rules.function("log_softmax_from_logsumexp", Root::scalar({"sub"}), log_softmax_from_logsumexp)
      .doc("Rewrites x - logsumexp(x) as log_softmax(x), which loses no accuracy where x is large.")
      .tags(stabilize, symbolic_op_recognition, "local_log_softmax_from_logsumexp")
      .depth(6)
      .sample([] {
        const Variable x = sample_matrix();
        return x - logsumexp(x, std::vector<int>{1}, KeepDims::Yes);
      })
      .sample([] {
        const Variable x = sample_matrix();
        return x - expand_dims(logsumexp(x, std::vector<int>{0}), 0);
      })
      .sample([] {
        const Variable x = sample_vector();
        return x - logsumexp(x);
      });
  rules.function("log_sum_exp", Root::scalar({"log"}), log_sum_exp)
      .doc("Shifts log(sum(exp(x))) by the maximum of x.")
      .tags(stabilize, symbolic_op_recognition, shape_unsafe, "local_log_sum_exp")
      .depth(3)
      .wider_domain()
      .sample([] { return log(sum(exp(sample_vector()))); })
      .sample([] { return log(sum(exp(sample_matrix()), std::vector<int>{1})); });
  rules.function("exp_of_log_softmax", Root::scalar({"exp"}), exp_of_log_softmax)
      .doc("Rewrites exp(log_softmax(x)) as softmax(x).")
      .tags(stabilize, "local_exp_log_softmax")
      .depth(6)
      .sample([] { return exp(log_softmax(sample_matrix(), std::vector<int>{1})); })
      .sample([] { return exp(log_softmax(sample_vector(), std::vector<int>{0})); });
  rules.function("softmax", Root::scalar({"true_div"}), naive_softmax)
      .doc("Shifts exp(x) / sum(exp(x)) by the maximum of x.")
      // Also among the canonical forms: these move indices and views to the operands of the quotient, and factors out
      // of sums, after which it is not recognised.
      .tags(canonicalize, stabilize, symbolic_op_recognition, shape_unsafe, "local_softmax_stabilize")
      .differs_at({std::numeric_limits<double>::infinity()})
      .depth(4)
      .wider_domain()
      .sample([] {
        const Variable powers = exp(sample_matrix());
        return powers / sum(powers, std::vector<int>{1}, KeepDims::Yes);
      })
      .sample([] {
        const Variable powers = exp(sample_vector());
        return powers / sum(powers);
      });
}

const RegisterRules register_softmax("softmax", declare_softmax);

}  // namespace

}  // namespace bitale::rewriting
