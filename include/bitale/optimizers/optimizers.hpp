// Optimisers: steps of stochastic gradient descent and its relatives, as expressions. On shared variables, a step is
// the updates of a function; otherwise, it is a pure function of gradients, state and parameters, for your own loops.
//
//   auto step = function({x, y}, loss, {.updates = optimizers::adam({.learning_rate = 0.01}).updates(loss, weights)});
//
//   const Optimizer o = optimizers::chain({optimizers::clip_by_global_norm(), optimizers::adam()});
//   auto [next, next_state] = o.update(grad(loss, weights), state, weights);  // state: o.init(weights) at the start
//
// Gradients may have any float dtype; state and steps are computed in the dtype of their parameter, of float16 in
// float32. Names of optimisers, settings and parts of states are optax's, as are the recurrences.
#pragma once

#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bitale/graph/traversal.hpp"
#include "bitale/optimizers/schedules.hpp"

namespace bitale::optimizers {

// What an optimiser keeps between steps.
struct State {
  Variable count = {};                // int64 scalar: how many steps were made; null where the optimiser needs no count
  std::vector<Variables> slots = {};  // in the order of slot_names(), each with a variable per parameter
};

// Updates for function(): of the parameters, and of the shared variables that are made for the state.
struct Updates : Replacements {
  State state = {};
};

class Optimizer {
 public:
  using Source = std::source_location;
  // The state before the first step. TypeError for parameters that are not tensors of a float dtype, ValueError for one
  // that is given twice; so in all functions.
  State init(const Variables& parameters, Source where = Source::current()) const;
  // The parameters and the state after one more step. ValueError for another number of gradients or states, ShapeError
  // for a gradient or state of another rank than its parameter.
  std::pair<Variables, State> update(const Variables& gradients, const State& state, const Variables& parameters,
                                     Source where = Source::current()) const;
  // One step of shared variables, given a scalar to differentiate, or gradients. Also raises the errors of grad(), and
  // TypeError for a parameter that is not shared.
  Updates updates(const Variable& loss, const Variables& parameters, Source where = Source::current()) const;
  Updates updates(const Variables& gradients, const Variables& parameters, Source where = Source::current()) const;

  std::vector<std::string> slot_names() const;
  bool has_count() const;
  // The values of slots before the first step, for a parameter with this value. ValueError where one follows from a
  // setting that is not known yet.
  std::vector<Array> initial_slots(const Array& parameter) const;
  std::string str() const;  // "adam(learning_rate=0.001, b1=0.9, b2=0.999, eps=1e-08)"

  struct Part;  // src/optimizers/rule.hpp
  explicit Optimizer(std::vector<Part> parts);
  const std::vector<Part>& parts() const { return *parts_; }

 private:
  void require_complete() const;

  std::shared_ptr<const std::vector<Part>> parts_;
};

// One after another: first rules that change gradients, then one optimiser, then averages. ValueError for another
// order.
Optimizer chain(const std::vector<Optimizer>& parts);

// ---- optimisers ----------------------------------------------------------------------------------------------------
// The formulas and their sources are in src/optimizers. ValueError for a number out of its range, TypeError for a
// tensor that is not a real scalar.

struct Sgd {
  Setting learning_rate = 0.01;
};
struct Momentum {
  Setting learning_rate = 0.01, momentum = 0.9;
};
struct Adagrad {
  Setting learning_rate = 0.01, initial_accumulator_value = 0.1, eps = 1e-7;
};
struct Rmsprop {
  Setting learning_rate = 0.001, decay = 0.9, eps = 1e-8;
};
struct Adadelta {
  Setting learning_rate = 1.0, rho = 0.9, eps = 1e-6;
};
struct Adam {
  Setting learning_rate = 0.001, b1 = 0.9, b2 = 0.999, eps = 1e-8;
};
struct Adamw {
  Setting learning_rate = 0.001, b1 = 0.9, b2 = 0.999, eps = 1e-8, weight_decay = 1e-4;
};
struct Lion {
  Setting learning_rate = 1e-4, b1 = 0.9, b2 = 0.99, weight_decay = 1e-3;
};
Optimizer sgd(const Sgd& settings = {});
Optimizer momentum(const Momentum& settings = {});
Optimizer nesterov(const Momentum& settings = {});
Optimizer adagrad(const Adagrad& settings = {});
Optimizer rmsprop(const Rmsprop& settings = {});
Optimizer adadelta(const Adadelta& settings = {});
Optimizer adam(const Adam& settings = {});
Optimizer adamw(const Adamw& settings = {});
Optimizer nadam(const Adam& settings = {});
Optimizer lion(const Lion& settings = {});

// ---- before the optimiser: other gradients; after it: averages of the parameters
// --------------------------------------

struct ClipByValue {
  Setting max_delta = 1.0;
};
struct ClipByGlobalNorm {
  Setting max_norm = 1.0;
};
struct AddDecayedWeights {
  Setting weight_decay = 1e-4;
};
struct ParameterEma {
  Setting decay = 0.999;
};
struct ParameterAverage {};
Optimizer clip_by_value(const ClipByValue& settings = {});
Optimizer clip_by_global_norm(const ClipByGlobalNorm& settings = {});
Optimizer add_decayed_weights(const AddDecayedWeights& settings = {});
Optimizer parameter_ema(const ParameterEma& settings = {});
Optimizer parameter_average(const ParameterAverage& settings = {});

// The root of the sum of squares of all elements. ValueError for no tensors.
Variable global_norm(const Variables& tensors, std::source_location where = std::source_location::current());

}  // namespace bitale::optimizers
