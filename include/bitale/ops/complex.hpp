// Complex numbers built from real ones, and their parts. Arithmetic and elementary functions are those of ops.hpp,
// which accept complex tensors too.
#pragma once

#include "bitale/ops/operand.hpp"

namespace bitale {

// real + i imag, broadcast together. complex64 for float32 and narrower dtypes, else complex128. TypeError for complex
// operands.
Variable complex(const Operand& real, const Operand& imag);
// abs times (cos(angle) + i sin(angle)).
Variable complex_from_polar(const Operand& abs, const Operand& angle);
// The parts of complex numbers; for real numbers, the numbers themselves and 0.
Variable real(const Operand& z);
Variable imag(const Operand& z);
Variable conj(const Operand& z);
// The angle to the positive real axis, in (-pi, pi].
Variable angle(const Operand& z);

}  // namespace bitale
