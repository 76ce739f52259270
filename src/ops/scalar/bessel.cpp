// Bessel functions, Owen's T function and the inverse of the logarithm of the normal distribution function. Each is one
// runtime call per element. Derivatives by an order are not defined here.
#include "runtime/bessel.hpp"

#include "ops/scalar/exp_of_square.hpp"
#include "ops/scalar/record.hpp"

namespace bitale::records {

namespace {

inline constexpr double one_over_two_pi = 0.15915494309189533577, root_half = 0.70710678118654752440,
                        root_half_pi = 1.25331413731550025121, one_over_root_8_pi = 0.19947114020071633897;

}  // namespace

SCALAR_OP({
    .name = "i0",
    .title = "I0",
    .doc = "Modified Bessel function of the first kind of order 0, elementwise.\n"
           "~ i1, iv, j0",
    .symbol = "i0",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return through_double(bt_i0, x); }),
    .expand = [](Args in, DType) { return math_call("bt_i0", {in[0]}); },
    .partials = {[](At a) { return a.g * of("i1", a.x); }},
    .traits = even,
    .domain = {{-5, 5}},
    .edges = {0.0, -0.0, 700.0, inf, -inf, nan},
});

SCALAR_OP({
    .name = "i1",
    .title = "I1",
    .doc = "Modified Bessel function of the first kind of order 1, elementwise.\n"
           "~ i0, iv, j1",
    .symbol = "i1",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return through_double(bt_i1, x); }),
    .expand = [](Args in, DType) { return math_call("bt_i1", {in[0]}); },
    // (I0 + I2) / 2, which equals I0 - I1 / x.
    .partials = {[](At a) { return a.g * 0.5 * (of("i0", a.x) + of("iv", cast(2, a.x.dtype()), a.x)); }},
    .traits = odd | increasing | keeps_zero,
    .domain = {{-5, 5}},
    .edges = {0.0, -0.0, 700.0, inf, -inf, nan},
});

SCALAR_OP({
    .name = "j0",
    .title = "J0",
    .doc = "Bessel function of the first kind of order 0, elementwise.\n"
           "~ j1, jv, i0",
    .symbol = "j0",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return through_double(bt_j0, x); }),
    .expand = [](Args in, DType) { return math_call("bt_j0", {in[0]}); },
    .partials = {[](At a) { return -(a.g * of("j1", a.x)); }},
    .traits = even,
    .domain = {{-5, 5}},
    .edges = {0.0, -0.0, 700.0, inf, -inf, nan},
});

SCALAR_OP({
    .name = "j1",
    .title = "J1",
    .doc = "Bessel function of the first kind of order 1, elementwise.\n"
           "~ j0, jv, i1",
    .symbol = "j1",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return through_double(bt_j1, x); }),
    .expand = [](Args in, DType) { return math_call("bt_j1", {in[0]}); },
    .partials = {[](At a) { return a.g * 0.5 * (of("j0", a.x) - of("jv", cast(2, a.x.dtype()), a.x)); }},
    .traits = odd | keeps_zero,
    .domain = {{-5, 5}},
    .edges = {0.0, -0.0, 700.0, inf, -inf, nan},
});

SCALAR_OP({
    .name = "jv",
    .title = "Jv",
    .doc = "Bessel function of the first kind of real order, elementwise.\n"
           "x: Order.\n"
           "y: Argument.\n"
           "-> J_x(y); nan for negative y unless the order is an integer.\n"
           "~ j0, j1, iv",
    .symbol = "jv",
    .arity = 2,
    .dtypes = upgrade_to_float,
    .loops = loops<2>(float_types, [](auto v, auto x) { return through_double(bt_jv, v, x); }),
    .expand =
        [](Args in, DType) {
          return math_call("bt_jv", {in[0], in[1]});
        },
    .partials = {no_derivative, [](At a) { return a.g * 0.5 * (of("jv", a.x - 1, a.y) - of("jv", a.x + 1, a.y)); }},
    .domain = {{0.5, 3}, {0.5, 5}},
    .edges = {0.0, 1.0, 2.5, 30.0, inf, nan},
});

