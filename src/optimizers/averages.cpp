// Averages of the parameters over steps, which often generalise better than the last ones.
#include "optimizers/rule.hpp"

namespace bitale::optimizers {

namespace {

// The parameter after the step.
Variable moved(const Leaf& at) { return at.parameter + at.gradient; }

const Rule<ParameterEma> of_parameter_ema({
    .name = "parameter_ema",
    .role = Role::average,
    .summary = "An exponential moving average of the parameters, from their values before the first step.",
    .settings = {{"decay", &ParameterEma::decay, "Share of the average that a step keeps.", Setting::Range::fraction}},
    .slots = {{"ema", "Moving average of the parameter.", Start::parameter}},
    .formula = [](const ParameterEma& of, const Leaf& at) -> Moved {
      const auto [decay] = at.numbers(of.decay);
      return {at.gradient, {at.average(decay, at.slots[0], moved(at))}};
    },
});

const Rule<ParameterAverage> of_parameter_average({
    .name = "parameter_average",
    .role = Role::average,
    .summary = "The mean of the parameters after each of the steps.",
    .source = "Polyak and Juditsky (1992), \"Acceleration of stochastic approximation by averaging\".",
    .counts = true,
    .slots = {{"average", "Mean of the parameter.", Start::parameter}},
    .formula = [](const ParameterAverage&, const Leaf& at) -> Moved {
      return {at.gradient, {at.slots[0] + (moved(at) - at.slots[0]) * at(1 / at.step())}};
    },
});

}  // namespace

Optimizer parameter_ema(const ParameterEma& settings) { return of_parameter_ema(settings); }
Optimizer parameter_average(const ParameterAverage& settings) { return of_parameter_average(settings); }

}  // namespace bitale::optimizers
