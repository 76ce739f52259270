// Short formulas of elementwise functions, as the reference describes them.
#include "reference/reference.hpp"

namespace bitale::python {

// clang-format off
static const RegisterDescriptions elementary(R"doc(
= fmod
Elementwise remainder of division with the sign of the dividend.
x: Dividend.
y: Divisor; it is broadcast with `x`. Integers modulo 0 are 0.
-> ``x - y * trunc(x / y)`` without intermediate rounding.
~ mod

= heaviside
Heaviside step function.
x1: Argument.
x2: Value at 0; it is broadcast with `x1`.
-> Floats: 0 below 0, 1 above, `x2` at 0, and nan for nan.
* The derivative with respect to `x1` is 0.
~ switch, sgn

= logaddexp2
Logarithm of the sum of powers of 2.
x1: First exponent.
x2: Second exponent; it is broadcast with `x1`.
-> ``log2(2**x1 + 2**x2)``, without overflow.
~ logaddexp

= float_power
Elementwise power, computed in float64 at least.
x1: Base.
x2: Exponent; it is broadcast with `x1`.
-> float64, or complex128 for complex operands.
~ power

= permute_dims
Permute the dimensions of a tensor, by the array-API standard's name of `transpose`.
axes (sequence of int): For each axis of the result, the axis of `x` from which it comes.
-> The tensor with permuted axes.
~ transpose, moveaxis

= astype
Convert a tensor to a dtype, by the array-API standard's name of `cast`.
copy: Accepted for compatibility; values in a graph never change.
-> Tensor of the shape of `x`.
~ cast

= positive
Elementwise identity of numbers.
x: Tensor of numbers.
-> `x` itself.
! TypeError: if `x` is of dtype bool.
~ neg

= relu
Rectified linear unit.
x: Real numbers.
alpha: Slope for negative arguments: a number, or a tensor that is broadcast with `x`.
-> ``x`` where it is positive, and ``alpha * x`` elsewhere, with the dtype of `x` if `alpha` is a number.
* The derivative at 0 is `alpha`.
~ elu, softplus

= elu
Exponential linear unit.
x: Real numbers.
alpha: Negative of the limit at minus infinity.
-> ``x`` where it is positive, and ``alpha * expm1(x)`` elsewhere.
* Clevert, Unterthiner, Hochreiter, Fast and accurate deep network learning by exponential linear units, 2016.
~ relu

= gelu
Gaussian error linear unit.
x: Real numbers.
approximate: Use the approximation by tanh, whose error is at most 5e-4.
-> ``x * Phi(x)``, where Phi is the standard normal distribution function.
* Hendrycks, Gimpel, Gaussian error linear units, 2016.
~ relu, silu, erf

= silu
Sigmoid linear unit, also called swish.
x: Real numbers.
-> ``x * sigmoid(x)``.
~ gelu, sigmoid
)doc");
// clang-format on

}  // namespace bitale::python