SCALAR_OP({
    .name = "iv",
    .title = "Iv",
    .doc = "Modified Bessel function of the first kind of real order, elementwise.\n"
           "x: Order.\n"
           "y: Argument.\n"
           "-> I_x(y); nan for negative y unless the order is an integer.\n"
           "~ ive, i0, kv",
    .symbol = "iv",
    .arity = 2,
    .dtypes = upgrade_to_float,
    .loops = loops<2>(float_types, [](auto v, auto x) { return through_double(bt_iv, v, x); }),
    .expand =
        [](Args in, DType) {
          return math_call("bt_iv", {in[0], in[1]});
        },
    .partials = {no_derivative, [](At a) { return a.g * 0.5 * (of("iv", a.x - 1, a.y) + of("iv", a.x + 1, a.y)); }},
    .domain = {{0.5, 3}, {0.5, 5}},
    .edges = {0.0, 1.0, 2.5, 30.0, 711.0, inf, nan},
});

SCALAR_OP({
    .name = "kv",
    .title = "Kv",
    .doc = "Modified Bessel function of the second kind of real order, elementwise.\n"
           "x: Order.\n"
           "y: Argument.\n"
           "-> K_x(y); nan for negative y.\n"
           "~ kve, iv",
    .symbol = "kv",
    .arity = 2,
    .dtypes = upgrade_to_float,
    .loops = loops<2>(float_types, [](auto v, auto x) { return through_double(bt_kv, v, x); }),
    .expand =
        [](Args in, DType) {
          return math_call("bt_kv", {in[0], in[1]});
        },
    .partials = {no_derivative, [](At a) { return -(a.g * 0.5 * (of("kv", a.x - 1, a.y) + of("kv", a.x + 1, a.y))); }},
    .domain = {{0.5, 3}, {0.5, 5}},
    .edges = {0.0, 1.0, 2.5, 30.0, 711.0, inf, nan},
});

SCALAR_OP({
    .name = "ive",
    .title = "Ive",
    .doc = "Exponentially scaled modified Bessel function of the first kind, elementwise.\n"
           "x: Order.\n"
           "y: Argument.\n"
           "-> ``iv(x, y) * exp(-abs(y))``.\n"
           "~ iv, kve",
    .symbol = "ive",
    .arity = 2,
    .dtypes = upgrade_to_float,
    .loops = loops<2>(float_types, [](auto v, auto x) { return through_double(bt_ive, v, x); }),
    .expand =
        [](Args in, DType) {
          return math_call("bt_ive", {in[0], in[1]});
        },
    .partials = {no_derivative, [](At a) { return a.g * of("ive_derivative", a.x, a.y); }},
    .domain = {{0.5, 3}, {0.5, 5}},
    .edges = {0.0, 1.0, 2.5, 30.0, 1e5, inf, nan},
});

SCALAR_OP({
    .name = "kve",
    .title = "Kve",
    .doc = "Exponentially scaled modified Bessel function of the second kind, elementwise.\n"
           "x: Order.\n"
           "y: Argument.\n"
           "-> ``kv(x, y) * exp(y)``; nan for negative y.\n"
           "~ kv, ive",
    .symbol = "kve",
    .arity = 2,
    .dtypes = upgrade_to_float,
    .loops = loops<2>(float_types, [](auto v, auto x) { return through_double(bt_kve, v, x); }),
    .expand =
        [](Args in, DType) {
          return math_call("bt_kve", {in[0], in[1]});
        },
    .partials = {no_derivative, [](At a) { return a.g * of("kve_derivative", a.x, a.y); }},
    .domain = {{0.5, 3}, {0.5, 5}},
    .edges = {0.0, 1.0, 2.5, 30.0, 1e5, inf, nan},
});

