// The complex implementations of scalar ops: evaluation by std::complex, and the parts of the result as formulas of the
// parts of the operands, which native code computes. A record without one refuses complex operands.
#pragma once

#include "ops/elementwise/scalar_op.hpp"

namespace bitale::records {

// clang-format off
extern const ComplexImplementation complex_add, complex_sub, complex_mul, complex_true_div, complex_neg, complex_sign, complex_sqr,
    complex_reciprocal, complex_abs, complex_real, complex_imag, complex_conj, complex_angle, complex_eq, complex_neq,
    complex_isnan, complex_isinf, complex_switch, complex_second, complex_cast, complex_exp, complex_exp2, complex_expm1,
    complex_log, complex_log2, complex_log10, complex_log1p, complex_logit, complex_sqrt, complex_pow, complex_sin, complex_cos,
    complex_tan, complex_sinh, complex_cosh, complex_tanh, complex_arcsin, complex_arccos, complex_arctan,
    complex_arcsinh, complex_arccosh, complex_arctanh;
// clang-format on

}  // namespace bitale::records
