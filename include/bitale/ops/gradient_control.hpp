// What a gradient becomes on its way back through a variable, whose value stays. zero_grad and disconnected_grad are in
// ops.hpp.
#pragma once

#include "bitale/ops/operand.hpp"

namespace bitale {

// x; a gradient that needs its derivative is a NullTypeGradError.
Variable undefined_grad(const Operand& x);
// x; gradients are multiplied.
Variable grad_scale(const Operand& x, double multiplier);
// x; the elements of gradients are brought between both bounds. ValueError unless lower <= upper.
Variable grad_clip(const Operand& x, double lower, double upper);

}  // namespace bitale
