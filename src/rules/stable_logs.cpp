// Logarithms of products, powers, weighted exponentials and special functions are decomposed before anything overflows
// or underflows, even if a view, a cast, a switch or an extreme stands between the logarithm and its argument.
#include <algorithm>
#include <cmath>
#include <limits>

#include "bitale/core/text.hpp"
#include "core/limits.hpp"
#include "ops/analysis/range.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "ops/indexing/advanced_subtensor.hpp"
#include "ops/indexing/subtensor.hpp"
#include "ops/reductions/reduce.hpp"
#include "rewriting/stabilizing.hpp"
#include "rules/signed_terms.hpp"
#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

namespace {

// Longer products and sums are left as they are.
constexpr std::size_t max_parts = 32;

const Variable& operand(const Variable& v, std::size_t i) { return v.node()->owner->inputs[i]; }

const CAReduce* reduction(const Variable& v, std::string_view kind) {
  const auto* op = op_as<CAReduce>(v);
  return op && op->kind.name == kind && is_float(v.dtype()) && v.dtype() == operand(v, 0).dtype() ? op : nullptr;
}

Variable like(const CAReduce& op, const Variable& x) { return (*make_ref<CAReduce>(op.kind, op.axes, op.dtype))({x}); }

bool is_never_below_zero(const Variable& v) { return range_of(v).low >= 0; }

// ---- products -------------------------------------------------------------------------------------------------------

struct Factor {
  Variable what;
  bool below = false;
};
using Factors = std::vector<Factor>;

// The factors of a product in numerator and denominator; none if there are too many.
Factors factors_of(const Variable& product) {
  Factors out, open{{product}};
  const DType dtype = product.dtype();
  while (!open.empty()) {
    const auto [v, below] = open.back();
    open.pop_back();
    if (is_elemwise(v, "mul") && v.dtype() == dtype) {
      open.push_back({operand(v, 1), below});
      open.push_back({operand(v, 0), below});
    } else if (is_elemwise(v, "true_div") && v.dtype() == dtype) {
      open.push_back({operand(v, 1), !below});
      open.push_back({operand(v, 0), below});
    } else if (is_elemwise(v, "reciprocal") && v.dtype() == dtype) {
      open.push_back({operand(v, 0), !below});
    } else {
      out.push_back({v, below});
    }
    if (out.size() + open.size() > max_parts) return {};
  }
  return out;
}

Variable product_of(const Factors& factors, DType dtype) {
  Variable above, below;
  for (auto& [what, is_below] : factors) {
    Variable& side = is_below ? below : above;
    const Variable factor = cast(what, dtype);
    side = side.defined() ? side * factor : factor;
  }
  if (!below.defined()) return above;
  return above.defined() ? above / below : reciprocal(below);
}

bool is_sum_of_exps(const Variable& v) { return reduction(v, "sum") && is_elemwise(operand(v, 0), "exp"); }

// Whether every element is 1, -1, 0 or nan: a sign, possibly rearranged or multiplied by other signs.
bool is_sign(const Variable& v) {
  const Factors factors = factors_of(v);
  return !factors.empty() && std::all_of(factors.begin(), factors.end(), [](const Factor& factor) {
    Variable what = factor.what;
    while (is_elemwise(what, "neg") || is_view(what)) what = operand(what, 0);
    return is_elemwise(what, "sign") || std::abs(scalar_constant(what).value_or(0)) == 1;
  });
}

// Whether the exponent is a small constant: such powers are products, which seldom overflow or underflow.
bool is_small_power(const Variable& exponent) {
  constexpr double largest = 16;
  const auto value = scalar_constant(exponent);
  return value && std::abs(*value) <= largest;
}

// The logarithm of |x ** k|, k * log|x|; it is 0 for any base with exponent 0, and for base 1 with any exponent.
Variable log_of_power(const Variable& base, const Variable& exponent) {
  const Variable size = is_never_below_zero(base) ? base : abs(base);
  if (scalar_constant(exponent)) return exponent * log(size);
  const Variable is_odd_base = invert(and_(gt(size, 0), lt(size, inf))), is_odd_exponent = invert(isfinite(exponent));
  return switch_(and_(eq(size, 1), is_odd_exponent), zeros_like(exponent), exponent) *
         log(switch_(and_(eq(exponent, 0), is_odd_base), ones_like(size), size));
}

// The result of extracting a factor from a logarithm: a term outside, and inside a factor with the sign.
struct Extracted {
  Variable term, sign;
};

std::optional<Extracted> extracted(const Variable& v, bool alone) {
  if (const Viewed viewed(v); !viewed.views.empty()) {
    if (alone || !is_float(viewed.base.dtype())) return std::nullopt;
    auto out = extracted(viewed.base, false);
    if (!out) return std::nullopt;
    return Extracted{viewed.of(out->term), out->sign.defined() ? viewed.of(out->sign) : Variable()};
  }
  if (is_elemwise(v, "exp")) return Extracted{operand(v, 0), {}};
  if (is_elemwise(v, "pow") && !is_small_power(operand(v, 1)) && !is_sign(operand(v, 0))) {
    const Variable &base = operand(v, 0), &exponent = operand(v, 1);
    if (base.dtype() != v.dtype() || !can_cast_safely(exponent.dtype(), v.dtype())) return std::nullopt;
    return Extracted{log_of_power(base, cast(exponent, v.dtype())),
                     is_never_below_zero(base) ? Variable() : pow(sign(base), exponent)};
  }
  if (alone) return std::nullopt;
  if (reduction(v, "prod") && is_never_below_zero(operand(v, 0))) return Extracted{log(v), {}};
  if (is_elemwise(v, "sigmoid") || is_sum_of_exps(v)) return Extracted{log(v), {}};
  if (is_elemwise(v, "sqrt")) return Extracted{0.5 * log(operand(v, 0)), {}};
  return std::nullopt;
}

// log of a product: factors with a simple logarithm are extracted.
std::optional<Variables> log_of_parts(FunctionGraph&, const Apply& node) {
  const Variable& value = node.input(0);
  if (!is_float(value.dtype())) return std::nullopt;
  const Factors factors = factors_of(value);
  Factors rest;
  Variable above, below;
  for (auto& factor : factors) {
    const Variable what = cast(factor.what, value.dtype());
    const auto part = extracted(what, factors.size() == 1);
    if (!part) {
      rest.push_back({what, factor.below});
      continue;
    }
    // A term may be an exponent of integer or bool dtype: terms are added in the dtype of the logarithm.
    const Variable term = cast(part->term, value.dtype());
    Variable& side = factor.below ? below : above;
    side = side.defined() ? side + term : term;
    if (part->sign.defined()) rest.push_back({part->sign, factor.below});
  }
  if (!above.defined() && !below.defined()) return std::nullopt;
  if (!rest.empty()) {
    const Variable logarithm = log(product_of(rest, value.dtype()));
    above = above.defined() ? above + logarithm : logarithm;
  }
  return one(fit(!below.defined() ? above : above.defined() ? above - below : -below, node.output()));
}

// ---- products of many elements --------------------------------------------------------------------------------------

Variable sum_over(const CAReduce& op, const Variable& x) {
  if (!op.axes) return sum(x);
  return sum(x, *op.axes);
}

// log(prod(x)) is sum(log|x|), where the signs' product is positive.
std::optional<Variables> log_of_prod(FunctionGraph&, const Apply& node) {
  const CAReduce* op = reduction(node.input(0), "prod");
  if (!op) return std::nullopt;
  const Variable& x = operand(node.input(0), 0);
  if (is_sign(x)) return std::nullopt;
  if (is_never_below_zero(x)) return one(fit(sum_over(*op, log(x)), node.output()));
  return one(fit(sum_over(*op, log(abs(x))) + log(like(*op, sign(x))), node.output()));
}

// ---- weighted exponentials ------------------------------------------------------------------------------------------

// coefficient * exp(exponent); the coefficient is null for 1, the exponent for 0.
struct Weighted {
  Variable coefficient, exponent;
};

std::optional<Weighted> weighted(const Variable& v) {
  const Factors factors = factors_of(v);
  if (factors.empty()) return std::nullopt;
  Factors rest;
  Weighted out;
  for (auto& factor : factors) {
    const Viewed viewed(factor.what);
    if (!is_elemwise(viewed.base, "exp") || factor.what.dtype() != v.dtype()) {
      rest.push_back(factor);
      continue;
    }
    const Variable own = cast(viewed.of(operand(viewed.base, 0)), v.dtype());
    if (!out.exponent.defined())
      out.exponent = factor.below ? -own : own;
    else
      out.exponent = factor.below ? out.exponent - own : out.exponent + own;
  }
  if (!rest.empty()) out.coefficient = product_of(rest, v.dtype());
  return out;
}

// The exponent, or -inf where the coefficient is zero, so that it does not count in a maximum. Only the shift uses it:
// the derivative by a coefficient that is zero needs the exponent itself.
Variable counted(const Weighted& term) {
  if (!term.coefficient.defined() || scalar_constant(term.coefficient).value_or(0) != 0) return term.exponent;
  return switch_(neq(term.coefficient, 0), term.exponent, -inf);
}

Variable finite(const Variable& high) {
  const Variable held = disconnected_grad(high);
  return switch_(isinf(held), 0, held);
}

// exp of the shifted exponent. Only the exponent of a coefficient that is zero may be above the shift, and is bounded,
// so that its power is finite and the product zero.
Variable bounded_power(const Weighted& term, const Variable& shift) {
  const Variable exponent = term.exponent - shift;
  if (!term.coefficient.defined() || scalar_constant(term.coefficient).value_or(0) != 0) return exp(exponent);
  const double largest = exponent.dtype() == DType::Float64 ? 709 : exponent.dtype() == DType::Float32 ? 88 : 11;
  return exp(minimum(exponent, constant_like(largest, exponent.dtype())));
}

bool is_shifted(const Variable& exponent) { return subtracted_maximum(exponent).defined(); }

// Whether the exponent is shifted by a maximum that takes the weights into account.
bool is_shifted_with_weights(const Variable& exponent) {
  return is_elemwise(exponent, "minimum") && is_shifted(operand(exponent, 0));
}

bool is_single_zero(const Variable& v) {
  const auto& shape = v.static_shape();
  return scalar_constant(v) == 0.0 && std::all_of(shape.begin(), shape.end(), [](auto length) { return length == 1; });
}

// log(a * exp(x) + b * exp(y) + c): the largest exponent is factored out.
std::optional<Variables> log_of_weighted_terms(FunctionGraph&, const Apply& node) {
  const Variable &value = node.input(0), output = node.output();
  if (!is_float(value.dtype())) return std::nullopt;
  std::vector<Weighted> terms;
  const auto nested_sum = [&](const Variable& v) {
    return is_signed_sum(v) && v.dtype() == value.dtype() ? v : Variable();
  };
  std::vector<SignedTerm> parts = signed_terms(value, nested_sum, max_parts);
  if (parts.size() < 2) return std::nullopt;
  std::erase_if(parts, [](const SignedTerm& part) { return is_single_zero(part.value); });
  if (parts.size() == 1 && !parts[0].is_negative && parts[0].value.type() == value.type())
    return one(fit(log(parts[0].value), output));
  bool any = false;
  for (auto& [part, is_negative] : parts) {
    auto term = weighted(part);
    if (!term) return std::nullopt;
    if (term->exponent.defined() && (is_shifted(term->exponent) || is_shifted_with_weights(term->exponent)))
      return std::nullopt;
    any |= term->exponent.defined();
    if (term->coefficient.defined()) term->coefficient = cast(term->coefficient, value.dtype());
    if (is_negative)
      term->coefficient = term->coefficient.defined() ? -term->coefficient : constant_like(-1, value.dtype());
    terms.push_back(std::move(*term));
  }
  if (!any) return std::nullopt;
  Variable high, total;
  for (auto& term : terms) {
    if (!term.exponent.defined()) term.exponent = constant_like(0, value.dtype());
    const Variable exponent = counted(term);
    high = high.defined() ? maximum(exponent, high) : exponent;
  }
  const Variable shift = finite(high);
  for (auto& term : terms) {
    const Variable power = bounded_power(term, shift);
    const Variable part = term.coefficient.defined() ? term.coefficient * power : power;
    total = total.defined() ? total + part : part;
  }
  return one(fit(log(total) + shift, output));
}

// log(sum(w * exp(x))) along axes, also of nested sums.
std::optional<Variables> log_of_weighted_sum(FunctionGraph&, const Apply& node) {
  Variable total = node.input(0);
  const CAReduce* op = reduction(total, "sum");
  if (!op) return std::nullopt;
  const Variable terms = operand(total, 0);
  std::vector<int> axes;
  for (int axis = 0; axis < terms.ndim(); ++axis)
    if (op->reduces(axis)) axes.push_back(axis);
  if (axes.empty()) return std::nullopt;
  if (const CAReduce* inner = reduction(terms, "sum")) {
    const Variable& x = operand(terms, 0);
    const auto term = weighted(x);
    if (!term || !term->exponent.defined()) return std::nullopt;
    std::vector<int> kept, all;
    for (int axis = 0; axis < x.ndim(); ++axis) (inner->reduces(axis) ? all : kept).push_back(axis);
    for (int axis : axes) all.push_back(kept[std::size_t(axis)]);
    std::sort(all.begin(), all.end());
    return one(fit(log(sum(x, all)), node.output()));
  }
  const auto term = weighted(terms);
  if (!term || !term->exponent.defined() || !term->coefficient.defined()) return std::nullopt;
  if (is_shifted_with_weights(term->exponent)) return std::nullopt;
  const bool is_constant = scalar_constant(term->coefficient).value_or(0) != 0;
  if ((is_constant || range_of(term->coefficient).is_positive()) && is_shifted(term->exponent)) return std::nullopt;
  if (is_constant && !same_broadcast(term->exponent, terms)) return std::nullopt;
  const Variable shift = finite(max(counted(*term), axes, KeepDims::Yes));
  const Variable shifted = log(sum(term->coefficient * bounded_power(*term, shift), axes, KeepDims::Yes)) + shift;
  std::vector<int> kept;
  for (int axis = 0; axis < terms.ndim(); ++axis)
    if (!op->reduces(axis)) kept.push_back(axis);
  return one(fit(dimshuffle(shifted, kept), node.output()));
}

// ---- views, extremes and switches below the logarithm ---------------------------------------------------------------

// Whether a form may contain a logarithm of 0: its derivative is infinite there, and its product with the cotangent 0
// of an element that no selection shows is nan.
bool may_have_a_pole(const Variable& form, int depth = 6) {
  const ScalarOp* op = scalar_op_of(form);
  if (!op || depth == 0) return false;
  const Variables inputs = form.owner().inputs();
  const double low = range_of(inputs[0]).low;
  if ((op->name == "log" || op->name == "log2" || op->name == "log10") && !(low > 0)) return true;
  if (op->name == "log1p" && !(low > -1)) return true;
  return std::any_of(inputs.begin(), inputs.end(), [&](const Variable& x) { return may_have_a_pole(x, depth - 1); });
}

// f(view(x)) is view(f(x)) if f(x) has a stable form: log(softmax(x)[i, y]) is log_softmax(x)[i, y].
std::optional<Variables> below_view(FunctionGraph& graph, const Apply& node) {
  const Variable output = node.output();
  if (!is_float(output.dtype())) return std::nullopt;
  Variable shown;
  std::size_t shown_index = 0;
  bool is_negated = false;  // canonicalize moves negation above views
  for (std::size_t i = 0; i < node.inputs().size(); ++i) {
    if (scalar_constant(node.inputs()[i])) continue;
    is_negated = is_elemwise(node.inputs()[i], "neg");
    const Variable& input = is_negated ? operand(node.inputs()[i], 0) : node.inputs()[i];
    if (shown.defined() || !is_view(input)) return std::nullopt;
    shown = input;
    shown_index = i;
  }
  if (!shown.defined() || shown.dtype() != output.dtype()) return std::nullopt;
  const Viewed viewed(shown);
  const Variable& base = viewed.base;
  if (!is_float(base.dtype()) || !base.has_owner()) return std::nullopt;
  Variables operands;
  for (std::size_t i = 0; i < node.inputs().size(); ++i)
    operands.push_back(i != shown_index ? constant_like(*scalar_constant(node.inputs()[i]), base.dtype())
                       : is_negated     ? -base
                                        : base);
  const auto form = stable_form_of(graph, apply_elemwise(scalar_op_of(output)->name, operands).owner());
  if (!form) return std::nullopt;
  const bool selects = std::any_of(viewed.views.begin(), viewed.views.end(), [](const Variable& view) {
    return op_as<Subtensor>(view) || op_as<AdvancedSubtensor>(view);
  });
  if (selects && may_have_a_pole(*form)) return std::nullopt;
  return one(fit(viewed.of(*form), output));
}

std::optional<Variable> stable_log(FunctionGraph& graph, const Variable& x) {
  return x.has_owner() ? stable_form_of(graph, log(x).owner()) : std::nullopt;
}

// log(max(x)) is max(log(x)).
std::optional<Variables> log_of_extreme(FunctionGraph& graph, const Apply& node) {
  const Variable& value = node.input(0);
  const auto* op = op_as<CAReduce>(value);
  if (!op || (op->kind.name != "max" && op->kind.name != "min")) return std::nullopt;
  const Variable& x = operand(value, 0);
  if (!is_float(x.dtype()) || !is_never_below_zero(x)) return std::nullopt;
  const auto form = stable_log(graph, x);
  return form ? one(fit(like(*op, *form), node.output())) : std::nullopt;
}

// log(switch(c, a, b)) is switch(c, log(a), log(b)); likewise for log1mexp.
std::optional<Variables> log_of_switch(FunctionGraph& graph, const Apply& node) {
  const Variable& value = node.input(0);
  if (!is_elemwise(value, "switch")) return std::nullopt;
  const auto of = [&](int branch) {
    const Variable operands[] = {cast(operand(value, branch), value.dtype())};
    return apply_elemwise(scalar_op_of(node.output())->name, operands);
  };
  const Variable of_first = of(1), of_second = of(2);
  const auto first = stable_form_of(graph, of_first.owner()), second = stable_form_of(graph, of_second.owner());
  if (!first && !second) return std::nullopt;
  return one(fit(switch_(operand(value, 0), first.value_or(of_first), second.value_or(of_second)), node.output()));
}

// ---- special functions ----------------------------------------------------------------------------------------------

// v as a constant times x.
std::pair<double, Variable> scaled(Variable v) {
  double factor = 1;
  for (int depth = 0; depth < 8; ++depth) {
    if (is_elemwise(v, "neg")) {
      factor = -factor;
      v = operand(v, 0);
      continue;
    }
    const bool is_product = is_elemwise(v, "mul"), is_quotient = is_elemwise(v, "true_div");
    if (!is_product && !is_quotient) break;
    const auto first = scalar_constant(operand(v, 0)), second = scalar_constant(operand(v, 1));
    if (second) {
      factor = is_product ? factor * *second : factor / *second;
      v = operand(v, 0);
    } else if (first && is_product) {
      factor *= *first;
      v = operand(v, 1);
    } else {
      break;
    }
  }
  return {factor, v};
}

// log(erfc(y) / 2), which is log_ndtr(-y * sqrt(2)).
std::optional<Variables> log_of_half_erfc(FunctionGraph&, const Apply& node) {
  const auto [half, v] = scaled(node.input(0));
  if (half != 0.5 || !is_elemwise(v, "erfc")) return std::nullopt;
  const Variable y = operand(v, 0), output = node.output();
  const auto [factor, x] = scaled(y);
  if (x.dtype() != output.dtype() || y.dtype() != output.dtype()) return std::nullopt;
  constexpr double sqrt_half = 0.70710678118654752440;
  const double precision = output.dtype() == DType::Float64 ? 1e-15 : 1e-7;
  if (std::abs(std::abs(factor) - sqrt_half) < precision) return one(fit(log_ndtr(factor < 0 ? x : -x), output));
  const Variable is_left = lt(y, 0);
  const Variable left = log1p(-0.5 * erfc(-switch_(is_left, y, 0)));
  const Variable right = switch_(is_left, 0, y);
  return one(fit(switch_(is_left, left, log(0.5 * erfcx(right)) - sqr(right)), output));
}

void special_functions(Rules& rules) {
  auto [x, y] = pattern_variables<2>();
  // Gamma is positive in every second interval of negative arguments.
  const Variable is_positive = or_(ge(x, 0), and_(eq(mod(floor(x), 2), 0), neq(floor(x), x)));
  rules.equation("log_of_gamma", log(gamma(x)), switch_(is_positive, gammaln(x), nan))
      .tags(stabilize)
      .wider_domain()
      .differs_at({-0.0});
  // cosh(x) is 1 + 2 * sinh(x / 2) ** 2.
  const Variable is_small = lt(abs(x), 2), near = switch_(is_small, x, 0), far = switch_(is_small, 2, abs(x));
  const Variable log_cosh = switch_(is_small, log1p(2 * sqr(sinh(0.5 * near))), far + log1p(0.5 * expm1(-2 * far)));
  rules.equation("log_of_cosh", log(cosh(x)), log_cosh).tags(stabilize).more_accurate().wider_domain();
  rules.equation("log_of_sech", log(1 - sqr(tanh(x))), -2 * log_cosh)
      .tags(stabilize)
      .priority(1)
      .more_accurate()
      .wider_domain()
      .no_signed_zeros();
  rules.equation("log1p_of_sech", log1p(-sqr(tanh(x))), -2 * log_cosh)
      .tags(stabilize)
      .priority(1)
      .more_accurate()
      .wider_domain();
  rules.equation("hypot", sqrt(sqr(x) + sqr(y)), hypot(x, y)).tags(stabilize).wider_domain();
  rules.equation("scaled_erfc", exp(sqr(x)) * erfc(x), erfcx(x)).tags(stabilize).wider_domain();
  rules.equation("scaled_erfc_times", exp(sqr(x)) * (y * erfc(x)), y * erfcx(x)).tags(stabilize).wider_domain();
  // |1 - x| is 1 - min(x, 2 - x).
  rules.equation("log_of_distance_from_one", log(abs(1 - x)), log1p(-minimum(x, 2 - x)))
      .tags(stabilize)
      .more_accurate()
      .no_signed_zeros();
  // The logarithm of a survival function, computed from that of the distribution function: 1 - (1 - exp(x)) is exp(x).
  rules.equation("log1mexp_of_log1mexp", log1mexp(log1mexp(x)), switch_(le(x, 0), x, nan))
      .tags(stabilize)
      .more_accurate()
      .wider_domain()
      .no_signed_zeros();
  rules.equation("log_of_expm1", log(expm1(x)), x + log1mexp(-x)).tags(stabilize).wider_domain();
  // Where exp(x) is below the precision of 1, 1 - exp(-exp(x)) is exp(x).
  constexpr double below_precision = -37;
  const Variable is_tiny = lt(x, below_precision);
  rules
      .equation("log1mexp_of_neg_exp", log1mexp(-exp(x)),
                switch_(is_tiny, x, log1mexp(-exp(switch_(is_tiny, below_precision, x)))))
      .tags(stabilize)
      .wider_domain()
      .when([](const Match& m) { return !is_elemwise(operand(operand(m.node().input(0), 0), 0), "switch"); });
}

// expm1(x) / x, by its Taylor series near 0.
void relative_exponentials(Rules& rules) {
  auto [x] = pattern_variables<1>();
  constexpr int last = 19;
  double factorial = 1;
  for (int k = 2; k <= last + 1; ++k) factorial *= k;
  const Variable is_near = lt(abs(x), 1), near = switch_(is_near, x, 0), far = switch_(is_near, 2, x);
  Variable series = Operand(1 / factorial).variable;
  for (int k = last; k-- > 0;) {
    factorial /= k + 2;
    series = series * near + 1 / factorial;
  }
  rules.equation("expm1_over_x", expm1(x) / x, switch_(is_near, series, expm1(far) * reciprocal(far)))
      .tags(stabilize)
      .wider_domain();
  // x / expm1(x) is |x| exp(-max(x, 0)) / (1 - exp(-|x|)), in which nothing overflows.
  const Variable size = abs(far), half_power = exp(-0.5 * maximum(far, 0));
  rules
      .equation("x_over_expm1", x / expm1(x),
                switch_(is_near, reciprocal(series), half_power * size / -expm1(-size) * half_power))
      .tags(stabilize)
      .wider_domain();
}

void declare_stable_logs(Rules& rules) {
  relative_exponentials(rules);
  rules.function("log_of_parts", Root::scalar({"log"}), log_of_parts)
      .doc(
          "Extracts the factors exp(x), sqrt(x), sigmoid(x), x ** k, prod(x) and sums of exponentials from the "
          "logarithm of a product or quotient: log(softmax(x)) becomes log_softmax(x).")
      .tags(stabilize, specialize, "local_logsoftmax", "local_log_div")
      .depth(4)
      .wider_domain()
      .no_signed_zeros()
      .sample([] { return log(softmax(sample_matrix(), std::vector<int>{1})); })
      .sample([] { return log(exp(sample_vector()) * sigmoid(sample_vector())); })
      .sample([] { return log(sample_vector() / exp(sample_vector())); })
      .sample([] { return log(sqrt(sample_vector()) / 3); })
      .sample([] { return log(exp(sample_vector()) * exp(sample_vector()) / exp(sample_vector())); })
      .sample([] { return log(pow(sample_vector(), sample_vector()) * pow(1 - sample_vector(), sample_vector())); })
      .sample([] { return log(pow(sample_vector(), sample_vector())); });
  rules.function("log_of_prod", Root::scalar({"log"}), log_of_prod)
      .doc("Rewrites log(prod(x)) as sum(log(x)).")
      .tags(stabilize, "local_log_prod_to_sum_log")
      .with_input(Root::op({"CAReduce"}))
      .depth(2)
      .wider_domain()
      .sample([] { return log(prod(sample_vector())); })
      .sample([] { return log(prod(sigmoid(sample_matrix()), std::vector<int>{1})); });
  rules.function("log_of_weighted_terms", Root::scalar({"log"}), log_of_weighted_terms)
      .doc("Shifts log(a * exp(x) + b * exp(y)) by the larger exponent.")
      .tags(stabilize)
      .priority(-1)
      .depth(5)
      .wider_domain()
      .sample([] {
        const Variable a = sample_vector(), b = sample_vector();
        return log(a * exp(sample_vector()) + exp(sample_vector()) / b);
      })
      .sample([] { return log(2 + exp(sample_vector())); })
      .sample([] { return log(exp(sample_vector()) + 0.0); });
  rules.function("log_of_weighted_sum", Root::scalar({"log"}), log_of_weighted_sum)
      .doc("Shifts log(sum(w * exp(x))) by the largest x whose weight w is not 0.")
      .tags(stabilize, shape_unsafe)
      .depth(5)
      .wider_domain()
      .sample([] { return log(sum(sample_vector() * exp(sample_vector()))); })
      .sample(
          [] { return log(sum(sample_vector() * softmax(sample_matrix(), std::vector<int>{1}), std::vector<int>{1})); })
      .sample([] { return log(sum(sum(exp(sample_matrix()), std::vector<int>{1}))); });
  rules.function("elemwise_below_view", Root::scalar({"log", "log1p", "sub"}), below_view)
      .doc(
          "Moves log, log1p and subtraction below indexing, casts and views that separate them from operations with a "
          "joint stable form: log(softmax(x)[i, y]) becomes log_softmax(x)[i, y].")
      .tags(stabilize)
      .depth(6)
      .wider_domain()
      .sample([] { return log(subtensor(softmax(sample_matrix(), std::vector<int>{1}), {IndexItem(1)})); })
      .sample([] {
        const Variable rows = sample_leaf(DType::Int64, {any_length});
        return log(subtensor(sigmoid(sample_leaf(DType::Float64, {9})), {IndexItem(rows)}));
      })
      .sample([] { return 1 - transpose(sigmoid(sample_matrix())); })
      .sample([] { return log1p(-expand_dims(sigmoid(sample_vector()), {0})); });
  rules.function("log_of_extreme", Root::scalar({"log"}), log_of_extreme)
      .doc("Rewrites log(max(x)) as max(log(x)), likewise for min, where the logarithm of x is simpler than x.")
      .tags(stabilize)
      .with_input(Root::op({"CAReduce"}))
      .depth(6)
      .wider_domain()
      .sample([] { return log(max(softmax(sample_matrix(), std::vector<int>{1}), std::vector<int>{1})); });
  rules.function("log_of_switch", Root::scalar({"log", "log1mexp"}), log_of_switch)
      .doc(
          "Rewrites log(switch(c, a, b)) as switch(c, log(a), log(b)) where a logarithm is simpler than its argument, "
          "likewise for log1mexp.")
      .tags(stabilize)
      .with_input(Root::scalar({"switch"}))
      .depth(6)
      .wider_domain()
      .sample([] { return log(switch_(sample_vector() > 0, sigmoid(sample_vector()), 1)); })
      .sample([] {
        return log1mexp(
            switch_(sample_vector() > 0, log1mexp(-sqr(sample_vector())), -std::numeric_limits<double>::infinity()));
      });
  rules.function("log_of_half_erfc", Root::scalar({"log"}), log_of_half_erfc)
      .doc("Rewrites log(erfc(x) / 2) as log_ndtr(-sqrt(2) * x).")
      .tags(stabilize)
      .with_input(Root::scalar({"mul", "true_div"}))
      .priority(2)
      .depth(5)
      .wider_domain()
      .sample([] { return log(0.5 * erfc(-sample_vector() / std::sqrt(2.))); })
      .sample([] { return log(erfc(sample_vector()) / 2); });
  special_functions(rules);
}

const RegisterRules register_stable_logs("stable_logs", declare_stable_logs);

}  // namespace

}  // namespace bitale::rewriting
