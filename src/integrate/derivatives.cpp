#include "integrate/derivatives.hpp"

#include <limits>
#include <utility>

#include "bitale/ops/cumulative.hpp"
#include "bitale/ops/linalg.hpp"
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

// x, a vector, with an axis of length 1 for each further axis of `model`.
Variable as_column(Variable x, const Variable& model) {
  while (x.ndim() < model.ndim()) x = expand_dims(x, -1);
  return x;
}

// The second axis moved to the front.
Variable directions_first(const Variable& x) {
  std::vector<int> order{1, 0};
  for (int axis = 2; axis < x.ndim(); ++axis) order.push_back(axis);
  return dimshuffle(x, order);
}

// The plain answers, with the inputs of the op in place of the system's parameters.
Variables with_values(Variables answers, const OdeSystem& system, const Variables& inputs) {
  Replacements values;
  for (std::size_t k = 0; k < system.parameters().size(); ++k)
    values.emplace_back(system.parameters()[k], inputs[parameters_at + k]);
  Variables plain;
  for (auto& answer : answers)
    if (is_plain(answer)) plain.push_back(answer);
  plain = clone_replace(plain, values);
  std::size_t at = 0;
  for (auto& answer : answers)
    if (is_plain(answer)) answer = plain[at++];
  return answers;
}

// dy/dt at all times.
Variable slopes_at(const OdeSystem& system, const Variable& times, const Variable& states) {
  return loop({.sequences = {times, states}, .name = "odeint slopes"},
              [&](const Variables& given) -> ScanStep { return system.slope(given[1], given[0]); })
      .traces[0];
}

