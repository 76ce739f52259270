// Comparisons and predicates: their outputs are bool, and have no derivative.
#include "ops/analysis/interval.hpp"
#include "ops/scalar/exact_rules.hpp"
#include "ops/scalar/record.hpp"

namespace bitale::records {

namespace {

ScalarTypes own_dtype(std::span<const DType> in) { return {in[0], DType::Bool}; }

// Orders bools as 0 < 1 without relying on the target's comparison of bools.
template <auto compare, auto compare_bools>
Expr expand_comparison(Args in, DType dtype) {
  return dtype == DType::Bool ? compare_bools(in[0], in[1]) : compare(in[0], in[1]);
}

}  // namespace

SCALAR_OP({
    .name = "eq",
    .title = "Eq",
    .doc = "Test for equality, elementwise.\n"
           "-> x == y.\n"
           "~ neq, isclose",
    .symbol = "==",
    .precedence = 1,
    .arity = 2,
    .dtypes = compared,
    .loops = loops<2>(all_types, [](auto x, auto y) { return x == y; }),
    .complex = &complex_eq,
    .expand =
        expand_comparison<[](Expr x, Expr y) { return (equal(x, y)); }, [](Expr x, Expr y) { return (~(x ^ y)); }>,
    .traits = commutative | comparison | cheap | discrete_output,
    .domain = {{-2, 2}, {-2, 2}},
    .edges = {0.0, -0.0, 1.0, inf, -inf, nan},
    .range =
        [](Ranges a, DType) {
          return interval::truth(interval::is_same_number(a[0], a[1]),
                                 interval::is_below(a[0], a[1]) || interval::is_below(a[1], a[0]));
        },
    .exact = [](Numbers a) -> ExactValue { return exact_truth(a[0] == a[1]); },
});

SCALAR_OP({
    .name = "neq",
    .title = "Neq",
    .doc = "Test for inequality, elementwise.\n"
           "-> x != y; true if either is nan.\n"
           "~ eq",
    .symbol = "!=",
    .precedence = 1,
    .arity = 2,
    .dtypes = compared,
    .loops = loops<2>(all_types, [](auto x, auto y) { return x != y; }),
    .complex = &complex_neq,
    .expand =
        expand_comparison<[](Expr x, Expr y) { return (not_equal(x, y)); }, [](Expr x, Expr y) { return (x ^ y); }>,
    .traits = commutative | comparison | cheap | discrete_output,
    .domain = {{-2, 2}, {-2, 2}},
    .edges = {0.0, -0.0, 1.0, inf, -inf, nan},
    .range =
        [](Ranges a, DType) {
          return interval::truth(interval::is_below(a[0], a[1]) || interval::is_below(a[1], a[0]),
                                 interval::is_same_number(a[0], a[1]));
        },
});

SCALAR_OP({
    .name = "lt",
    .title = "Lt",
    .doc = "Test whether one number is less than another, elementwise.\n"
           "-> x < y.\n"
           "~ le, gt",
    .symbol = "<",
    .precedence = 1,
    .arity = 2,
    .dtypes = compared,
    .loops = loops<2>(all_types, [](auto x, auto y) { return x < y; }),
    .expand = expand_comparison<[](Expr x, Expr y) { return (x < y); }, [](Expr x, Expr y) { return (~x & y); }>,
    .traits = comparison | cheap | discrete_output,
    .domain = {{-2, 2}, {-2, 2}},
    .edges = {0.0, -0.0, 1.0, inf, -inf, nan},
    .range = [](Ranges a,
                DType) { return interval::truth(interval::is_below(a[0], a[1]), interval::is_not_above(a[1], a[0])); },
    .exact = [](Numbers a) -> ExactValue { return exact_truth(a[0] < a[1]); },
});

SCALAR_OP({
    .name = "le",
    .title = "Le",
    .doc = "Test whether one number is less than or equal to another, elementwise.\n"
           "-> x <= y.\n"
           "~ lt, ge",
    .symbol = "<=",
    .precedence = 1,
    .arity = 2,
    .dtypes = compared,
    .loops = loops<2>(all_types, [](auto x, auto y) { return x <= y; }),
    .expand = expand_comparison<[](Expr x, Expr y) { return (x <= y); }, [](Expr x, Expr y) { return (~x | y); }>,
    .traits = comparison | cheap | discrete_output,
    .domain = {{-2, 2}, {-2, 2}},
    .edges = {0.0, -0.0, 1.0, inf, -inf, nan},
    .range = [](Ranges a,
                DType) { return interval::truth(interval::is_not_above(a[0], a[1]), interval::is_below(a[1], a[0])); },
    .exact = [](Numbers a) -> ExactValue { return exact_truth(a[0] <= a[1]); },
});

SCALAR_OP({
    .name = "gt",
    .title = "Gt",
    .doc = "Test whether one number is greater than another, elementwise.\n"
           "-> x > y.\n"
           "~ ge, lt",
    .symbol = ">",
    .precedence = 1,
    .arity = 2,
    .dtypes = compared,
    .loops = loops<2>(all_types, [](auto x, auto y) { return x > y; }),
    .expand = expand_comparison<[](Expr x, Expr y) { return (x > y); }, [](Expr x, Expr y) { return (x & ~y); }>,
    .traits = comparison | cheap | discrete_output,
    .domain = {{-2, 2}, {-2, 2}},
    .edges = {0.0, -0.0, 1.0, inf, -inf, nan},
    .range = [](Ranges a,
                DType) { return interval::truth(interval::is_below(a[1], a[0]), interval::is_not_above(a[0], a[1])); },
    .exact = [](Numbers a) -> ExactValue { return exact_truth(a[0] > a[1]); },
});

SCALAR_OP({
    .name = "ge",
    .title = "Ge",
    .doc = "Test whether one number is greater than or equal to another, elementwise.\n"
           "-> x >= y.\n"
           "~ gt, le",
    .symbol = ">=",
    .precedence = 1,
    .arity = 2,
    .dtypes = compared,
    .loops = loops<2>(all_types, [](auto x, auto y) { return x >= y; }),
    .expand = expand_comparison<[](Expr x, Expr y) { return (x >= y); }, [](Expr x, Expr y) { return (x | ~y); }>,
    .traits = comparison | cheap | discrete_output,
    .domain = {{-2, 2}, {-2, 2}},
    .edges = {0.0, -0.0, 1.0, inf, -inf, nan},
    .range = [](Ranges a,
                DType) { return interval::truth(interval::is_not_above(a[1], a[0]), interval::is_below(a[0], a[1])); },
    .exact = [](Numbers a) -> ExactValue { return exact_truth(a[0] >= a[1]); },
});

SCALAR_OP({
    .name = "isnan",
    .title = "Isnan",
    .doc = "Test for nan, elementwise.\n"
           "-> True where x is nan; never for integers.\n"
           "~ isinf, isfinite",
    .symbol = "isnan",
    .dtypes = own_dtype,
    .loops = loops<1>(all_types, [](auto x) { return x != x; }),
    .complex = &complex_isnan,
    .expand = [](Args in, DType) { return is_nan(in[0]); },
    .traits = cheap | discrete_output,
    .domain = {{-2, 2}},
    .edges = {0.0, inf, -inf, nan},
});

SCALAR_OP({
    .name = "isinf",
    .title = "Isinf",
    .doc = "Test for infinities, elementwise.\n"
           "-> True where x is plus or minus infinity; never for integers.\n"
           "~ isnan, isfinite",
    .symbol = "isinf",
    .dtypes = own_dtype,
    .loops = loops<1>(all_types,
                      [](auto x) {
                        if constexpr (is_real<decltype(x)>)
                          return std::isinf(x);
                        else
                          return false;
                      }),
    .complex = &complex_isinf,
    .expand =
        [](Args in, DType dtype) {
          return is_float(dtype) ? equal(program::abs(in[0]), inf) : in[0].pool().boolean(false);
        },
    .traits = cheap | discrete_output,
    .domain = {{-2, 2}},
    .edges = {0.0, inf, -inf, nan},
    .exact = [](Numbers) -> ExactValue { return exact::Number(0); },
});

}  // namespace bitale::records
