// Probabilities of categories, which are numbers from 0.
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/search.hpp"
#include "bitale/stats/vectors.hpp"
#include "ops/analysis/lengths.hpp"
#include "stats/arguments.hpp"
#include "stats/distribution.hpp"

namespace bitale::stats {

using V = const Variable&;

namespace {

const Axes category_axis{-1};

void require_categories(const char* who, V x, V along, const char* name) {
  if (along.ndim() < 1)
    throw ShapeError(
        cat(who, ": ", name, ": expected at least 1 dimension, got ", along.str(), " of type ", along.type()->str()));
  if (!is_discrete(x.dtype()) || x.dtype() == DType::Bool)
    throw TypeError(cat(who, ": x: expected integers, got ", x.str(), " of type ", x.type()->str()));
}

// values[..., x], with the batch dimensions of both; -inf where x is no position.
Variable picked(V values, const Variable& x) {
  const Variable length = length_of(values, values.ndim() - 1);
  const Variable outside = or_(lt(x, 0), ge(x, length)), at = switch_(outside, 0, x);
  if (values.ndim() == 1) return switch_(outside, -infinity, subtensor(values, {IndexItem(at)}));
  Variable table = values, index = expand_dims(at, -1);
  while (table.ndim() < index.ndim()) table = expand_dims(table, 0);
  while (index.ndim() < table.ndim()) index = expand_dims(index, 0);
  const Variable taken = take_along_axis(table, index, table.ndim() - 1);
  return switch_(outside, -infinity, squeeze(taken, category_axis));
}

}  // namespace

Variable categorical_logpmf(const Operand& x, const Operand& p) {
  require_categories("categorical_logpmf", x.variable, p.variable, "p");
  return density(
      "categorical_logpmf",
      [&](V shares) {
        const Variable valid =
            and_(all(and_(ge(shares, 0), le(shares, 1)), category_axis), invert(misses_unit_sum(p, shares)));
        return in_domain(valid, picked(log(shares), x.variable));
      },
      p);
}

Variable categorical_logit_logpmf(const Operand& x, const Operand& logits) {
  require_categories("categorical_logit_logpmf", x.variable, logits.variable, "logits");
  return density(
      "categorical_logit_logpmf",
      [&](V logits) { return picked(logits, x.variable) - logsumexp(logits, category_axis); }, logits);
}

// Between two cutpoints a < b around eta, log(sigmoid(b) - sigmoid(a)) is the sum of three logarithms of which none
// cancels.
Variable ordered_logistic_logpmf(const Operand& x, const Operand& eta, const Operand& cutpoints) {
  require_categories("ordered_logistic_logpmf", x.variable, cutpoints.variable, "cutpoints");
  return density(
      "ordered_logistic_logpmf",
      [&](V eta, V cutpoints) {
        const Variable& k = x.variable;
        const Variable count = length_of(cutpoints, cutpoints.ndim() - 1);
        const Variable is_first = eq(k, 0), is_last = eq(k, count), outside = or_(lt(k, 0), gt(k, count));
        const Variable below = switch_(or_(is_first, outside), 0, k - 1), above = switch_(or_(is_last, outside), 0, k);
        const Variable low = picked(cutpoints, below), high = picked(cutpoints, above);
        const Variable is_inner = and_(gt(k, 0), lt(k, count));
        const Variable gap = log1mexp(switch_(is_inner, low - high, -1));
        const Variable from_low = switch_(is_first, 0, log_sigmoid(eta - low));
        const Variable to_high = switch_(is_last, 0, log_sigmoid(high - eta));
        const Variable value = from_low + to_high + switch_(is_inner, gap, 0);
        return switch_(outside, -infinity, value);
      },
      eta, cutpoints);
}

// ---- records -------------------------------------------------------------------------------------------------------

DISTRIBUTION({
    .name = "categorical",
    .title = "categorical distribution",
    .parameters = {{"p", "Probabilities of the categories, along the last dimension."}},
    .draw = draw_function<random::categorical>(),
    .log_functions = {LOG_FUNCTION(categorical_logpmf)},
    .draw_notes = "The draws are indices of the last axis. The sum of `p` is 1 up to 1.5e-8 (float32: 3.5e-4).",
    .pytensor_class = "CategoricalRV",
    .core = {1, {{0}}, {}},
    .value = {"x", "Category, an integer from 0."},
    .density_lines = "! TypeError: if `x` is not of integers.",
});

DISTRIBUTION({
    .name = "categorical_logit",
    .title = "categorical distribution by its logits",
    .parameters = {{"logits", "Logarithms of the probabilities up to a common constant, along the last dimension."}},
    .log_functions = {LOG_FUNCTION(categorical_logit_logpmf)},
    .core = {1, {{0}}, {}},
    .value = {"x", "Category, an integer from 0."},
    .density_lines = "! TypeError: if `x` is not of integers.",
});

DISTRIBUTION({
    .name = "ordered_logistic",
    .title = "ordered logistic distribution of categories",
    .parameters =
        {{"eta", "Linear predictor."},
         {"cutpoints",
          "Increasing limits between categories, one fewer than there are categories, along the last dimension."}},
    .log_functions = {LOG_FUNCTION(ordered_logistic_logpmf)},
    .core = {1, {{}, {0}}, {}},
    .value = {"x", "Category, an integer from 0."},
    .density_lines = "! TypeError: if `x` is not of integers.",
});

}  // namespace bitale::stats
