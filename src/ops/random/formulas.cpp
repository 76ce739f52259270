#include "ops/random/formulas.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include "bitale/ops/gradient_control.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "ops/random/bits.hpp"
#include "ops/random/domain.hpp"

namespace bitale {

namespace {

// The numbers of one draw; each word is used once.
class Words {
 public:
  Words(const Variable& state, std::span<const Variable> lengths) : state_(state), lengths_(lengths) {}

  Variable bits() { return next("bits"); }
  Variable unit() { return next("unit"); }  // from 0 up to 1
  Variable open() { return next("open"); }  // between 0 and 1
  Variable next_rng() { return random_bits(state_, lengths_, "open").next_rng; }

  Variable standard_normal() { return sampler("random_normal", {open()}); }
  Variable standard_exponential() { return -log(open()); }
  Variable standard_gamma(const Variable& shape) { return sampler("random_gamma", {open(), shape}); }
  Variable log_gamma(const Variable& shape) { return sampler("random_log_gamma", {open(), shape}); }
  Variable sampler(std::string_view name, const Variables& inputs) { return apply_elemwise(name, inputs); }

 private:
  Variable next(std::string_view form) { return random_bits(state_, lengths_, form, word_++).value; }

  const Variable state_;
  const std::span<const Variable> lengths_;
  int word_ = 0;
};

using P = const Variables&;

struct RandomFormula {
  Variable (*draw)(Words& words, P parameters);
  Variable (*holds)(P parameters) = nullptr;  // whether all are in the domain, as Distribution::refuse; null: always
};

Variable not_negative(const Variable& x) { return logical_not(lt(x, 0)); }
Variable between(const Variable& p) { return logical_and(ge(p, 0), le(p, 1)); }
Variable whole(const Variable& x) {
  return cast(minimum(x, 9223372036854774784.0), DType::Int64);  // the largest number below 2^63
}
Variable as_float64(const Variable& x) { return cast(x, DType::Float64); }

constexpr double pi_ = std::numbers::pi, largest_poisson_rate = 9.223372006484771e+18;

// An integer in [0, count), by Lemire's product (2019). The limit of the few words that must be redrawn, 2^64 mod
// count, takes a division: if each element has its own count, it is computed only where it may matter.
Variable below(Words& words, const Variable& count) {
  const Variable limit = count.ndim() ? count : mod(constant(Array(std::uint64_t(0))) - count, count);
  return apply_elemwise("random_below", Variables{words.bits(), count, limit});
}

const std::map<std::string_view, RandomFormula>& formulas() {
  static const auto& all = *new std::map<std::string_view, RandomFormula>{
      {"random", {[](Words& w, P) { return w.unit(); }}},
      {"standard_normal", {[](Words& w, P) { return w.standard_normal(); }}},
      {"standard_exponential", {[](Words& w, P) { return w.standard_exponential(); }}},
      {"standard_cauchy", {[](Words& w, P) { return tan(pi_ * (w.open() - 0.5)); }}},
      {"uniform",
       {[](Words& w, P p) { return p[0] + (p[1] - p[0]) * w.unit(); },
        [](P p) { return logical_and(isfinite(p[1] - p[0]), le(p[0], p[1])); }}},
      {"normal",
       {[](Words& w, P p) { return p[0] + p[1] * w.standard_normal(); }, [](P p) { return not_negative(p[1]); }}},
      {"lognormal",
       {[](Words& w, P p) { return exp(p[0] + p[1] * w.standard_normal()); }, [](P p) { return not_negative(p[1]); }}},
      {"exponential",
       {[](Words& w, P p) { return p[0] * w.standard_exponential(); }, [](P p) { return not_negative(p[0]); }}},
      {"standard_gamma",
       {[](Words& w, P p) { return w.standard_gamma(p[0]); }, [](P p) { return not_negative(p[0]); }}},
      {"gamma",
       {[](Words& w, P p) { return p[1] * w.standard_gamma(p[0]); },
        [](P p) { return logical_and(not_negative(p[0]), not_negative(p[1])); }}},
      // X / (X + Y) for two gamma variables, computed from their logarithms: small shapes underflow.
      {"beta",
       {[](Words& w, P p) {
          const Variable x = w.log_gamma(p[0]);
          return sigmoid(x - w.log_gamma(p[1]));
        },
        [](P p) { return logical_and(gt(p[0], 0), gt(p[1], 0)); }}},
      {"chisquare",
       {[](Words& w, P p) { return 2.0 * w.standard_gamma(p[0] / 2.0); }, [](P p) { return gt(p[0], 0); }}},
      {"standard_t",
       {[](Words& w, P p) {
          const Variable z = w.standard_normal();
          return z * sqrt(p[0] / 2.0 / w.standard_gamma(p[0] / 2.0));
        },
        [](P p) { return gt(p[0], 0); }}},
      {"pareto",
       {[](Words& w, P p) { return expm1(w.standard_exponential() / p[0]); }, [](P p) { return gt(p[0], 0); }}},
      {"weibull",
       {[](Words& w, P p) { return switch_(eq(p[0], 0), 0.0, pow(w.standard_exponential(), 1.0 / p[0])); },
        [](P p) { return not_negative(p[0]); }}},
      {"power", {[](Words& w, P p) { return pow(w.open(), 1.0 / p[0]); }, [](P p) { return gt(p[0], 0); }}},
      // From the nearer end, where floating-point numbers are dense.
      {"laplace",
       {[](Words& w, P p) {
          const Variable u = w.open(), tail = log(2.0 * minimum(u, 1.0 - u));
          return p[0] + p[1] * switch_(lt(u, 0.5), tail, -tail);
        },
        [](P p) { return not_negative(p[1]); }}},
      {"gumbel",
       {[](Words& w, P p) { return p[0] - p[1] * log(w.standard_exponential()); },
        [](P p) { return not_negative(p[1]); }}},
      {"logistic",
       {[](Words& w, P p) {
          const Variable u = w.open();
          return p[0] + p[1] * log(u / (1.0 - u));
        },
        [](P p) { return not_negative(p[1]); }}},
      {"rayleigh",
       {[](Words& w, P p) { return p[0] * sqrt(2.0 * w.standard_exponential()); },
        [](P p) { return not_negative(p[0]); }}},
      // Michael, Schucany and Haas (1976), with the smaller root in a form without cancellation.
      {"wald",
       {[](Words& w, P p) {
          const Variable z = w.standard_normal(), divisor = 1.0 + sqrt(1.0 + 4.0 * p[1] / (sqr(z) * p[0]));
          const Variable x = p[0] * (1.0 - 2.0 / divisor);
          // Which root it is depends on the parameters: the derivative of a root is not that of the variable.
          return undefined_grad(switch_(le(w.open(), p[0] / (p[0] + x)), x, sqr(p[0]) / x));
        },
        [](P p) { return logical_and(gt(p[0], 0), gt(p[1], 0)); }}},
      {"vonmises",
       {[](Words& w, P p) {
          return w.sampler("random_vonmises", {w.open(), p[0], p[1]});
        },
        [](P p) { return not_negative(p[1]); }}},
      {"triangular",
       {[](Words& w, P p) {
          const Variable &left = p[0], &mode = p[1], &right = p[2], base = right - left, u = w.unit();
          return switch_(le(u, (mode - left) / base), left + sqrt(u * (mode - left) * base),
                         right - sqrt((1.0 - u) * (right - mode) * base));
        },
        [](P p) { return logical_not(logical_or(logical_or(gt(p[0], p[1]), gt(p[1], p[2])), eq(p[0], p[2]))); }}},
      {"poisson",
       {[](Words& w, P p) {
          return whole(w.sampler("random_poisson", {w.open(), p[0]}));
        },
        [](P p) { return logical_and(ge(p[0], 0), le(p[0], largest_poisson_rate)); }}},
      {"geometric",
       {[](Words& w, P p) { return whole(maximum(1.0, ceil(log(w.open()) / log1p(-p[0])))); },
        [](P p) { return logical_and(gt(p[0], 0), le(p[0], 1)); }}},
      {"binomial",
       {[](Words& w, P p) {
          return whole(w.sampler("random_binomial", {w.open(), as_float64(p[0]), p[1]}));
        },
        [](P p) { return logical_and(ge(p[0], 0), between(p[1])); }}},
      // A Poisson variable whose rate is a gamma variable.
      {"negative_binomial",
       {[](Words& w, P p) {
          const Variable rate = (1.0 - p[1]) / p[1] * w.standard_gamma(p[0]);
          return whole(w.sampler("random_poisson", {w.open(), rate}));
        },
        [](P p) {
          const Variable mean = (1.0 - p[1]) / p[1] * (p[0] + 10.0 * sqrt(p[0]));
          return logical_and(logical_and(gt(p[0], 0), logical_and(gt(p[1], 0), le(p[1], 1))),
                             logical_not(gt(mean, largest_poisson_rate)));
        }}},
      {"integers",
       {[](Words& w, P p) {
          Variable count = cast(p[1], DType::UInt64) - cast(p[0], DType::UInt64);
          const auto low = known_integer(p[0]), high = known_integer(p[1]);
          if (low && high) count = constant(Array(std::uint64_t(*high) - std::uint64_t(*low)));
          return cast(cast(p[0], DType::UInt64) + below(w, count), DType::Int64);
        },
        [](P p) { return lt(p[0], p[1]); }}},
  };
  return all;
}

}  // namespace

bool has_random_formula(const runtime::random::Distribution& of) { return formulas().contains(of.name); }

std::optional<random::Draw> random_formula(const runtime::random::Distribution& of, const Variable& state,
                                           std::span<const Variable> lengths, const Variables& given) {
  const auto found = formulas().find(of.name);
  if (found == formulas().end()) return std::nullopt;
  const RandomFormula& formula = found->second;
  Variables parameters;
  for (auto& each : given) parameters.push_back(known_scalar(each));
  if (formula.holds) parameters = checked_parameters(of.name, parameters, holds_everywhere(formula.holds(parameters)));
  Words words(state, lengths);
  const Variable value = formula.draw(words, parameters);
  return random::Draw{words.next_rng(), cast(value, of.result)};
}

}  // namespace bitale
