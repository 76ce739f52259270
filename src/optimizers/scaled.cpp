// Gradients that are scaled, element by element, by roots of sums or averages of their squares.
#include "optimizers/rule.hpp"

namespace bitale::optimizers {

namespace {

const Rule<Adagrad> of_adagrad({
    .name = "adagrad",
    .summary = "Adagrad, which divides gradients by the root of the sum of their squares.",
    .source = "Duchi, Hazan and Singer (2011), \"Adaptive subgradient methods for online learning and stochastic "
              "optimization\", as in optax: `eps` is inside the root.",
    .settings = {{"learning_rate", &Adagrad::learning_rate, "Length of steps."},
                 {"initial_accumulator_value", &Adagrad::initial_accumulator_value, "The sum before the first step."},
                 {"eps", &Adagrad::eps, "Added to the sum."}},
    .slots = {{"sum_of_squares", "Sum of squared gradients.", Start::setting, &Adagrad::initial_accumulator_value}},
    .formula = [](const Adagrad& of, const Leaf& at) -> Moved {
      const auto [rate, eps] = at.numbers(of.learning_rate, of.eps);
      const Variable sum = at.slots[0] + sqr(at.gradient);
      // A sum of 0 is that of gradients of 0, also where eps is 0.
      return {switch_(eq(sum, 0), 0, -at(rate) * at.gradient / sqrt(sum + at(eps))), {sum}};
    },
});

const Rule<Rmsprop> of_rmsprop({
    .name = "rmsprop",
    .summary = "RMSProp, which divides gradients by the root of a running mean of their squares.",
    .source = "Tieleman and Hinton (2012), \"Lecture 6.5: RMSProp\", as in optax: `eps` is inside the root.",
    .settings = {{"learning_rate", &Rmsprop::learning_rate, "Length of steps."},
                 {"decay", &Rmsprop::decay, "Share of the mean that a step keeps.", Setting::Range::fraction},
                 {"eps", &Rmsprop::eps, "Added to the mean."}},
    .slots = {{"nu", "Running mean of squared gradients."}},
    .formula = [](const Rmsprop& of, const Leaf& at) -> Moved {
      const auto [rate, decay, eps] = at.numbers(of.learning_rate, of.decay, of.eps);
      const Variable nu = at.average(decay, at.slots[0], sqr(at.gradient));
      return {-at(rate) * at.gradient / sqrt(nu + at(eps)), {nu}};
    },
});

const Rule<Adadelta> of_adadelta({
    .name = "adadelta",
    .summary = "Adadelta, which measures gradients in units of earlier steps.",
    .source = "Zeiler (2012), \"ADADELTA: An adaptive learning rate method\".",
    .settings = {{"learning_rate", &Adadelta::learning_rate, "Factor of all steps; 1 in the paper."},
                 {"rho", &Adadelta::rho, "Share of the means that a step keeps.", Setting::Range::fraction},
                 {"eps", &Adadelta::eps, "Added to both means, which begin at 0.", Setting::Range::positive}},
    .slots = {{"e_g", "Running mean of squared gradients."}, {"e_x", "Running mean of squared steps."}},
    .formula = [](const Adadelta& of, const Leaf& at) -> Moved {
      const auto [rate, rho, eps] = at.numbers(of.learning_rate, of.rho, of.eps);
      const Variable e_g = at.average(rho, at.slots[0], sqr(at.gradient));
      const Variable step = sqrt((at.slots[1] + at(eps)) / (e_g + at(eps))) * at.gradient;
      return {-at(rate) * step, {e_g, at.average(rho, at.slots[1], sqr(step))}};
    },
});

}  // namespace

Optimizer adagrad(const Adagrad& settings) { return of_adagrad(settings); }
Optimizer rmsprop(const Rmsprop& settings) { return of_rmsprop(settings); }
Optimizer adadelta(const Adadelta& settings) { return of_adadelta(settings); }

}  // namespace bitale::optimizers
