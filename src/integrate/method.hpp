// A method that makes one step, with an estimate of its error; and the methods by name.
#pragma once

#include "integrate/system.hpp"

namespace bitale::integrate {

struct Step {
  Variable y, slope;  // at its end
  Variable error;     // of y, as an estimate
};

class StepMethod {
 public:
  virtual ~StepMethod() = default;
  virtual int error_order() const = 0;  // the estimated error of a step of length h is of order h^(this + 1)
  // A step of length h from (t, y), where the slope is given.
  virtual Step step(const OdeSystem& system, const Variable& t, const Variable& y, const Variable& slope,
                    const Variable& h) const = 0;
};

const StepMethod& dopri5();
const StepMethod& rodas4();
const StepMethod& step_method(OdeMethod method);

}  // namespace bitale::integrate
