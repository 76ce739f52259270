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

bool is_shifted_by_maximum(const Variable& x) {
  const Variable maximum = subtracted_maximum(x);
  return maximum.defined() && op_as<CAReduce>(maximum);
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

// The logarithm of a sum of exponentials of floats.
struct LogOfSum {
  Viewed logarithm;
  Variable total, powers, exponent;
};

std::optional<LogOfSum> log_of_sum(const Variable& v) {
  const Viewed logarithm(v);
  if (!is_elemwise(logarithm.base, "log")) return std::nullopt;
  const Variable total = logarithm.base.owner().input(0), below = Viewed(total).base;
  if (!is_sum(below)) return std::nullopt;
  const Variable powers = below.owner().input(0);
  if (!is_elemwise(powers, "exp")) return std::nullopt;
  const Variable exponent = powers.owner().input(0);
  if (!is_float(exponent.dtype())) return std::nullopt;
  return LogOfSum{logarithm, total, powers, exponent};
}

// exp(s - log(sum(exp(s)))), which for a shifted s is exp(log_softmax(x)).
std::optional<Variables> exp_of_log_softmax(FunctionGraph&, const Apply& node) {
  const Variable& difference = node.input(0);
  if (!is_elemwise(difference, "sub")) return std::nullopt;
  const auto found = log_of_sum(difference.owner().input(1));
  if (!found || !found->exponent.same_as(difference.owner().input(0))) return std::nullopt;
  return one(fit(found->powers / found->logarithm.of(found->total), node.output()));
}

// x - (log(sum(exp(x - m))) + m) is (x - m) - log(sum(exp(x - m))), which loses no accuracy for a large m.
std::optional<Variables> log_softmax_from_logsumexp(FunctionGraph&, const Apply& node) {
  const Variable& x = node.input(0);
  const Viewed outer(node.input(1));
  if (node.input(1).dtype() != x.dtype() || !is_elemwise(outer.base, "add")) return std::nullopt;
  const Variables terms = outer.base.owner().inputs();
  if (!same_broadcast(terms[0], terms[1])) return std::nullopt;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto found = log_of_sum(terms[i]);
    if (!found || !is_elemwise(found->exponent, "sub") || !found->exponent.owner().input(0).same_as(x)) continue;
    return one(fit((x - outer.of(terms[1 - i])) - outer.of(terms[i]), node.output()));
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
