// Identity functions that change the gradient on its way back through a variable and keep the variable's value.
// zero_grad and disconnected_grad are in ops.hpp.
#pragma once

#include "bitale/ops/operand.hpp"

namespace bitale {

// Returns x; a gradient that needs its derivative raises a NullTypeGradError.
Variable undefined_grad(const Operand& x);
// Returns x; its gradients are multiplied by `multiplier`.
Variable grad_scale(const Operand& x, double multiplier);
// Returns x; the elements of its gradients are clipped to [lower, upper]. ValueError unless lower <= upper.
Variable grad_clip(const Operand& x, double lower, double upper);

}  // namespace bitale
