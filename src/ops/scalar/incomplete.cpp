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
    .doc = "The regularised lower incomplete gamma function with parameter x, of y.",
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
    .doc = "The regularised upper incomplete gamma function with parameter x, of y: 1 - gammainc(x, y).",
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
    .doc = "The derivative of gammainc by its parameter x, at y.",
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
    .doc = "The derivative of gammainc by y: the density at y of the gamma distribution with shape x.",
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
    .doc = "Where the regularised lower incomplete gamma function with parameter x is y.",
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
    .doc = "Where the regularised upper incomplete gamma function with parameter x is y.",
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
    .doc = "The regularised incomplete beta function with parameters x and y, of z.",
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
    .doc = "The derivative of betainc by its first parameter x, at z.",
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
    .doc = "The derivative of betainc by its second parameter y, at z.",
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
    .doc = "The derivative of betainc by z: the density at z of the beta distribution with parameters x and y.",
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
    .doc = "Where the regularised incomplete beta function with parameters x and y is z.",
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
