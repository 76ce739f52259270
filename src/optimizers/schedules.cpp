// Settings and schedules as expressions of the number of steps, in float64: in float32, 1 - 0.999 has lost half of its
// digits.
#include "bitale/optimizers/schedules.hpp"

#include <initializer_list>
#include <numbers>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"

namespace bitale::optimizers {

namespace {

void require_real_scalar(const Variable& value, const std::string& what) {
  if (value.ndim() != 0 || is_complex(value.dtype()) || value.dtype() == DType::Bool)
    throw TypeError(cat(what, ": expected a real scalar, got ", value.str(), " of type ", value.type()->str()));
}

// A constant of float64, whatever floatX is.
Variable float64(double value) { return constant(Array(value)); }

struct Bounds {
  double low, high;
  bool excludes_low;
  const char* text;
};
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Bounds bounds_of[] = {{-infinity, infinity, false, "a number"},
                                {0, infinity, false, "a number of at least 0"},
                                {0, infinity, true, "a number above 0"},
                                {0, 1, false, "a number from 0 to 1, without 1"},
                                {1, infinity, false, "at least 1"}};

// What a schedule is made of: its name for errors, and the settings by theirs.
struct Named {
  const char* name;
  const Setting& setting;
  Setting::Range range = Setting::Range::any;
};
void check(const char* schedule, std::initializer_list<Named> settings) {
  for (const Named& each : settings) each.setting.check(cat(schedule, ": ", each.name), each.range);
}

constexpr auto count = Setting::Range::count;

}  // namespace

std::optional<double> Setting::number() const {
  if (const auto* value = std::get_if<double>(&value_)) return *value;
  const auto* scalar = std::get_if<Variable>(&value_);
  if (!scalar || !scalar->is_constant()) return {};
  return scalar->constant()->item();
}

void Setting::check(const std::string& what, Range range) const {
  if (const auto* scalar = std::get_if<Variable>(&value_)) require_real_scalar(*scalar, what);
  const auto value = number();
  const Bounds& bounds = bounds_of[std::size_t(range)];
  if (!value || (*value >= bounds.low && *value < bounds.high && !(bounds.excludes_low && *value == bounds.low)))
    return;
  throw ValueError(cat(what, ": expected ", bounds.text, ", got ", number_text(*value)));
}

Variable Setting::at(const Variable& step) const {
  if (const auto* value = std::get_if<double>(&value_)) return float64(*value);
  if (const auto* scalar = std::get_if<Variable>(&value_)) return cast(*scalar, DType::Float64);
  return std::get<Schedule>(value_)(step);
}

std::string Setting::str() const {
  if (const auto* value = std::get_if<double>(&value_)) return number_text(*value);
  if (const auto* scalar = std::get_if<Variable>(&value_)) return scalar->str();
  return cat(std::get<Schedule>(value_).name(), "(...)");
}

Variable Schedule::operator()(const Operand& step) const {
  const LocationScope here(step.where);
  if (step.ndim() != 0 || !is_integer(step.dtype()))
    throw TypeError(cat(name_, ": expected an integer scalar as the step, got ", step.variable.str(), " of type ",
                        step.variable.type()->str()));
  const Variable value = function_(cast(step, DType::Int64));
  require_real_scalar(value, cat(name_, ": the value"));
  return cast(value, DType::Float64);
}

Schedule constant_schedule(const Setting& value) {
  constexpr const char* name = "constant_schedule";
  check(name, {{"value", value}});
  return Schedule([=](const Variable& step) { return value.at(step); }, name);
}

Schedule linear_schedule(const Setting& init_value, const Setting& end_value, const Setting& transition_steps,
                         const Setting& transition_begin) {
  constexpr const char* name = "linear_schedule";
  check(name, {{"init_value", init_value},
               {"end_value", end_value},
               {"transition_steps", transition_steps, count},
               {"transition_begin", transition_begin}});
  return Schedule(
      [=](const Variable& step) {
        const Variable first = init_value.at(step), last = end_value.at(step);
        const Variable share = (step - transition_begin.at(step)) / transition_steps.at(step);
        return first + (last - first) * clip(share, 0, 1);
      },
      name);
}

Schedule exponential_decay(const Setting& init_value, const Setting& transition_steps, const Setting& decay_rate,
                           const Setting& transition_begin, Decay decay, const std::optional<Setting>& end_value) {
  constexpr const char* name = "exponential_decay";
  check(name, {{"init_value", init_value},
               {"transition_steps", transition_steps, count},
               {"decay_rate", decay_rate, Setting::Range::positive},
               {"transition_begin", transition_begin}});
  if (end_value) check(name, {{"end_value", *end_value}});
  return Schedule(
      [=](const Variable& step) {
        const Variable rate = decay_rate.at(step);
        const Variable time = maximum(step - transition_begin.at(step), 0) / transition_steps.at(step);
        const Variable value = init_value.at(step) * pow(rate, decay == Decay::Staircase ? floor(time) : time);
        if (!end_value) return value;
        const Variable end = end_value->at(step);
        return switch_(lt(rate, 1), maximum(value, end), minimum(value, end));
      },
      name);
}

Schedule cosine_decay_schedule(const Setting& init_value, const Setting& decay_steps, const Setting& alpha,
                               const Setting& exponent) {
  constexpr const char* name = "cosine_decay_schedule";
  check(name,
        {{"init_value", init_value}, {"decay_steps", decay_steps, count}, {"alpha", alpha}, {"exponent", exponent}});
  return Schedule(
      [=](const Variable& step) {
        const Variable share = minimum(step / decay_steps.at(step), 1), least = alpha.at(step);
        const Variable decay = 0.5 * (1 + cos(float64(std::numbers::pi) * share));
        return init_value.at(step) * ((1 - least) * pow(decay, exponent.at(step)) + least);
      },
      name);
}

Schedule warmup_cosine_decay_schedule(const Setting& init_value, const Setting& peak_value, const Setting& warmup_steps,
                                      const Setting& decay_steps, const Setting& end_value, const Setting& exponent) {
  constexpr const char* name = "warmup_cosine_decay_schedule";
  check(name, {{"init_value", init_value},
               {"peak_value", peak_value},
               {"warmup_steps", warmup_steps, count},
               {"decay_steps", decay_steps, count},
               {"end_value", end_value},
               {"exponent", exponent}});
  if (const auto warm = warmup_steps.number(), all = decay_steps.number(); warm && all && *warm >= *all)
    throw ValueError(cat(name, ": decay_steps includes the steps of the warm-up: expected more than ",
                         number_text(*warm), ", got ", number_text(*all)));
  return Schedule(
      [=](const Variable& step) {
        const Variable warm = warmup_steps.at(step), peak = peak_value.at(step), end = end_value.at(step);
        const Variable cooling = decay_steps.at(step) - warm;
        // A cosine from 1 to 0 between the peak and the end, so that no share of the peak is needed, which may be 0.
        const Schedule fall = cosine_decay_schedule(1, cooling, 0, exponent);
        const Schedule rise = linear_schedule(init_value, peak, warm);
        const Variable after = fall(cast(step - warm, DType::Int64));
        return switch_(lt(step, warm), rise(step), end + (peak - end) * after);
      },
      name);
}

Schedule join_schedules(std::vector<Schedule> schedules, std::vector<Setting> boundaries) {
  constexpr const char* name = "join_schedules";
  if (schedules.size() != boundaries.size() + 1)
    throw ValueError(cat(name, ": expected one boundary fewer than schedules, got ", schedules.size(),
                         " schedules and ", boundaries.size(), " boundaries"));
  for (const Setting& each : boundaries) check(name, {{"a boundary", each}});
  return Schedule(
      [=](const Variable& step) {
        Variable value = schedules[0](step);
        for (std::size_t k = 0; k < boundaries.size(); ++k) {
          const Variable boundary = boundaries[k].at(step);
          value = switch_(lt(step, boundary), value, schedules[k + 1](cast(step - boundary, DType::Int64)));
        }
        return value;
      },
      name);
}

}  // namespace bitale::optimizers
