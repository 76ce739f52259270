// Derivatives of a solution, as overrides of the op that computes it. Inputs of the op: y0, times, rtol, atol, and the
// parameters of the system. Outputs: the states at the times, and the first length and the attempts of each interval.
#pragma once

#include <memory>

#include "bitale/ops/op_from_graph.hpp"
#include "integrate/solver.hpp"

namespace bitale::integrate {

inline constexpr std::size_t parameters_at = 4;  // among the inputs

// Reverse mode, for one interval after the other from the last to the first: the steps between its times are made
// again, and the adjoint goes back through those that were accepted. So memory is that of the steps of one interval.
DerivativeOverrideRef adjoint_of_steps(std::shared_ptr<const OdeSystem> system, const StepMethod& method);
// Reverse mode by forward sensitivities: the derivatives of y by all parameters and y0 together are propagated
// along the steps, which stores none of these.
DerivativeOverrideRef forward_sensitivities(std::shared_ptr<const OdeSystem> system, const StepMethod& method);
// Forward mode: tangents of the steps. `inputs` and `states`: of the op's graph.
DerivativeOverrideRef tangents_of_steps(std::shared_ptr<const OdeSystem> system, Variables inputs, Variable states);

}  // namespace bitale::integrate
