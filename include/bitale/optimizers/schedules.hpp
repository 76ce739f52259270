// The numbers of an optimiser: fixed, expressions, or schedules, which follow from how many steps were made. They are
// computed in float64. Names and meanings of schedules are optax's.
//
//   optimizers::adam({.learning_rate = optimizers::cosine_decay_schedule(0.1, 1000)})
#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bitale/ops/operand.hpp"

namespace bitale::optimizers {

class Schedule {
 public:
  using Function = std::function<Variable(const Variable& step)>;
  // `function` gets an int64 scalar, how many steps were made before, and returns a real scalar.
  explicit Schedule(Function function, std::string name = "schedule")
      : function_(std::move(function)), name_(std::move(name)) {}
  // The number at this step, a float64 scalar. TypeError for a step that is not an integer scalar, and for a function
  // that does not return a real scalar.
  Variable operator()(const Operand& step) const;
  const std::string& name() const { return name_; }

 private:
  Function function_;
  std::string name_;
};

template <class T>
concept RealNumber = (std::integral<T> || std::floating_point<T>)&&!std::same_as<T, bool>;

// A number, a real scalar (a shared variable, say), or a schedule.
class Setting {
 public:
  template <RealNumber T>
  Setting(T number) : value_(double(number)) {}
  Setting(const Variable& scalar) : value_(scalar) {}
  Setting(Schedule schedule) : value_(std::move(schedule)) {}

  enum class Range { any, not_negative, positive, fraction, count };
  // Throws TypeError for a tensor that is not a real scalar, and ValueError for a number out of range, with texts that
  // begin with `what`. A fraction is from 0 to 1, without 1; a count is at least 1.
  void check(const std::string& what, Range range) const;
  // The float64 scalar that it is after `step` steps.
  Variable at(const Variable& step) const;
  bool is_schedule() const { return std::holds_alternative<Schedule>(value_); }
  std::optional<double> number() const;  // nullopt: it is not known before calls
  std::string str() const;

 private:
  std::variant<double, Variable, Schedule> value_;
};

// The parts of a schedule are checked at once: TypeError and ValueError as in Setting::check.
Schedule constant_schedule(const Setting& value);
// From init_value to end_value in transition_steps equal steps, after `transition_begin` steps at init_value.
Schedule linear_schedule(const Setting& init_value, const Setting& end_value, const Setting& transition_steps,
                         const Setting& transition_begin = 0);
// init_value * decay_rate^((step - transition_begin) / transition_steps), where the exponent of a staircase is rounded
// down; not beyond end_value.
enum class Decay { Continuous, Staircase };
Schedule exponential_decay(const Setting& init_value, const Setting& transition_steps, const Setting& decay_rate,
                           const Setting& transition_begin = 0, Decay decay = Decay::Continuous,
                           const std::optional<Setting>& end_value = {});
// init_value * ((1 - alpha) ((1 + cos(pi step / decay_steps)) / 2)^exponent + alpha), constant after decay_steps.
// Loshchilov and Hutter (2017), "SGDR: Stochastic Gradient Descent with Warm Restarts".
Schedule cosine_decay_schedule(const Setting& init_value, const Setting& decay_steps, const Setting& alpha = 0,
                               const Setting& exponent = 1);
// Linearly from init_value to peak_value in warmup_steps, then a cosine to end_value, reached after decay_steps in all.
Schedule warmup_cosine_decay_schedule(const Setting& init_value, const Setting& peak_value, const Setting& warmup_steps,
                                      const Setting& decay_steps, const Setting& end_value = 0,
                                      const Setting& exponent = 1);
// The first schedule up to the first boundary, from there on the next, which counts its steps from the boundary, and so
// on. ValueError unless there is one boundary less than schedules.
Schedule join_schedules(std::vector<Schedule> schedules, std::vector<Setting> boundaries);

}  // namespace bitale::optimizers
