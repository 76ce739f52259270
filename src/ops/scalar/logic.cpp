// Bitwise logic of integers; for bools it is boolean logic.
#include "ops/analysis/interval.hpp"
#include "ops/scalar/record.hpp"

namespace bitale::records {

SCALAR_OP({
    .name = "and",
    .title = "And",
    .doc = "Bitwise and, elementwise.\n"
           "-> x & y; of bool, the logical and.\n"
           "~ or_, xor, logical_and",
    .symbol = "&",
    .precedence = 4,
    .arity = 2,
    .dtypes = discrete_upcast,
    .loops = loops<2>(discrete_types, [](auto x, auto y) { return decltype(x)(x & y); }),
    .expand = [](Args in, DType) { return in[0] & in[1]; },
    .traits = commutative | associative | idempotent | cheap | discrete_output,
    .domain = {{-9, 9}, {-9, 9}},
    .identity = -1,  // all bits set: true for bool
    .has_identity = true,
    .range =
        [](Ranges a, DType dtype) {
          if (dtype != DType::Bool) return Range();
          return interval::closed(std::min(a[0].low, a[1].low), std::min(a[0].high, a[1].high));
        },
});

SCALAR_OP({
    .name = "or",
    .title = "Or",
    .doc = "Bitwise or, elementwise.\n"
           "-> x | y; of bool, the logical or.\n"
           "~ and_, xor, logical_or",
    .symbol = "|",
    .precedence = 2,
    .arity = 2,
    .dtypes = discrete_upcast,
    .loops = loops<2>(discrete_types, [](auto x, auto y) { return decltype(x)(x | y); }),
    .expand = [](Args in, DType) { return in[0] | in[1]; },
    .traits = commutative | associative | idempotent | cheap | discrete_output,
    .domain = {{-9, 9}, {-9, 9}},
    .identity = 0,
    .has_identity = true,
    .range =
        [](Ranges a, DType dtype) {
          if (dtype != DType::Bool) return Range();
          return interval::closed(std::max(a[0].low, a[1].low), std::max(a[0].high, a[1].high));
        },
});

SCALAR_OP({
    .name = "xor",
    .title = "Xor",
    .doc = "Bitwise exclusive or, elementwise.\n"
           "-> x ^ y; of bool, the logical exclusive or.\n"
           "~ and_, or_, logical_xor",
    .symbol = "^",
    .precedence = 3,
    .arity = 2,
    .dtypes = discrete_upcast,
    .loops = loops<2>(discrete_types, [](auto x, auto y) { return decltype(x)(x ^ y); }),
    .expand = [](Args in, DType) { return in[0] ^ in[1]; },
    .traits = commutative | associative | cheap | discrete_output,
    .domain = {{-9, 9}, {-9, 9}},
    .identity = 0,
    .has_identity = true,
});

SCALAR_OP({
    .name = "invert",
    .title = "Invert",
    .doc = "Bitwise not, elementwise.\n"
           "-> ~x; of bool, the logical not.\n"
           "~ logical_not",
    .symbol = "~",
    .precedence = 7,
    .dtypes = discrete_upcast,
    .loops = loops<1>(discrete_types,
                      [](auto x) {
                        if constexpr (is_bool<decltype(x)>)
                          return !x;
                        else
                          return decltype(x)(~x);
                      }),
    .expand = [](Args in, DType) { return ~in[0]; },
    .traits = involution | cheap | discrete_output,
    .domain = {{-9, 9}},
    .range =
        [](Ranges a, DType dtype) {
          if (dtype != DType::Bool) return Range();
          return interval::closed(1 - a[0].high, 1 - a[0].low);
        },
});

}  // namespace bitale::records
