// Adam and its variants: running means of gradients over roots of running means of their squares. Both means begin at
// 0, and are divided by 1 - decay^t after t steps; these are scalars, so that an element takes one root and one
// division.
#include "optimizers/rule.hpp"

namespace bitale::optimizers {

namespace {

template <class Settings>
std::vector<typename Definition<Settings>::Field> settings_of_adam() {
  return {{"learning_rate", &Settings::learning_rate, "Length of steps."},
          {"b1", &Settings::b1, "Share of the mean of gradients that a step keeps.", Setting::Range::fraction},
          {"b2", &Settings::b2, "Share of the mean of squared gradients that a step keeps.", Setting::Range::fraction},
          {"eps", &Settings::eps, "Added to the root."}};
}

template <class Settings>
std::vector<typename Definition<Settings>::Slot> slots_of_adam() {
  return {{"mu", "Running mean of gradients."}, {"nu", "Running mean of squared gradients."}};
}

// The new means, and the factor of the learning rate that makes a numerator a step.
struct Means {
  Variable mu, nu;
  Variable root;  // sqrt(nu / (1 - b2^t)) + eps
};
template <class Settings>
Means means(const Settings& of, const Leaf& at) {
  const auto [b1, b2, eps] = at.numbers(of.b1, of.b2, of.eps);
  const Variable mu = at.average(b1, at.slots[0], at.gradient), nu = at.average(b2, at.slots[1], sqr(at.gradient));
  return {mu, nu, sqrt(nu) * at(1 / sqrt(1 - pow(b2, at.step()))) + at(eps)};
}

// -rate / (1 - b1^t)
template <class Settings>
Variable scale_of_mean(const Settings& of, const Leaf& at) {
  const auto [rate, b1] = at.numbers(of.learning_rate, of.b1);
  return -rate / (1 - pow(b1, at.step()));
}

constexpr std::string_view paper = "Kingma and Ba (2015), \"Adam: A method for stochastic optimization\".";

const Rule<Adam> of_adam({
    .name = "adam",
    .summary = "Adam, which divides the mean of gradients by the root of the mean of their squares.",
    .source = paper,
    .counts = true,
    .settings = settings_of_adam<Adam>(),
    .slots = slots_of_adam<Adam>(),
    .formula = [](const Adam& of, const Leaf& at) -> Moved {
      const auto [mu, nu, root] = means(of, at);
      return {at(scale_of_mean(of, at)) * mu / root, {mu, nu}};
    },
});

auto settings_of_adamw() {
  auto out = settings_of_adam<Adamw>();
  out.push_back({"weight_decay", &Adamw::weight_decay, "Share of a parameter that a step of length 1 subtracts."});
  return out;
}

const Rule<Adamw> of_adamw({
    .name = "adamw",
    .summary = "Adam with decoupled weight decay, which does not enter the means.",
    .source = "Loshchilov and Hutter (2019), \"Decoupled weight decay regularization\".",
    .counts = true,
    .settings = settings_of_adamw(),
    .slots = slots_of_adam<Adamw>(),
    .formula = [](const Adamw& of, const Leaf& at) -> Moved {
      const auto [mu, nu, root] = means(of, at);
      const auto [rate, decay] = at.numbers(of.learning_rate, of.weight_decay);
      return {at(scale_of_mean(of, at)) * mu / root - at(rate * decay) * at.parameter, {mu, nu}};
    },
});

const Rule<Adam> of_nadam({
    .name = "nadam",
    .summary = "Adam with Nesterov's momentum.",
    .source = "Dozat (2016), \"Incorporating Nesterov momentum into Adam\", with a constant `b1`, as in optax.",
    .counts = true,
    .settings = settings_of_adam<Adam>(),
    .slots = slots_of_adam<Adam>(),
    .formula = [](const Adam& of, const Leaf& at) -> Moved {
      const auto [mu, nu, root] = means(of, at);
      const auto [rate, b1] = at.numbers(of.learning_rate, of.b1);
      const Variable of_mean = -rate * b1 / (1 - pow(b1, at.step() + 1));
      const Variable of_gradient = -rate * (1 - b1) / (1 - pow(b1, at.step()));
      return {(at(of_mean) * mu + at(of_gradient) * at.gradient) / root, {mu, nu}};
    },
});

}  // namespace

Optimizer adam(const Adam& settings) { return of_adam(settings); }
Optimizer adamw(const Adamw& settings) { return of_adamw(settings); }
Optimizer nadam(const Adam& settings) { return of_nadam(settings); }

}  // namespace bitale::optimizers
