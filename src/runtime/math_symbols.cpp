// The mathematical functions of the symbol table: the C library's, for double and float, and special.hpp's.
#include <cmath>
#include <cstdlib>

#include "runtime/special.hpp"
#include "runtime/symbols.hpp"

namespace bitale::runtime {

namespace {

using Unary = double (*)(double);
using UnaryFloat = float (*)(float);
using Binary = double (*)(double, double);
using BinaryFloat = float (*)(float, float);

#define UNARY(name) symbol(#name, Unary(::name)), symbol(#name "f", UnaryFloat(::name##f))
#define BINARY(name) symbol(#name, Binary(::name)), symbol(#name "f", BinaryFloat(::name##f))

const RegisterSymbols math_functions{
    UNARY(exp),
    UNARY(exp2),
    UNARY(expm1),
    UNARY(log),
    UNARY(log2),
    UNARY(log10),
    UNARY(log1p),
    UNARY(sin),
    UNARY(cos),
    UNARY(tan),
    UNARY(asin),
    UNARY(acos),
    UNARY(atan),
    BINARY(atan2),
    UNARY(sinh),
    UNARY(cosh),
    UNARY(tanh),
    UNARY(asinh),
    UNARY(acosh),
    UNARY(atanh),
    UNARY(erf),
    UNARY(erfc),
    UNARY(cbrt),
    UNARY(floor),
    UNARY(ceil),
    UNARY(trunc),
    UNARY(rint),
    BINARY(fmod),
    BINARY(pow),
    BINARY(hypot),
    BINARY(copysign),
    BINARY(fmin),
    BINARY(fmax),
    symbol("fma", static_cast<double (*)(double, double, double)>(::fma)),
    symbol("fmaf", ::fmaf),
    UNARY(bt_erfcx),
    UNARY(bt_erfinv),
    UNARY(bt_erfcinv),
    UNARY(bt_ndtr),
    UNARY(bt_log_ndtr),
    UNARY(bt_gamma),
    UNARY(bt_lgamma),
    UNARY(bt_digamma),
    UNARY(bt_trigamma),
    BINARY(bt_polygamma),
    symbol("bt_pow_i64", bt_pow_i64),
    symbol("bt_pow_u64", bt_pow_u64),
};

#undef UNARY
#undef BINARY

}  // namespace

}  // namespace bitale::runtime
