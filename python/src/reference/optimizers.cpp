// Optimisers, whose descriptions follow from the records of their rules, and schedules.
#include <string>

#include "bitale/core/text.hpp"
#include "optimizers/rule.hpp"
#include "reference/reference.hpp"

namespace bitale::python {

namespace {

using optimizers::Role, optimizers::RuleRecord;

constexpr std::string_view setting_type = " (float, TensorVariable, Schedule or callable)";

std::string_view result_of(Role role) {
  switch (role) {
    case Role::optimizer:
      return "-> With a loss, updates: a dictionary of the parameters, and of the shared variables that are made for "
             "the state, for the argument `updates` of `function`; its attribute `state` has these variables by the "
             "names of the slots. Otherwise an optimiser, whose methods `init` and `update` are pure.\n"
             "! TypeError: for parameters that are not shared, with a loss, or not of a float dtype; for a setting "
             "that "
             "is not a real scalar.\n"
             "! ValueError: for a setting out of its range.\n"
             "! DisconnectedInputError: if the loss does not depend on a parameter.\n";
    case Role::gradient:
      return "-> A part of a `chain`, before the optimiser.\n! ValueError: for a setting out of its range.\n";
    case Role::average: return "-> A part of a `chain`, after the optimiser. The average is a slot of the state.\n";
  }
  return {};
}

// For type checkers: without parameters and with them.
std::string signatures(const RuleRecord& rule) {
  std::string settings;
  for (const auto& each : rule.settings) settings += cat(", ", each.name, ": typing.Any = ", each.initial.str());
  return cat("@ def ", rule.name, "(loss: typing.Any = None, params: None = None", settings, ") -> Optimizer\n",
             "@ def ", rule.name, "(loss: typing.Any, params: typing.Any", settings, ") -> Updates\n");
}

void describe(std::string& out, const RuleRecord& rule) {
  out += cat("\n= ", rule.name, "\n", rule.summary, "\n");
  if (!rule.notes.empty()) out += cat(rule.notes, "\n");
  if (!rule.slots.empty()) {
    std::string slots;
    for (const auto& slot : rule.slots) slots += cat(slots.empty() ? "" : " ", "`", slot.name, "`: ", slot.text);
    out += cat("State of each parameter: ", slots, "\n");
  }
  if (rule.role == Role::optimizer) {
    out +=
        "loss (TensorVariable, list, tuple or dict): Scalar to minimise, or gradients with the structure of "
        "`params`. A number or schedule alone is the learning rate.\n"
        "params (TensorSharedVariable, list, tuple or dict): Shared variables, in any nested form.\n";
    out += signatures(rule);
  }
  for (const auto& each : rule.settings) out += cat(each.name, setting_type, ": ", each.text, "\n");
  out += result_of(rule.role);
  std::string related;
  for (const RuleRecord* other : optimizers::rules())
    if (other != &rule && other->role == rule.role) related += cat(related.empty() ? "~ " : ", ", other->name);
  out += cat(related.empty() ? "~ " : cat(related, ", "), "chain\n");
  if (!rule.source.empty()) out += cat("* ", rule.source, "\n");
}

std::string all_rules() {
  std::string out;
  for (const RuleRecord* rule : optimizers::rules()) describe(out, *rule);
  return out;
}

}  // namespace

static const RegisterDescriptions of_rules(all_rules);

// clang-format off
static const RegisterDescriptions of_others(R"doc(
= Optimizer.init
State before the first step.
For variables, it consists of expressions; for arrays and numbers, of arrays.
params (tensor_like, list, tuple or dict): Parameters of a float dtype, in any nested form.
-> The `count` of steps, if it is needed, and each slot with the structure of `params`.
! TypeError: for parameters that are not of a float dtype.
! ValueError: for no parameters, or a parameter that occurs twice.
~ chain, adam

= Optimizer.update
Parameters and state after one more step.
grads (tensor_like, list, tuple or dict): Gradients, with the structure of `params`.
state (dict): State, as returned by `init`.
params (tensor_like, list, tuple or dict): Parameters of a float dtype.
-> params (TensorVariable, list, tuple or dict): Parameters after the step, with the same structure.
-> state (dict): State after the step.
! TypeError: for a structure that differs from that of the parameters, or a dtype other than float.
! ValueError: for keys that differ from those of `init`, or lists of other lengths.
! ShapeError: for a gradient or state whose rank differs from that of its parameter.
~ chain, adam

= Optimizer.updates
Updates of shared variables by one step.
loss (TensorVariable, list, tuple or dict): Scalar to minimise, or gradients with the structure of `params`.
params (TensorSharedVariable, list, tuple or dict): Shared variables, in any nested form.
-> Updates for `function`, a dictionary, whose attribute `state` has the shared variables created for the state.
! TypeError: for parameters that are not shared, or not of a float dtype.
! DisconnectedInputError: if the loss does not depend on a parameter.
~ chain, adam

= chain
Combine what changes gradients, one optimiser, and averages of the parameters.
parts (Optimizer): Parts in this order.
-> Optimiser, whose state has the slots of all parts; if two have the same name, the second ends in ``_2``.
! ValueError: for another order.
! TypeError: for other objects.
~ clip_by_global_norm, add_decayed_weights, parameter_ema, adam

= global_norm
Root of the sum of the squares of all elements of several tensors.
tensors (tensor_like, list, tuple or dict): Tensors, in any nested form.
-> Scalar.
! ValueError: for no tensors.
~ clip_by_global_norm

= constant_schedule
A schedule of one number.
value: Number.
-> Function of the number of previous steps.
~ linear_schedule, join_schedules

= linear_schedule
A schedule from one number to another in equal steps.
init_value: Number at the start.
end_value: Number at the end, and from there on.
transition_steps: Number of steps from one to the other.
transition_begin: Number of steps at `init_value` before.
-> Function of the number of previous steps.
! ValueError: if `transition_steps` is less than 1.
~ cosine_decay_schedule, exponential_decay, join_schedules

= exponential_decay
A schedule that falls, or grows, by a factor in a number of steps.
init_value: Number at the start.
transition_steps: Number of steps in which it is multiplied by `decay_rate`.
decay_rate: Factor.
transition_begin: Number of steps at `init_value` before.
staircase: Whether it changes only after every `transition_steps` steps.
end_value (tensor_like or None): Bound that it does not exceed.
-> Function of the number of previous steps.
! ValueError: if `transition_steps` is less than 1, or `decay_rate` is not positive.
~ cosine_decay_schedule, linear_schedule, join_schedules

= cosine_decay_schedule
A schedule that falls along half a period of a cosine.
init_value: Number at the start.
decay_steps: Number of steps to the end.
alpha: Number at the end, and from there on, as a fraction of `init_value`.
exponent: Power of the cosine, which is from 1 to 0.
-> Function of the number of previous steps.
! ValueError: if `decay_steps` is less than 1.
~ warmup_cosine_decay_schedule, exponential_decay, linear_schedule
* Loshchilov and Hutter (2017), "SGDR: Stochastic gradient descent with warm restarts".

= warmup_cosine_decay_schedule
A schedule that rises in equal steps, and then falls along a cosine.
init_value: Number at the start.
peak_value: Number after the warm-up.
warmup_steps: Number of steps of the warm-up.
decay_steps: Number of steps to the end, including the warm-up.
end_value: Number at the end, and from there on.
exponent: Power of the cosine, which is from 1 to 0.
-> Function of the number of previous steps.
! ValueError: if `warmup_steps` is less than 1, or not less than `decay_steps`.
~ cosine_decay_schedule, linear_schedule, join_schedules

= join_schedules
Schedules one after another, each of which begins to count at its boundary.
schedules (list of Schedule or callable): Schedules.
boundaries (list of int): Number of steps before each schedule but the first, counted from the start.
-> Function of the number of previous steps.
! ValueError: unless there is one boundary fewer than schedules.
~ linear_schedule, constant_schedule
)doc");
// clang-format on

}  // namespace bitale::python
