#include "integrate/derivatives.hpp"

#include <limits>
#include <utility>

#include "bitale/ops/cumulative.hpp"
#include "graph/calculus.hpp"
#include "integrate/expressions.hpp"
#include "ops/analysis/lengths.hpp"

namespace bitale::integrate {

namespace {

bool is_plain(const Variable& v) { return v.defined() && !v.is_disconnected() && !v.is_null(); }
bool has_derivatives(const Variable& v) { return as_tensor(v.type()) && is_continuous(v.dtype()); }

Variable first_row(const Variable& x) { return sum(rows_of(x, {}, 1), {0}); }  // 0 if there is none

// The sum of each row.
Variable row_sums(const Variable& x) {
  std::vector<int> axes;
  for (int axis = 1; axis < x.ndim(); ++axis) axes.push_back(axis);
  return axes.empty() ? x : sum(x, axes);
}

// dy/dt at all times.
Variable slopes_at(const OdeSystem& system, const Variable& times, const Variable& states) {
  return loop({.sequences = {times, states}, .name = "odeint slopes"},
              [&](const Variables& given) -> ScanStep { return system.slope(given[1], given[0]); })
      .traces[0];
}

// The pullback of a step of given length: an expression of leaves, which is applied to the values of each step.
class StepPullback {
 public:
  StepPullback(const OdeSystem& system, const StepMethod& method) {
    const DType dtype = as_tensor(system.type())->dtype;
    t_ = Variable(tensor_type(dtype, Dims{})), h_ = Variable(tensor_type(dtype, Dims{}));
    y_ = Variable(system.type()), adjoint_ = Variable(system.type());
    const Variable next = method.step(system, t_, y_, system.slope(y_, t_), h_).y;
    Variables leaves{y_};
    for (auto& parameter : system.parameters())
      if (has_derivatives(parameter)) leaves.push_back(parameter);
    answers_ = calculus().pullback({next}, leaves, {adjoint_});
    for (std::size_t k = 0; k < answers_.size(); ++k) {
      if (!is_plain(answers_[k])) continue;
      plain_.push_back(with_static_shape_of(leaves[k], answers_[k]));
    }
  }
  // Of y, and then of each parameter that has derivatives; disconnected or undefined ones among them.
  const Variables& answers() const { return answers_; }
  // The plain ones.
  Variables operator()(const Variable& t, const Variable& y, const Variable& h, const Variable& adjoint) const {
    return clone_replace(plain_, {{t_, t}, {y_, y}, {h_, h}, {adjoint_, adjoint}});
  }

 private:
  Variable t_, h_, y_, adjoint_;
  Variables answers_, plain_;
};

class Adjoint final : public DerivativeOverride {
 public:
  Adjoint(std::shared_ptr<const OdeSystem> system, const StepMethod& method)
      : system_(std::move(system)), method_(&method) {}

  Variables derive(const Variables& inputs, const Variables& outputs, const Variables& given) const override {
    const Variable &times = inputs[1], &states = outputs[0], &cotangents = given[0];
    const Problem problem{*system_, *method_, inputs[2], inputs[3]};
    const StepPullback pullback(*system_, *method_);
    // The steps are made again with another rounding, so they may be a few more.
    const Variable most = max(outputs[2], {0}, false, 0);
    const Variable limit = most + int_div(most, 4) + 16;

    // The adjoint of y, and the sums for the parameters.
    Variables initial{zeros_like(first_row(states))};
    std::size_t next_answer = 1;
    for (auto& parameter : system_->parameters()) {
      if (!has_derivatives(parameter)) continue;
      if (const Variable& answer = pullback.answers()[next_answer++]; is_plain(answer))
        initial.push_back(zeros_like(parameter, answer.dtype()));
    }
    const auto carried_by = [&](ScanArguments arguments, const Variables& values) {
      for (auto& value : values) arguments.initial.emplace_back(value);
      arguments.go_backwards = true;
      return arguments;
    };
    ScanArguments intervals{.sequences = {rows_of(times, {}, -1), rows_of(times, 1), rows_of(states, {}, -1),
                                          outputs[1], rows_of(cotangents, 1)},
                            .name = "odeint adjoint"};
    const ScanResult result = loop(carried_by(std::move(intervals), initial), [&](const Variables& at) -> ScanStep {
      const Variable &t = at[0], &end = at[1], &y = at[2], &h = at[3], &cotangent = at[4];
      const IntervalStart start{.t = t, .y = y, .slope = system_->slope(y, t), .h = h, .end = end};
      const IntervalResult steps = solve_interval(problem, start, limit, true);
      Variables sums(at.begin() + 5, at.end());
      sums[0] = sums[0] + cotangent;
      const ScanResult back =
          loop(carried_by({.sequences = {steps.times, steps.states, steps.lengths}, .name = "odeint adjoint"}, sums),
               [&](const Variables& step) -> ScanStep {
                 Variables next = pullback(step[0], step[1], step[2], step[3]);
                 for (std::size_t k = 1; k < next.size(); ++k) next[k] = step[3 + k] + next[k];
                 return next;
               });
      Variables out = back.finals;
      out[0] = switch_(steps.is_reached, out[0], like(out[0], std::numeric_limits<double>::quiet_NaN()));
      return out;
    });

    Variables answers(inputs.size(), disconnected());
    const Variable& at_start = result.finals[0];
    answers[0] = at_start + first_row(cotangents);
    // The solution moves along its slope with its own time, and against it with the first one.
    const Variable slopes = slopes_at(*system_, times, states);
    const Variable first = -sum(at_start * first_row(slopes));
    answers[1] = concatenate(
        {rows_of(expand_dims(first, 0), {}, length_of(times, 0)), rows_of(row_sums(cotangents * slopes), 1)});
    next_answer = 1;
    for (std::size_t k = 0, sum = 1; k < system_->parameters().size(); ++k) {
      if (!has_derivatives(system_->parameters()[k])) continue;
      Variable& answer = answers[parameters_at + k] = pullback.answers()[next_answer++];
      if (is_plain(answer)) answer = result.finals[sum++];
    }
    if (const Variable& of_state = pullback.answers()[0]; !is_plain(of_state)) answers[0] = answers[1] = of_state;
    return with_values_of_parameters(answers, inputs);
  }

