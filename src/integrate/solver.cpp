#include "integrate/solver.hpp"

#include "core/float_limits.hpp"
#include "integrate/expressions.hpp"
#include "ops/analysis/lengths.hpp"

namespace bitale::integrate {

namespace {

// Of SciPy's solvers: the next step is as long as the error suggests, a little shorter, and not much longer or shorter
// than the last one; after a rejection it is no longer.
constexpr double safety = 0.9, min_growth = 0.2, max_growth = 10;
// A step that would leave less than this share of itself to the end goes to the end.
constexpr double reach = 1.01;

// 0 for a state without elements.
Variable root_mean_square(const Variable& x) {
  const Variable count = lengths::max(lengths::product(lengths_of(x)), int64_constant(1));
  return sqrt(sum(sqr(x)) / cast(count, x.dtype()));
}

// The length of the first step, by Hairer, Norsett and Wanner, "Solving Ordinary Differential Equations I", section
// II.4: one whose Euler step changes y by a small part, shorter if the second derivative is large.
Variable first_length(const Problem& problem, const Variable& t, const Variable& y, const Variable& slope,
                      const Variable& horizon) {
  const Variable scale = problem.atol + abs(y) * problem.rtol;
  const Variable d0 = root_mean_square(y / scale), d1 = root_mean_square(slope / scale);
  const Variable trial =
      minimum(switch_(or_(lt(d0, 1e-5), lt(d1, 1e-5)), like(d0, 1e-6), like(d0, 0.01) * d0 / d1), horizon);
  const Variable next = problem.system.slope(y + trial * slope, t + trial);
  const Variable d2 = root_mean_square((next - slope) / scale) / trial;
  const double exponent = 1.0 / (problem.method.error_order() + 1);
  const Variable by_curvature =
      switch_(and_(le(d1, 1e-15), le(d2, 1e-15)), maximum(like(d0, 1e-6), like(d0, 1e-3) * trial),
              pow(like(d0, 0.01) / maximum(d1, d2), like(d0, exponent)));
  const Variable found = minimum(minimum(like(d0, 100) * trial, by_curvature), horizon);
  return disconnected_grad(switch_(gt(found, 0), found, trial));  // nan if the trial step leaves the domain of f
}

}  // namespace

ScanResult loop(ScanArguments arguments, const std::function<ScanStep(const Variables&)>& step) {
  const ScanBuilder builder(std::move(arguments));
  return builder.finish(step(builder.arguments()));
}

IntervalResult solve_interval(const Problem& problem, const IntervalStart& start, const Variable& max_attempts,
                              bool keeps_steps) {
  const Variable never = constant(Array(false));
  ScanArguments arguments{.n_steps = Operand(max_attempts), .name = "odeint"};
  for (const Variable& initial : {start.t, start.y, start.slope, start.h, never, never, never})
    arguments.initial.emplace_back(initial);
  if (start.carried.defined()) arguments.initial.emplace_back(start.carried);
  if (keeps_steps) arguments.initial.resize(arguments.initial.size() + 3);
  const auto attempt = [&](const Variables& given) -> ScanStep {
    const Variable &t = given[0], &y = given[1], &slope = given[2], &h = given[3], &was_rejected = given[4];
    const Variable is_last = ge(t + like(h, reach) * h, start.end);
    const Variable length = disconnected_grad(switch_(is_last, start.end - t, h));
    const Step next = problem.method.step(problem.system, t, y, slope, length);
    const Variable error =
        disconnected_grad(root_mean_square(next.error / (problem.atol + problem.rtol * maximum(abs(y), abs(next.y)))));
    Variable is_accepted = le(error, 1);
    if (start.active.defined()) is_accepted = and_(is_accepted, start.active);
    const double exponent = -1.0 / (problem.method.error_order() + 1);
    const Variable growth = clip(like(h, safety) * pow(error, like(h, exponent)), like(h, min_growth),
                                 switch_(was_rejected, like(h, 1), like(h, max_growth)));
    const Variable by_error = length * switch_(isnan(error), like(h, min_growth), growth);
    // A step that was cut to end at the given time says little about the length of the next one.
    const Variable proposed = disconnected_grad(switch_(and_(is_accepted, is_last), maximum(h, by_error), by_error));
    const Variable shortest = like(h, 10 * machine_epsilon(h.dtype())) * maximum(abs(t), abs(start.end));
    const Variable is_reached = and_(is_accepted, is_last);
    const Variable is_stuck = and_(logical_not(is_accepted), logical_not(gt(proposed, shortest)));
    Variable ends = or_(is_reached, is_stuck);
    if (start.active.defined()) ends = or_(ends, logical_not(start.active));
    Variables results{switch_(is_accepted, switch_(is_last, start.end, t + length), t),
                      switch_(is_accepted, next.y, y),
                      switch_(is_accepted, next.slope, slope),
                      proposed,
                      logical_not(is_accepted),
                      is_reached,
                      is_stuck};
    if (start.carried.defined())
      results.push_back(switch_(is_accepted, problem.carry(t, y, length, given[7]), given[7]));
    if (keeps_steps) results.insert(results.end(), {t, y, switch_(is_accepted, length, like(h, 0))});
    return {results, ends};
  };
  const ScanResult result = loop(std::move(arguments), attempt);
  IntervalResult out{.y = result.finals[1],
                     .slope = result.finals[2],
                     .h = result.finals[3],
                     .attempts = result.steps,
                     .is_reached = result.finals[5],
                     .is_stuck = result.finals[6]};
  if (start.carried.defined()) out.carried = result.finals[7];
  if (keeps_steps) {
    const std::size_t first = result.traces.size() - 3;
    out.times = result.traces[first], out.states = result.traces[first + 1], out.lengths = result.traces[first + 2];
  }
  return out;
}

Solution solve(const Problem& problem, const Variable& y0, const Variable& times, const Variable& max_attempts,
               const Variable& carried) {
  // Sums of at most one element: there may be no times at all.
  const Variable begin = sum(rows_of(times, {}, 1)), end = sum(rows_of(times, -1));
  const Variable slope = problem.system.slope(y0, begin);
  const Variable h = first_length(problem, begin, y0, slope, end - begin);
  ScanArguments arguments{.sequences = {rows_of(times, 1)}, .name = "odeint"};
  for (const Variable& initial : {begin, y0, slope, h, constant(Array(true))}) arguments.initial.emplace_back(initial);
  if (carried.defined()) arguments.initial.emplace_back(carried);
  arguments.initial.resize(arguments.initial.size() + 4);
  const ScanResult result = loop(std::move(arguments), [&](const Variables& given) -> ScanStep {
    const IntervalStart start{.t = given[1],
                              .y = given[2],
                              .slope = given[3],
                              .h = given[4],
                              .end = given[0],
                              .active = given[5],
                              .carried = carried.defined() ? given[6] : Variable()};
    const IntervalResult interval = solve_interval(problem, start, max_attempts, false);
    Variables results{start.end, interval.y, interval.slope, interval.h, interval.is_reached};
    if (carried.defined()) results.push_back(interval.carried);
    results.insert(results.end(), {start.h, interval.attempts, interval.is_stuck, interval.is_reached});
    return results;
  });
  Variable first = expand_dims(y0, 0);
  if (times.static_shape()[0] < 1) first = rows_of(first, {}, lengths::min(length_of(times, 0), int64_constant(1)));
  const Variable* rest = &result.traces[carried.defined() ? 6 : 5];
  return {.states = concatenate({first, result.traces[1]}),
          .lengths = rest[0],
          .attempts = rest[1],
          .is_reached = rest[3],
          .is_stuck = rest[2],
          .carried = carried.defined() ? result.traces[5] : Variable()};
}

}  // namespace bitale::integrate
