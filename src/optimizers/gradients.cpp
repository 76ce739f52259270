// What changes gradients before an optimiser sees them.
#include "bitale/core/error.hpp"
#include "optimizers/rule.hpp"

namespace bitale::optimizers {

namespace {

constexpr auto positive = Setting::Range::positive;

const Rule<ClipByValue> of_clip_by_value({
    .name = "clip_by_value",
    .role = Role::gradient,
    .summary = "Gradients with elements clipped to [-max_delta, max_delta].",
    .settings = {{"max_delta", &ClipByValue::max_delta, "Largest absolute value of an element.", positive}},
    .formula = [](const ClipByValue& of, const Leaf& at) -> Moved {
      const auto [most] = at.numbers(of.max_delta);
      return {clip(at.gradient, at(-most), at(most))};
    },
});

const Rule<ClipByGlobalNorm> of_clip_by_global_norm({
    .name = "clip_by_global_norm",
    .role = Role::gradient,
    .summary = "Gradients, scaled such that their common norm is at most max_norm.",
    .source = "Pascanu, Mikolov and Bengio (2013), \"On the difficulty of training recurrent neural networks\".",
    .settings = {{"max_norm", &ClipByGlobalNorm::max_norm, "Largest norm.", positive}},
    .formula = [](const ClipByGlobalNorm& of, const Leaf& at) -> Moved {
      const auto [most] = at.numbers(of.max_norm);
      return {at.gradient * at(switch_(le(at.over_all, most), 1, most / at.over_all))};
    },
    .over_all = [](const Variables& gradients) { return cast(global_norm(gradients), DType::Float64); },
});

const Rule<AddDecayedWeights> of_add_decayed_weights({
    .name = "add_decayed_weights",
    .role = Role::gradient,
    .summary = "Gradients of a loss with a penalty of weight_decay / 2 times the squares of the parameters.",
    .settings = {{"weight_decay", &AddDecayedWeights::weight_decay, "Factor of the parameters."}},
    .formula = [](const AddDecayedWeights& of, const Leaf& at) -> Moved {
      const auto [decay] = at.numbers(of.weight_decay);
      return {at.gradient + at(decay) * at.parameter};
    },
});

}  // namespace

Optimizer clip_by_value(const ClipByValue& settings) { return of_clip_by_value(settings); }
Optimizer clip_by_global_norm(const ClipByGlobalNorm& settings) { return of_clip_by_global_norm(settings); }
Optimizer add_decayed_weights(const AddDecayedWeights& settings) { return of_add_decayed_weights(settings); }

Variable global_norm(const Variables& tensors, std::source_location where) {
  const LocationScope here(where);
  if (tensors.empty()) throw ValueError("global_norm: expected tensors, got none");
  Variable total;
  for (const Variable& each : tensors) {
    const Variable squares = sum(sqr(abs(each)));
    total = total.defined() ? total + squares : squares;
  }
  return sqrt(total);
}

}  // namespace bitale::optimizers
