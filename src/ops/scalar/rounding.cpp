// Rounding to whole numbers. Integers become floats, as in PyTensor.
#include "ops/scalar/record.hpp"

namespace bitale::records {

SCALAR_OP({
    .name = "floor",
    .title = "Floor",
    .doc = "Largest integer not above a number, elementwise.\n"
           "~ ceil, trunc, round",
    .symbol = "floor",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return std::floor(x); }),
    .expand = [](Args in, DType) { return program::floor(in[0]); },
    .partials = {zero_derivative},
    .traits = increasing | keeps_zero | idempotent | cheap | discrete_output,
    .domain = {{-5, 5}},
    .edges = {0.0, -0.0, 0.5, -0.5, 1e300, inf, -inf, nan},
});

SCALAR_OP({
    .name = "ceil",
    .title = "Ceil",
    .doc = "Smallest integer not below a number, elementwise.\n"
           "~ floor, trunc, round",
    .symbol = "ceil",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return std::ceil(x); }),
    .expand = [](Args in, DType) { return program::ceil(in[0]); },
    .partials = {zero_derivative},
    .traits = increasing | keeps_zero | idempotent | cheap | discrete_output,
    .domain = {{-5, 5}},
    .edges = {0.0, -0.0, 0.5, -0.5, 1e300, inf, -inf, nan},
});

SCALAR_OP({
    .name = "round",
    .title = "Round",
    .doc = "Nearest integer, elementwise.\n"
           "-> Rounded numbers; of two integers equally near, the even one.\n"
           "~ floor, ceil, round_half_away_from_zero",
    .symbol = "round",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return std::nearbyint(x); }),
    .expand = [](Args in, DType) { return rint(in[0]); },
    .partials = {zero_derivative},
    .traits = odd | increasing | keeps_zero | idempotent | cheap | discrete_output,
    .domain = {{-5, 5}},
    .edges = {0.0, -0.0, 0.5, -0.5, 1.5, 2.5, 1e300, inf, -inf, nan},
});

SCALAR_OP({
    .name = "trunc",
    .title = "Trunc",
    .doc = "Integer part of a number, elementwise.\n"
           "-> Numbers rounded towards 0.\n"
           "~ floor, ceil",
    .symbol = "trunc",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return std::trunc(x); }),
    .expand = [](Args in, DType) { return program::trunc(in[0]); },
    .partials = {zero_derivative},
    .traits = odd | increasing | keeps_zero | idempotent | cheap | discrete_output,
    .domain = {{-5, 5}},
    .edges = {0.0, -0.0, 0.5, -0.5, 1e300, inf, -inf, nan},
});

}  // namespace bitale::records
