// The loops of a solution: steps of controlled length from one time to the next, and these intervals one after the
// other.
#pragma once

#include "bitale/ops/scan.hpp"
#include "integrate/method.hpp"

namespace bitale::integrate {

// A scan whose step takes its arguments as a list.
ScanResult loop(ScanArguments arguments, const std::function<ScanStep(const Variables&)>& step);

struct Problem {
  const OdeSystem& system;
  const StepMethod& method;
  Variable rtol, atol;  // in y's dtype
  // What is propagated with y, for example derivatives of it: its value at the end of a step of length h from (t, y).
  std::function<Variable(const Variable& t, const Variable& y, const Variable& h, const Variable& carried)> carry = {};
};

// From (t, y) to the time `end`, where the slope and the length of the first step are given. An interval that is not
// `active` makes one attempt and does not move. With `keeps_steps`, vectors of the attempts are among the results.
struct IntervalStart {
  Variable t, y, slope, h, end;
  Variable active = {};
  Variable carried = {};  // what problem.carry takes
};
struct IntervalResult {
  Variable y, slope, h;  // at the end; h: the length that is proposed for the next step
  Variable attempts, is_reached, is_stuck;
  Variable carried = {};
  // Of the attempts, if kept: where each begins, and its length, 0 if rejected.
  Variable times = {}, states = {}, lengths = {};
};
IntervalResult solve_interval(const Problem& problem, const IntervalStart& start, const Variable& max_attempts,
                              bool keeps_steps);

struct Solution {
  Variable states;                // at all times
  Variable lengths;               // the length of the first step that was proposed for each interval
  Variable attempts;              // of each interval
  Variable is_reached, is_stuck;  // each interval
  Variable carried = {};          // at the end of each interval
};
// `carried`: what problem.carry takes, at the first time; null: nothing.
Solution solve(const Problem& problem, const Variable& y0, const Variable& times, const Variable& max_attempts,
               const Variable& carried = {});

}  // namespace bitale::integrate
