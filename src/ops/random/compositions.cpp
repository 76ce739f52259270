// Compositions whose draws are numbers: SciPy's and PyTensor's distributions. They take the same values from NumPy's
// generators as PyTensor's do.
#include "ops/random/compositions.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <optional>
#include <utility>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/special.hpp"
#include "ops/random/state.hpp"

namespace bitale {

Variable DrawSource::draw(std::string_view distribution, Variables parameters, const Shape& further) {
  Shape lengths = lengths_;
  lengths.insert(lengths.end(), further.begin(), further.end());
  const random::Draw drawn = random::draw(distribution, state_, std::move(parameters), Operands(std::move(lengths)));
  state_ = drawn.next_rng;
  return drawn.value;
}

Variable DrawSource::unit() {
  const bool is_stream = is_counter_based(state_);
  const Variable u = draw("random");
  return is_stream ? maximum(u, 0x1p-54) : u;
}

Variable DrawSource::rows(std::string_view distribution, const Variable& length, const Variables& parameters) {
  const random::Draw drawn = random::rows(distribution, state_, lengths_, length, {}, parameters);
  state_ = drawn.next_rng;
  return drawn.value;
}

namespace {

constexpr double half_turn = std::numbers::pi;

// The range of a parameter. Comparisons are written so that nan is outside, unless NumPy lets it pass.
enum class Allowed { any, not_negative, not_negative_or_nan, positive, probability };

bool is_allowed(Allowed range, double x) {
  switch (range) {
    case Allowed::any: break;
    case Allowed::not_negative: return x >= 0;
    case Allowed::not_negative_or_nan: return !(x < 0);
    case Allowed::positive: return x > 0;
    case Allowed::probability: return x >= 0 && x <= 1;
  }
  return true;
}

Variable allowed_condition(Allowed range, const Variable& x) {
  switch (range) {
    case Allowed::any: break;
    case Allowed::not_negative: return ge(x, 0);
    case Allowed::not_negative_or_nan: return logical_not(lt(x, 0));
    case Allowed::positive: return gt(x, 0);
    case Allowed::probability: return logical_and(ge(x, 0), le(x, 1));
  }
  return constant(Array(true));
}

std::string refusal_of(Allowed range, std::string_view name, bool is_whole) {
  switch (range) {
    case Allowed::any: break;
    case Allowed::not_negative: return is_whole ? cat(name, " < 0") : cat(name, " < 0 or ", name, " is NaN");
    case Allowed::not_negative_or_nan: return cat(name, " < 0");
    case Allowed::positive: return cat(name, " <= 0 or ", name, " is NaN");
    case Allowed::probability: return cat(name, " < 0, ", name, " > 1 or ", name, " is NaN");
  }
  return {};
}

struct NumberParameter {
  std::string_view name;
  Allowed range = Allowed::any;
  DType dtype = DType::Float64;
};

double number_in(const runtime::random::Column& column, DType dtype) {
  return dtype == DType::Int64 ? double(*static_cast<const std::int64_t*>(column.data))
                               : *static_cast<const double*>(column.data);
}

// A composition whose domain is a range for each parameter and, if `in_order` is given, the condition that the first of
// these two parameters is at most the second.
Composition of_numbers(std::string_view name, std::vector<NumberParameter> parameters, DType result,
                       Variable (*formula)(DrawSource&, const Variables&),
                       std::optional<std::pair<std::size_t, std::size_t>> in_order = {}) {
  Composition out{name, {}, result, formula, {}, {}, {}};
  out.domain.name = name;
  std::vector<std::string> refusals;
  for (auto& each : parameters) {
    out.parameters.push_back({each.name, each.dtype});
    out.domain.parameters.push_back(each.name);
    out.domain.dtypes.push_back(each.dtype);
    refusals.push_back(refusal_of(each.range, each.name, each.dtype == DType::Int64));
  }
  if (in_order)
    refusals.push_back(cat("not ", parameters[in_order->first].name, " <= ", parameters[in_order->second].name));
  out.domain.refuse = [parameters, in_order, refusals](auto columns, std::int64_t) -> const char* {
    const auto value = [&](std::size_t k) { return number_in(columns[k], parameters[k].dtype); };
    for (std::size_t k = 0; k < parameters.size(); ++k)
      if (!is_allowed(parameters[k].range, value(k))) return refusals[k].c_str();
    return in_order && !(value(in_order->first) <= value(in_order->second)) ? refusals.back().c_str() : nullptr;
  };
  out.holds = [parameters, in_order](const Variables& p) {
    Variable all = constant(Array(true));
    const auto also = [&](const Variable& more) {
      all = all.is_constant() ? holds_everywhere(more) : logical_and(all, holds_everywhere(more));
    };
    for (std::size_t k = 0; k < parameters.size(); ++k)
      if (parameters[k].range != Allowed::any) also(allowed_condition(parameters[k].range, p[k]));
    if (in_order) also(le(p[in_order->first], p[in_order->second]));
    return all;
  };
  return out;
}

// By the inverse distribution function, in logarithms and from the nearer tail, so that intervals far from the mean
// keep their precision.
Variable truncated_normal_of(DrawSource& from, const Variables& p) {
  const Variable &loc = p[0], &scale = p[1], u = maximum(from.unit(), 0x1p-54);
  // An infinite limit is replaced by one far out, so that no intermediate value is infinite.
  const auto in_deviations = [&](const Variable& limit) {
    const Variable is_far = isinf(limit);
    return switch_(is_far, sign(limit) * 1e150, (switch_(is_far, loc, limit) - loc) / scale);
  };
  const Variable a = in_deviations(p[2]), b = in_deviations(p[3]), flips = gt(a, 0);
  const Variable low = switch_(flips, -b, a), high = switch_(flips, -a, b);
  // The logarithm of a sum with finite terms.
  const Variable from_low = log_ndtr(low) + log1p(-u), from_high = log_ndtr(high) + log(u);
  const Variable log_p = maximum(from_low, from_high) + log1p(exp(-abs(from_high - from_low)));
  const Variable z = clip(ndtri_exp(minimum(log_p, 0.0)), low, high);
  return clip(loc + scale * switch_(flips, -z, z), p[2], p[3]);
}

}  // namespace

std::vector<Composition> compositions_of_numbers() {
  using enum Allowed;
  using enum DType;
  using P = const Variables&;
  const NumberParameter loc{"loc"}, scale{"scale", not_negative};
  std::vector<Composition> out;
  out.push_back(of_numbers("bernoulli", {{"p", probability}}, Int64, [](DrawSource& from, P p) {
    return from.draw("binomial", {constant(Array(std::int64_t(1))), p[0]});
  }));
  out.push_back(of_numbers("halfnormal", {loc, scale}, Float64,
                           [](DrawSource& from, P p) { return abs(from.draw("standard_normal")) * p[1] + p[0]; }));
  out.push_back(of_numbers("pareto", {{"b", positive}, scale}, Float64,
                           [](DrawSource& from, P p) { return pow(1.0 - from.unit(), -1.0 / p[0]) * p[1]; }));
  out.push_back(of_numbers("gumbel", {loc, scale}, Float64,
                           [](DrawSource& from, P p) { return -log(-log(from.unit())) * p[1] + p[0]; }));
  out.push_back(of_numbers("cauchy", {loc, scale}, Float64, [](DrawSource& from, P p) {
    return tan(half_turn * from.unit() - half_turn / 2) * p[1] + p[0];
  }));
  out.push_back(of_numbers("halfcauchy", {loc, scale}, Float64,
                           [](DrawSource& from, P p) { return tan(half_turn / 2 * from.unit()) * p[1] + p[0]; }));
  out.push_back(
      of_numbers("invgamma", {{"shape", not_negative_or_nan}, {"scale", not_negative_or_nan}}, Float64,
                 [](DrawSource& from, P p) { return 1.0 / (1.0 / p[1] * from.draw("standard_gamma", {p[0]})); }));
  out.push_back(of_numbers("truncexpon", {{"b", positive}, loc, scale}, Float64,
                           [](DrawSource& from, P p) { return -log1p(from.unit() * expm1(-p[0])) * p[2] + p[1]; }));
  out.push_back(of_numbers("truncated_normal", {loc, {"scale", positive}, {"lower"}, {"upper"}}, Float64,
                           truncated_normal_of, std::pair<std::size_t, std::size_t>(2, 3)));
  out.push_back(of_numbers("t", {{"df", positive}, loc, scale}, Float64,
                           [](DrawSource& from, P p) { return from.draw("standard_t", {p[0]}) * p[2] + p[1]; }));
  out.push_back(of_numbers(
      "gengamma", {{"alpha", positive}, {"p", positive}, {"lambd", not_negative}}, Float64,
      [](DrawSource& from, P p) { return pow(from.draw("standard_gamma", {p[0] / p[1]}), 1.0 / p[1]) * p[2]; }));
  out.push_back(of_numbers("betabinom", {{"n", not_negative, Int64}, {"a", positive}, {"b", positive}}, Int64,
                           [](DrawSource& from, P p) {
                             const Variable probability = from.draw("beta", {p[1], p[2]});
                             return from.draw("binomial", {p[0], probability});
                           }));
  return out;
}

}  // namespace bitale