// The solution moves along its slope with its own time, and against it with the first one. `at_start`: the adjoint of
// y0, without the cotangent of the state at the first time.
Variable cotangent_of_times(const Variable& times, const Variable& slopes, const Variable& cotangents,
                            const Variable& at_start) {
  const Variable first = -sum(at_start * first_row(slopes));
  return concatenate(
      {rows_of(expand_dims(first, 0), {}, length_of(times, 0)), rows_of(row_sums(cotangents * slopes), 1)});
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

// How many attempts an interval may take when its steps are made again, given those that each took: with another
// rounding they may be a few more.
Variable limit_of_repeated_attempts(const Variable& attempts) {
  const Variable largest = max(attempts, {0}, KeepDims::No, 0);
  return largest + int_div(largest, 4) + 16;
}

class Adjoint final : public DerivativeOverride {
 public:
  Adjoint(std::shared_ptr<const OdeSystem> system, const StepMethod& method)
      : system_(std::move(system)), method_(&method) {}

  Variables derive(const Variables& inputs, const Variables& outputs, const Variables& given) const override {
    const Variable &times = inputs[1], &states = outputs[0], &cotangents = given[0];
    const Problem problem{*system_, *method_, inputs[2], inputs[3]};
    const StepPullback pullback(*system_, *method_);
    const Variable limit = limit_of_repeated_attempts(outputs[2]);

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
    answers[1] = cotangent_of_times(times, slopes_at(*system_, times, states), cotangents, at_start);
    next_answer = 1;
    for (std::size_t k = 0, sum = 1; k < system_->parameters().size(); ++k) {
      if (!has_derivatives(system_->parameters()[k])) continue;
      Variable& answer = answers[parameters_at + k] = pullback.answers()[next_answer++];
      if (is_plain(answer)) answer = result.finals[sum++];
    }
    if (const Variable& of_state = pullback.answers()[0]; !is_plain(of_state)) answers[0] = answers[1] = of_state;
    return with_values(answers, *system_, inputs);
  }

  bool equals(const Opaque& other) const override { return this == &other; }
  std::size_t hash() const override { return std::hash<const void*>{}(this); }
  std::string text() const override { return "adjoint of the steps"; }

 private:
  const std::shared_ptr<const OdeSystem> system_;
  const StepMethod* method_;
};

class ForwardSensitivities final : public DerivativeOverride {
 public:
  ForwardSensitivities(std::shared_ptr<const OdeSystem> system, const StepMethod& method)
      : system_(std::move(system)), method_(&method) {}

  Variables derive(const Variables& inputs, const Variables& outputs, const Variables& given) const override {
    const Variable &y0 = inputs[0], &times = inputs[1], &states = outputs[0], &cotangents = given[0];
    const DType dtype = y0.dtype();
    // A direction for each element of y0 and of the parameters: rows of the identity, of which each has its columns.
    std::vector<std::size_t> wrt{0};
    Variables leaves{Variable(system_->type())}, values{y0}, ends{int64_constant(0)};
    for (std::size_t k = 0; k < system_->parameters().size(); ++k) {
      if (!has_derivatives(system_->parameters()[k])) continue;
      wrt.push_back(parameters_at + k);
      leaves.push_back(system_->parameters()[k]);
      values.push_back(inputs[parameters_at + k]);
    }
    for (auto& value : values) ends.push_back(lengths::add(ends.back(), lengths::product(lengths_of(value))));
    const Variable& count = ends.back();
    const Variable identity = eye(count, {}, 0, dtype);
    const auto directions_of = [&](std::size_t k) {
      Shape shape{count};
      for (auto& length : lengths_of(values[k])) shape.push_back(length);
      const Variable columns = subtensor(identity, {IndexItem(Slice{}), IndexItem(Slice{ends[k], ends[k + 1], {}})});
      return cast(reshape(columns, Operands(shape)), values[k].dtype());
    };

    // A step with its tangents, as an expression of leaves.
    const Variable t(tensor_type(dtype, Dims{})), h(tensor_type(dtype, Dims{})), &y = leaves[0];
    const Variable next = method_->step(*system_, t, y, system_->slope(y, t), h).y;
    Variables tangents;
    for (auto& leaf : leaves) tangents.emplace_back(leaf.type());
    const Variable tangent = calculus().pushforward({next}, leaves, tangents)[0];
    Variables answers(inputs.size(), disconnected());
    if (!is_plain(tangent)) {
      for (auto i : wrt) answers[i] = tangent;
      return answers;
    }
    const Variable at_start = directions_of(0);
    const Variable carried_leaf(at_start.type());
    Replacements directions{{tangents[0], carried_leaf}};
    for (std::size_t k = 1; k < leaves.size(); ++k) directions.emplace_back(tangents[k], directions_of(k));
    const Variable step = calculus().vectorize({tangent}, directions)[0];

    Problem problem{*system_, *method_, inputs[2], inputs[3]};
    problem.carry = [&](const Variable& t_now, const Variable& y_now, const Variable& h_now, const Variable& carried) {
      return with_static_shape_of(
          at_start,
          clone_replace(Variables{step}, {{t, t_now}, {y, y_now}, {h, h_now}, {carried_leaf, carried}}).front());
    };
    const Solution solution = solve(problem, y0, times, limit_of_repeated_attempts(outputs[2]), at_start);
    const Variable nan = like(y0, std::numeric_limits<double>::quiet_NaN());
    const Variable later = rows_of(cotangents, 1);
    const Variable weights =
        later * as_column(switch_(solution.is_reached, like(y0, 1), nan), later);  // nan where there is no solution
    // The sum over times and elements of y, for each direction.
    const Variable by_direction = flatten(directions_first(solution.carried), 2);
    const Variable all = dot(by_direction, flatten(weights));
    for (std::size_t k = 0; k < leaves.size(); ++k)
      answers[wrt[k]] =
          with_static_shape_of(values[k], reshape(rows_of(all, ends[k], ends[k + 1]), Operands(lengths_of(values[k]))));
    answers[1] = cotangent_of_times(times, slopes_at(*system_, times, states), cotangents, answers[0]);
    answers[0] = answers[0] + first_row(cotangents);
    return with_values(answers, *system_, inputs);
  }

  bool equals(const Opaque& other) const override { return this == &other; }
  std::size_t hash() const override { return std::hash<const void*>{}(this); }
  std::string text() const override { return "forward sensitivities"; }

 private:
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
    Variables wrt{inputs_[0]}, tangents{given[0] - first_row(slopes) * first_row(times_tangent)};
    for (std::size_t k = parameters_at; k < inputs_.size(); ++k)
      if (has_derivatives(inputs_[k])) wrt.push_back(inputs_[k]), tangents.push_back(given[k]);
    Variable answer = calculus().pushforward({states_}, wrt, tangents)[0];
    Variables answers(outputs.size(), disconnected());
    answers[0] = is_plain(answer)
                     ? clone_replace(Variables{answer + as_column(times_tangent, states_) * slopes}, values)[0]
                     : answer;
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
DerivativeOverrideRef forward_sensitivities(std::shared_ptr<const OdeSystem> system, const StepMethod& method) {
  return make_ref<ForwardSensitivities>(std::move(system), method);
}
DerivativeOverrideRef tangents_of_steps(std::shared_ptr<const OdeSystem> system, Variables inputs, Variable states) {
  return make_ref<Tangents>(std::move(system), std::move(inputs), std::move(states));
}

}  // namespace bitale::integrate
