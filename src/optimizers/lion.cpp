// Lion: steps of one length, whose signs are those of a mean of gradients.
#include "optimizers/rule.hpp"

namespace bitale::optimizers {

namespace {

const Rule<Lion> of_lion({
    .name = "lion",
    .summary = "Lion, whose steps follow the signs of a mean of gradients.",
    .source = "Chen et al. (2023), \"Symbolic discovery of optimization algorithms\".",
    .settings = {{"learning_rate", &Lion::learning_rate, "Length of steps."},
                 {"b1", &Lion::b1, "Weight of the mean before the step, in the sign.", Setting::Range::fraction},
                 {"b2", &Lion::b2, "Share of the mean that a step keeps.", Setting::Range::fraction},
                 {"weight_decay", &Lion::weight_decay, "Share of a parameter that a step of length 1 subtracts."}},
    .slots = {{"mu", "Running mean of gradients."}},
    .formula = [](const Lion& of, const Leaf& at) -> Moved {
      const auto [rate, b1, b2, decay] = at.numbers(of.learning_rate, of.b1, of.b2, of.weight_decay);
      const Variable direction = sign(at.average(b1, at.slots[0], at.gradient));
      return {-at(rate) * direction - at(rate * decay) * at.parameter, {at.average(b2, at.slots[0], at.gradient)}};
    },
});

}  // namespace

Optimizer lion(const Lion& settings) { return of_lion(settings); }

}  // namespace bitale::optimizers