  bool equals(const Opaque& other) const override { return this == &other; }
  std::size_t hash() const override { return std::hash<const void*>{}(this); }
  std::string text() const override { return "adjoint of the steps"; }

 private:
  Variables with_values_of_parameters(const Variables& answers, const Variables& inputs) const {
    Replacements values;
    for (std::size_t k = 0; k < system_->parameters().size(); ++k)
      values.emplace_back(system_->parameters()[k], inputs[parameters_at + k]);
    Variables plain, out = answers;
    for (auto& answer : answers)
      if (is_plain(answer)) plain.push_back(answer);
    plain = clone_replace(plain, values);
    std::size_t at = 0;
    for (auto& answer : out)
      if (is_plain(answer)) answer = plain[at++];
    return out;
  }

  const std::shared_ptr<const OdeSystem> system_;
  const StepMethod* method_;
};

class Tangents final : public DerivativeOverride {
 public:
  Tangents(std::shared_ptr<const OdeSystem> system, Variables inputs, Variable states)
      : system_(std::move(system)), inputs_(std::move(inputs)), states_(std::move(states)) {}

  Variables derive(const Variables& inputs, const Variables& outputs, const Variables& given) const override {
    Replacements values;
    for (std::size_t i = 0; i < inputs.size(); ++i) values.emplace_back(inputs_[i], inputs[i]);
    const Variable slopes = slopes_at(*system_, inputs_[1], states_);
    const Variable& times_tangent = given[1];
    Variable column = times_tangent;
    while (column.ndim() < states_.ndim()) column = expand_dims(column, -1);
    Variables wrt{inputs_[0]}, tangents{given[0] - first_row(slopes) * first_row(times_tangent)};
    for (std::size_t k = parameters_at; k < inputs_.size(); ++k)
      if (has_derivatives(inputs_[k])) wrt.push_back(inputs_[k]), tangents.push_back(given[k]);
    Variable answer = calculus().pushforward({states_}, wrt, tangents)[0];
    Variables answers(outputs.size(), disconnected());
    answers[0] = is_plain(answer) ? clone_replace(Variables{answer + column * slopes}, values)[0] : answer;
    return answers;
  }

  bool equals(const Opaque& other) const override { return this == &other; }
  std::size_t hash() const override { return std::hash<const void*>{}(this); }
  std::string text() const override { return "tangents of the steps"; }

 private:
  const std::shared_ptr<const OdeSystem> system_;
  const Variables inputs_;
  const Variable states_;
};

}  // namespace

DerivativeOverrideRef adjoint_of_steps(std::shared_ptr<const OdeSystem> system, const StepMethod& method) {
  return make_ref<Adjoint>(std::move(system), method);
}
DerivativeOverrideRef tangents_of_steps(std::shared_ptr<const OdeSystem> system, Variables inputs, Variable states) {
  return make_ref<Tangents>(std::move(system), std::move(inputs), std::move(states));
}

}  // namespace bitale::integrate
