// Tensors joined along their first, second or third dimension, which those of lower rank gain, and taken apart again.
// Names and arguments are NumPy's.
#pragma once

#include "bitale/ops/operand.hpp"

namespace bitale {

// One below the other, side by side, and behind each other. ValueError for no tensor.
Variable vstack(const Operands& tensors);
Variable hstack(const Operands& tensors);
Variable dstack(const Operands& tensors);
// Vectors as columns of a matrix; matrices side by side.
Variable column_stack(const Operands& tensors);
// The parts at each position along an axis, without it. ValueError when its length is not known.
Variables unstack(const Operand& x, int axis = 0);

}  // namespace bitale
