// Elementwise functions of NumPy beyond those of ops.hpp: signs, neighbours, remainders, shifts, rounding to decimals,
// and the activations of neural networks. Names and arguments are NumPy's; those of activations are Theano's.
#pragma once

#include "bitale/ops/operand.hpp"

namespace bitale {

// Whether the sign is negative, which tells -0.0 from 0.0; x with the sign of y; the float next to x towards y.
// TypeError of nextafter for float16, which is computed as float32.
Variable signbit(const Operand& x);
Variable copysign(const Operand& x, const Operand& y);
Variable nextafter(const Operand& x, const Operand& y);
// x << y and x >> y of integers. Shifts by a negative number, or by all bits and more, give 0, or -1 of a negative x
// that is shifted to the right. TypeError for floats.
Variable left_shift(const Operand& x, const Operand& y);
Variable right_shift(const Operand& x, const Operand& y);

// The remainder with the sign of x, as C's; mod has the sign of y. Integers modulo 0 give 0.
Variable fmod(const Operand& x, const Operand& y);
// 0 below 0, 1 above, and y at 0.
Variable heaviside(const Operand& x, const Operand& y);
// log2(2**x + 2**y), which does not overflow.
Variable logaddexp2(const Operand& x, const Operand& y);
// x ** y in float64 at least, also of integers. Complex numbers in complex128.
Variable float_power(const Operand& x, const Operand& y);
// Rounded to that many decimal places, of two equally near numbers to the one with an even last digit; negative:
// digits before the point. Integers stay what they are for 0 decimal places or more.
Variable around(const Operand& x, int decimals = 0);
// x itself. TypeError for bool, as in NumPy.
Variable positive(const Operand& x);

// x above 0, alpha x below.
Variable relu(const Operand& x, const Operand& alpha = 0);
// x above 0, alpha (exp(x) - 1) below.
Variable elu(const Operand& x, const Operand& alpha = 1);
// x times the normal distribution function of x. is_approximate: by tanh, with an error of up to 5e-4.
enum class GeluApproximation { None, Tanh };
Variable gelu(const Operand& x, GeluApproximation approximation = GeluApproximation::None);
// x times sigmoid(x).
Variable silu(const Operand& x);

}  // namespace bitale