SCALAR_OP({
    .name = "ive_derivative",
    .title = "Ive_derivative",
    .doc = "Derivative of `ive` with respect to its argument, elementwise.\n"
           "x: Order.\n"
           "y: Argument.\n"
           "~ ive",
    .symbol = "ive_derivative",
    .arity = 2,
    .dtypes = upgrade_to_float,
    .loops = loops<2>(float_types, [](auto v, auto x) { return through_double(bt_ive_derivative, v, x); }),
    .expand =
        [](Args in, DType) {
          return math_call("bt_ive_derivative", {in[0], in[1]});
        },
    .partials = {no_derivative,
                 [](At a) {
                   const auto around = [&](int distance) {
                     return of("ive", a.x - distance, a.y) + of("ive", a.x + distance, a.y);
                   };
                   const Variable of_order = of("ive", a.x, a.y);
                   return a.g * (0.25 * around(2) + 1.5 * of_order - sign(a.y) * around(1));
                 }},
    .domain = {{0.5, 3}, {0.5, 5}},
    .edges = {1.0, 2.5, 30.0, 1e5, nan},
});

SCALAR_OP({
    .name = "kve_derivative",
    .title = "Kve_derivative",
    .doc = "Derivative of `kve` with respect to its argument, elementwise.\n"
           "x: Order.\n"
           "y: Argument.\n"
           "~ kve",
    .symbol = "kve_derivative",
    .arity = 2,
    .dtypes = upgrade_to_float,
    .loops = loops<2>(float_types, [](auto v, auto x) { return through_double(bt_kve_derivative, v, x); }),
    .expand =
        [](Args in, DType) {
          return math_call("bt_kve_derivative", {in[0], in[1]});
        },
    .partials = {no_derivative,
                 [](At a) {
                   const auto around = [&](int distance) {
                     return of("kve", a.x - distance, a.y) + of("kve", a.x + distance, a.y);
                   };
                   return a.g * (0.25 * around(2) + 1.5 * of("kve", a.x, a.y) - around(1));
                 }},
    .domain = {{0.5, 3}, {0.5, 5}},
    .edges = {1.0, 2.5, 30.0, 1e5, nan},
});

SCALAR_OP({
    .name = "owens_t",
    .title = "Owens_t",
    .doc = "Owen's T function, elementwise.\n"
           "x: Lower limit.\n"
           "y: Slope.\n"
           "-> Probability that X > x and 0 < Y < y * X for two independent standard normal variables X and Y.\n"
           "~ ndtr",
    .symbol = "owens_t",
    .arity = 2,
    .dtypes = upgrade_to_float,
    .loops = loops<2>(float_types, [](auto h, auto a) { return through_double(bt_owens_t, h, a); }),
    .expand =
        [](Args in, DType) {
          return math_call("bt_owens_t", {in[0], in[1]});
        },
    .partials = {
        [](At a) { return -(a.g * one_over_root_8_pi * erf(a.y * a.x * root_half) * exp_of_square(a.x, -0.5)); },
        [](At a) {
          const Variable density = exp_of_square(a.x, -0.5) * exp_of_square(a.x * a.y, -0.5);
          return a.g * one_over_two_pi * density / (1 + sqr(a.y));
        }},
    .domain = {{-2, 2}, {-2, 2}},
    .edges = {0.0, 1.0, -2.5, 30.0, inf, -inf, nan},
});

SCALAR_OP({
    .name = "ndtri_exp",
    .title = "Ndtri_exp",
    .doc = "Inverse of `log_ndtr`, elementwise.\n"
           "x: Logarithm of a probability.\n"
           "-> Quantile of the standard normal distribution at probability exp(x); nan for positive x.\n"
           "~ log_ndtr, ndtr",
    .symbol = "ndtri_exp",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto y) { return through_double(bt_ndtri_exp, y); }),
    .expand = [](Args in, DType) { return math_call("bt_ndtri_exp", {in[0]}); },
    // The reciprocal of the inverse Mills ratio.
    .partials = {[](At a) { return a.g * root_half_pi * erfcx(-a.out * root_half); }},
    .traits = increasing,
    .domain = {{-9, -0.1}},
    .edges = {0.0, -0.0, -1e-10, -700.0, -1e5, 1.0, inf, -inf, nan},
});

}  // namespace bitale::records
