// Gradient descent, with and without momentum.
#include "optimizers/rule.hpp"

namespace bitale::optimizers {

namespace {

const Rule<Sgd> of_sgd({
    .name = "sgd",
    .summary = "Gradient descent, in steps against the gradient.",
    .source = "Robbins and Monro (1951), \"A stochastic approximation method\".",
    .settings = {{"learning_rate", &Sgd::learning_rate, "Length of steps, per unit of the gradient."}},
    .formula = [](const Sgd& of, const Leaf& at) -> Moved {
      const auto [rate] = at.numbers(of.learning_rate);
      return {-at(rate) * at.gradient};
    },
});

// The trace is that of optax and PyTorch, a sum of gradients, which the present learning rate scales.
const Rule<Momentum> of_momentum({
    .name = "momentum",
    .summary = "Gradient descent with momentum, along a decaying sum of gradients.",
    .source = "Polyak (1964), \"Some methods of speeding up the convergence of iteration methods\".",
    .settings = {{"learning_rate", &Momentum::learning_rate, "Length of steps."},
                 {"momentum", &Momentum::momentum, "Share of the sum that a step keeps.", Setting::Range::fraction}},
    .slots = {{"trace", "Decaying sum of gradients."}},
    .formula = [](const Momentum& of, const Leaf& at) -> Moved {
      const auto [rate, decay] = at.numbers(of.learning_rate, of.momentum);
      const Variable trace = at.gradient + at(decay) * at.slots[0];
      return {-at(rate) * trace, {trace}};
    },
});

const Rule<Momentum> of_nesterov({
    .name = "nesterov",
    .summary = "Gradient descent with Nesterov's momentum, which looks one step ahead.",
    .source = "Sutskever, Martens, Dahl and Hinton (2013), \"On the importance of initialization and momentum in deep "
              "learning\", with parameters shifted by the momentum, as in PyTorch and optax.",
    .settings = {{"learning_rate", &Momentum::learning_rate, "Length of steps."},
                 {"momentum", &Momentum::momentum, "Share of the sum that a step keeps.", Setting::Range::fraction}},
    .slots = {{"trace", "Decaying sum of gradients."}},
    .formula = [](const Momentum& of, const Leaf& at) -> Moved {
      const auto [rate, decay] = at.numbers(of.learning_rate, of.momentum);
      const Variable trace = at.gradient + at(decay) * at.slots[0];
      return {-at(rate) * (at.gradient + at(decay) * trace), {trace}};
    },
});

}  // namespace

Optimizer sgd(const Sgd& settings) { return of_sgd(settings); }
Optimizer momentum(const Momentum& settings) { return of_momentum(settings); }
Optimizer nesterov(const Momentum& settings) { return of_nesterov(settings); }

}  // namespace bitale::optimizers
