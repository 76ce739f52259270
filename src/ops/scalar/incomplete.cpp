// Incomplete gamma and beta functions and their inverses, each one runtime call per element. Derivatives by the
// parameters are functions of their own, which in turn have no derivatives by parameters.
#include "runtime/incomplete.hpp"

#include "ops/scalar/record.hpp"

namespace bitale::records {

namespace {

// The densities of the gamma and beta distributions, and the derivatives of their logarithms by the parameters.
Variable gamma_density(const Variable& k, const Variable& x) { return of("gammainc_density", k, x); }
Variable beta_density(const Variable& a, const Variable& b, const Variable& x) {
  return of("betainc_density", a, b, x);
}
Variable gamma_score(const Variable& k, const Variable& x) { return log(x) - psi(k); }
Variable beta_score(const Variable& a, const Variable& b, const Variable& x) { return log(x) - psi(a) + psi(a + b); }
Variable beta_score_of_b(const Variable& a, const Variable& b, const Variable& x) {
  return log1p(-x) - psi(b) + psi(a + b);
}

}  // namespace

SCALAR_OP({
    .name = "gammainc",
    .title = "Gammainc",
    .doc = "Regularised lower incomplete gamma function, elementwise.\n"
           "x: Parameter.\n"
           "y: Argument.\n"
           "-> P(x, y), the integral of ``t**(x - 1) * exp(-t)`` from 0 to y, divided by gamma(x).\n"
           "~ gammaincc, gammaincinv, gammainc_density",
    .symbol = "gammainc",
    .arity = 2,
    .dtypes = upgrade_to_float,
    .loops = loops<2>(float_types, [](auto k, auto x) { return through_double(bt_gammainc, k, x); }),
    .expand =
        [](Args in, DType) {
          return math_call("bt_gammainc", {in[0], in[1]});
        },
    .partials = {[](At a) { return a.g * of("gammainc_derivative", a.x, a.y); },
                 [](At a) { return a.g * gamma_density(a.x, a.y); }},
    .domain = {{0.5, 5}, {0.5, 5}},
    .edges = {0.0, 1.0, 0.1, 30.0, 1e3, inf, -1.0, nan},
});

SCALAR_OP({
    .name = "gammaincc",
    .title = "Gammaincc",
    .doc = "Regularised upper incomplete gamma function, elementwise.\n"
           "x: Parameter.\n"
           "y: Argument.\n"
           "-> Q(x, y) = 1 - P(x, y), accurate where it is small.\n"
           "~ gammainc, gammainccinv",
    .symbol = "gammaincc",
    .arity = 2,
    .dtypes = upgrade_to_float,
    .loops = loops<2>(float_types, [](auto k, auto x) { return through_double(bt_gammaincc, k, x); }),
    .expand =
        [](Args in, DType) {
          return math_call("bt_gammaincc", {in[0], in[1]});
        },
    .partials = {[](At a) { return -(a.g * of("gammainc_derivative", a.x, a.y)); },
                 [](At a) { return -(a.g * gamma_density(a.x, a.y)); }},
    .domain = {{0.5, 5}, {0.5, 5}},
    .edges = {0.0, 1.0, 0.1, 30.0, 1e3, inf, -1.0, nan},
});

SCALAR_OP({
    .name = "gammainc_derivative",
    .title = "Gammainc_derivative",
    .doc = "Derivative of `gammainc` with respect to its parameter, elementwise.\n"
           "x: Parameter.\n"
           "y: Argument.\n"
           "~ gammainc, gammainc_density",
    .symbol = "gammainc_derivative",
    .arity = 2,
    .dtypes = upgrade_to_float,
    .loops = loops<2>(float_types, [](auto k, auto x) { return through_double(bt_gammainc_derivative, k, x); }),
    .expand =
        [](Args in, DType) {
          return math_call("bt_gammainc_derivative", {in[0], in[1]});
        },
    // The second: the density's derivative by its parameter.
    .partials = {no_derivative, [](At a) { return a.g * gamma_density(a.x, a.y) * gamma_score(a.x, a.y); }},
    .domain = {{0.5, 5}, {0.5, 5}},
    .edges = {0.0, 1.0, 0.1, 30.0, inf, -1.0, nan},
});

SCALAR_OP({
    .name = "gammainc_density",
    .title = "Gammainc_density",
    .doc = "Density of the gamma distribution, elementwise.\n"
           "x: Shape parameter.\n"
           "y: Argument.\n"
           "-> Derivative of ``gammainc(x, y)`` with respect to y.\n"
           "~ gammainc, gammainc_derivative",
    .symbol = "gammainc_density",
    .arity = 2,
    .dtypes = upgrade_to_float,
    .loops = loops<2>(float_types, [](auto k, auto x) { return through_double(bt_gammainc_density, k, x); }),
    .expand =
        [](Args in, DType) {
          return math_call("bt_gammainc_density", {in[0], in[1]});
        },
    .partials = {[](At a) { return a.g * a.out * gamma_score(a.x, a.y); },
                 [](At a) { return a.g * a.out * ((a.x - 1) / a.y - 1); }},
    .domain = {{0.5, 5}, {0.5, 5}},
    .edges = {0.0, 1.0, 0.1, 30.0, inf, -1.0, nan},
});

SCALAR_OP({
    .name = "gammaincinv",
    .title = "Gammaincinv",
    .doc = "Inverse of the regularised lower incomplete gamma function, elementwise.\n"
           "x: Parameter.\n"
           "y: Probability.\n"
           "-> z with ``gammainc(x, z) == y``.\n"
           "~ gammainc, gammainccinv",
    .symbol = "gammaincinv",
    .arity = 2,
    .dtypes = upgrade_to_float,
    .loops = loops<2>(float_types, [](auto k, auto p) { return through_double(bt_gammaincinv, k, p); }),
    .expand =
        [](Args in, DType) {
          return math_call("bt_gammaincinv", {in[0], in[1]});
        },
    .partials = {[](At a) { return -(a.g * of("gammainc_derivative", a.x, a.out) / gamma_density(a.x, a.out)); },
                 [](At a) { return a.g / gamma_density(a.x, a.out); }},
    .domain = {{0.5, 5}, {0.1, 0.9}},
    .edges = {0.0, 1.0, 0.5, 1e-3, 3.0, inf, -1.0, nan},
});

SCALAR_OP({
    .name = "gammainccinv",
    .title = "Gammainccinv",
    .doc = "Inverse of the regularised upper incomplete gamma function, elementwise.\n"
           "x: Parameter.\n"
           "y: Probability.\n"
           "-> z with ``gammaincc(x, z) == y``.\n"
           "~ gammaincc, gammaincinv",
    .symbol = "gammainccinv",
    .arity = 2,
    .dtypes = upgrade_to_float,
    .loops = loops<2>(float_types, [](auto k, auto q) { return through_double(bt_gammainccinv, k, q); }),
    .expand =
        [](Args in, DType) {
          return math_call("bt_gammainccinv", {in[0], in[1]});
        },
    .partials = {[](At a) { return -(a.g * of("gammainc_derivative", a.x, a.out) / gamma_density(a.x, a.out)); },
                 [](At a) { return -(a.g / gamma_density(a.x, a.out)); }},
    .domain = {{0.5, 5}, {0.1, 0.9}},
    .edges = {0.0, 1.0, 0.5, 1e-3, 3.0, inf, -1.0, nan},
});

SCALAR_OP({
    .name = "betainc",
    .title = "Betainc",
    .doc = "Regularised incomplete beta function, elementwise.\n"
           "x: First parameter.\n"
           "y: Second parameter.\n"
           "z: Argument in [0, 1].\n"
           "-> Integral of ``t**(x - 1) * (1 - t)**(y - 1)`` from 0 to z, divided by beta(x, y).\n"
           "~ betaincinv, betainc_density, beta",
    .symbol = "betainc",
    .arity = 3,
    .dtypes = upgrade_to_float,
    .loops = loops<3>(float_types, [](auto a, auto b, auto x) { return through_double(bt_betainc, a, b, x); }),
    .expand =
        [](Args in, DType) {
          return math_call("bt_betainc", {in[0], in[1], in[2]});
        },
    .partials = {[](At a) { return a.g * of("betainc_derivative", a.x, a.y, a.z); },
                 [](At a) { return a.g * of("betainc_derivative_by_b", a.x, a.y, a.z); },
                 [](At a) { return a.g * beta_density(a.x, a.y, a.z); }},
    .domain = {{0.5, 5}, {0.5, 5}, {0.1, 0.9}},
    .edges = {0.0, 1.0, 0.5, 30.0, inf, -1.0, nan},
});

SCALAR_OP({
    .name = "betainc_derivative",
    .title = "Betainc_derivative",
    .doc = "Derivative of `betainc` with respect to its first parameter, elementwise.\n"
           "x: First parameter.\n"
           "y: Second parameter.\n"
           "z: Argument in [0, 1].\n"
           "~ betainc, betainc_derivative_by_b",
    .symbol = "betainc_derivative",
    .arity = 3,
    .dtypes = upgrade_to_float,
    .loops = loops<3>(float_types,
                      [](auto a, auto b, auto x) { return through_double(bt_betainc_derivative, a, b, x); }),
    .expand =
        [](Args in, DType) {
          return math_call("bt_betainc_derivative", {in[0], in[1], in[2]});
        },
    .partials = {no_derivative, no_derivative,
                 [](At a) { return a.g * beta_density(a.x, a.y, a.z) * beta_score(a.x, a.y, a.z); }},
    .domain = {{0.5, 5}, {0.5, 5}, {0.1, 0.9}},
    .edges = {0.0, 1.0, 0.5, 30.0, -1.0, nan},
});

SCALAR_OP({
    .name = "betainc_derivative_by_b",
    .title = "Betainc_derivative_by_b",
    .doc = "Derivative of `betainc` with respect to its second parameter, elementwise.\n"
           "x: First parameter.\n"
           "y: Second parameter.\n"
           "z: Argument in [0, 1].\n"
           "~ betainc, betainc_derivative",
    .symbol = "betainc_derivative_by_b",
    .arity = 3,
    .dtypes = upgrade_to_float,
    .loops = loops<3>(float_types,
                      [](auto a, auto b, auto x) { return through_double(bt_betainc_derivative_by_b, a, b, x); }),
    .expand =
        [](Args in, DType) {
          return math_call("bt_betainc_derivative_by_b", {in[0], in[1], in[2]});
        },
    .partials = {no_derivative, no_derivative,
                 [](At a) { return a.g * beta_density(a.x, a.y, a.z) * beta_score_of_b(a.x, a.y, a.z); }},
    .domain = {{0.5, 5}, {0.5, 5}, {0.1, 0.9}},
    .edges = {0.0, 1.0, 0.5, 30.0, -1.0, nan},
});

SCALAR_OP({
    .name = "betainc_density",
    .title = "Betainc_density",
    .doc = "Density of the beta distribution, elementwise.\n"
           "x: First parameter.\n"
           "y: Second parameter.\n"
           "z: Argument in [0, 1].\n"
           "-> Derivative of ``betainc(x, y, z)`` with respect to z.\n"
           "~ betainc",
    .symbol = "betainc_density",
    .arity = 3,
    .dtypes = upgrade_to_float,
    .loops = loops<3>(float_types, [](auto a, auto b, auto x) { return through_double(bt_betainc_density, a, b, x); }),
    .expand =
        [](Args in, DType) {
          return math_call("bt_betainc_density", {in[0], in[1], in[2]});
        },
    .partials = {[](At a) { return a.g * a.out * beta_score(a.x, a.y, a.z); },
                 [](At a) { return a.g * a.out * beta_score_of_b(a.x, a.y, a.z); },
                 [](At a) { return a.g * a.out * ((a.x - 1) / a.z - (a.y - 1) / (1 - a.z)); }},
    .domain = {{0.5, 5}, {0.5, 5}, {0.1, 0.9}},
    .edges = {0.0, 1.0, 0.5, 30.0, -1.0, nan},
});

SCALAR_OP({
    .name = "betaincinv",
    .title = "Betaincinv",
    .doc = "Inverse of the regularised incomplete beta function, elementwise.\n"
           "x: First parameter.\n"
           "y: Second parameter.\n"
           "z: Probability.\n"
           "-> t with ``betainc(x, y, t) == z``.\n"
           "~ betainc",
    .symbol = "betaincinv",
    .arity = 3,
    .dtypes = upgrade_to_float,
    .loops = loops<3>(float_types, [](auto a, auto b, auto p) { return through_double(bt_betaincinv, a, b, p); }),
    .expand =
        [](Args in, DType) {
          return math_call("bt_betaincinv", {in[0], in[1], in[2]});
        },
    .partials = {
        [](At a) { return -(a.g * of("betainc_derivative", a.x, a.y, a.out) / beta_density(a.x, a.y, a.out)); },
        [](At a) { return -(a.g * of("betainc_derivative_by_b", a.x, a.y, a.out) / beta_density(a.x, a.y, a.out)); },
        [](At a) { return a.g / beta_density(a.x, a.y, a.out); }},
    .domain = {{0.5, 5}, {0.5, 5}, {0.1, 0.9}},
    .edges = {0.0, 1.0, 0.5, 30.0, -1.0, nan},
});

}  // namespace bitale::records
