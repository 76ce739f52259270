// The hypergeometric function 2F1, one runtime call per element. The derivative by z is expressed by the same function;
// those by the parameters are functions of their own, which in turn have no derivatives by parameters.
#include "runtime/hypergeometric.hpp"

#include "ops/scalar/record.hpp"

namespace bitale::records {

namespace {

// The derivative by z is a b / c times this; `name` is the function, or its derivative by a parameter.
Variable raised(const char* name, At at) { return of(name, at.x + 1, at.y + 1, at.z + 1, at.w); }

}  // namespace

SCALAR_OP({
    .name = "hyp2f1",
    .title = "Hyp2f1",
    .doc = "Gauss hypergeometric function 2F1, elementwise.\n"
           "a: First parameter.\n"
           "b: Second parameter.\n"
           "c: Third parameter.\n"
           "z: Argument.\n"
           "-> 2F1(a, b; c; z); nan where it is not real.\n"
           "~ hyp2f1_derivative\n"
           "* Beyond z = 1 the value is real where the function is a polynomial, possibly times an integer power of 1 "
           "- z.",
    .symbol = "hyp2f1",
    .arity = 4,
    .dtypes = upgrade_to_float,
    .loops = loops<4>(float_types,
                      [](auto a, auto b, auto c, auto z) { return through_double(bt_hyp2f1, a, b, c, z); }),
    .expand =
        [](Args in, DType) {
          return math_call("bt_hyp2f1", {in[0], in[1], in[2], in[3]});
        },
    .partials = {[](At a) { return a.g * of("hyp2f1_derivative", a.x, a.y, a.z, a.w); },
                 [](At a) { return a.g * of("hyp2f1_derivative", a.y, a.x, a.z, a.w); },
                 [](At a) { return a.g * of("hyp2f1_derivative_by_c", a.x, a.y, a.z, a.w); },
                 [](At a) { return a.g * (a.x * a.y / a.z * raised("hyp2f1", a)); }},
    .domain = {{0.5, 3}, {0.5, 3}, {0.5, 4}, {-0.9, 0.9}},
    .edges = {1.0, 0.5, -2.0, nan},
});

SCALAR_OP({
    .name = "hyp2f1_derivative",
    .title = "Hyp2f1_derivative",
    .doc = "Derivative of `hyp2f1` with respect to its first parameter, elementwise.\n"
           "a: First parameter.\n"
           "b: Second parameter.\n"
           "c: Third parameter.\n"
           "z: Argument.\n"
           "~ hyp2f1, hyp2f1_derivative_by_c",
    .symbol = "hyp2f1_derivative",
    .arity = 4,
    .dtypes = upgrade_to_float,
    .loops = loops<4>(float_types,
                      [](auto a, auto b, auto c, auto z) { return through_double(bt_hyp2f1_derivative, a, b, c, z); }),
    .expand =
        [](Args in, DType) {
          return math_call("bt_hyp2f1_derivative", {in[0], in[1], in[2], in[3]});
        },
    .partials = {no_derivative, no_derivative, no_derivative,
                 [](At a) {
                   return a.g * (a.y / a.z * raised("hyp2f1", a) + a.x * a.y / a.z * raised("hyp2f1_derivative", a));
                 }},
    .domain = {{0.5, 3}, {0.5, 3}, {0.5, 4}, {-0.9, 0.9}},
    .edges = {0.5, nan},
});

SCALAR_OP({
    .name = "hyp2f1_derivative_by_c",
    .title = "Hyp2f1_derivative_by_c",
    .doc = "Derivative of `hyp2f1` with respect to its third parameter, elementwise.\n"
           "a: First parameter.\n"
           "b: Second parameter.\n"
           "c: Third parameter.\n"
           "z: Argument.\n"
           "~ hyp2f1, hyp2f1_derivative",
    .symbol = "hyp2f1_derivative_by_c",
    .arity = 4,
    .dtypes = upgrade_to_float,
    .loops = loops<4>(float_types, [](auto a, auto b, auto c,
                                      auto z) { return through_double(bt_hyp2f1_derivative_by_c, a, b, c, z); }),
    .expand =
        [](Args in, DType) {
          return math_call("bt_hyp2f1_derivative_by_c", {in[0], in[1], in[2], in[3]});
        },
    .partials = {no_derivative, no_derivative, no_derivative,
                 [](At a) {
                   const Variable factor = a.x * a.y / a.z;
                   return a.g * (factor * raised("hyp2f1_derivative_by_c", a) - factor / a.z * raised("hyp2f1", a));
                 }},
    .domain = {{0.5, 3}, {0.5, 3}, {0.5, 4}, {-0.9, 0.9}},
    .edges = {0.5, nan},
});

}  // namespace bitale::records
