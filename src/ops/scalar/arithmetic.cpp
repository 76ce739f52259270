// Arithmetic: sums, products, quotients, powers. Division and remainder follow Python (towards minus infinity);
// integers wrap, and dividing an integer by zero gives 0, as in NumPy.
#include "ops/analysis/interval.hpp"
#include "ops/scalar/exact_rules.hpp"
#include "ops/scalar/record.hpp"
#include "runtime/special.hpp"

namespace bitale::records {

namespace {

// ---- Python's quotient and remainder ----------------------------------------

template <class T>
T floor_mod(T x, T y) {
  if constexpr (is_real<T>) {
    T r = std::fmod(x, y);
    if (y == 0) return r;  // nan
    if (r == 0) return std::copysign(T(0), y);
    return (r < 0) != (y < 0) ? r + y : r;
  } else if constexpr (std::is_signed_v<T>) {
    if (y == 0 || y == -1) return 0;
    const T r = T(x % y);
    return r != 0 && (r < 0) != (y < 0) ? T(r + y) : r;
  } else {
    return y == 0 ? T(0) : T(x % y);
  }
}

template <class T>
T floor_div(T x, T y) {
  if constexpr (is_real<T>) {
    if (y == 0) return x / y;
    // x - x mod y is a multiple of y up to rounding: the quotient is near the intended whole number.
    const T r = std::fmod(x, y);
    T q = (x - r) / y;
    if (r != 0 && (r < 0) != (y < 0)) q -= 1;
    if (q == 0) return std::copysign(T(0), x / y);
    const T whole = std::floor(q);
    return q - whole > T(0.5) ? whole + 1 : whole;
  } else if constexpr (std::is_signed_v<T>) {
    if (y == 0) return 0;
    if (y == -1) return sub_values(T(0), x);  // the smallest value is its own negation
    const T q = T(x / y), r = T(x % y);
    return r != 0 && (r < 0) != (y < 0) ? T(q - 1) : q;
  } else {
    return y == 0 ? T(0) : T(x / y);
  }
}

// A divisor for which no hardware traps.
Expr harmless(Expr y) {
  Expr bad = equal(y, 0);
  if (is_signed_int(y.dtype())) bad = bad | equal(y, -1);
  return select(bad, 1.0, y);
}

Expr expand_mod(Args in, DType dtype) {
  const Expr x = in[0], y = in[1];
  if (is_float(dtype)) {
    const Expr r = math_call("fmod", {x, y});
    const Expr shifted = select(not_equal(r < 0, y < 0), r + y, r);
    return select(equal(r, 0), copysign(r, y), shifted);  // nan is kept: no comparison holds
  }
  const Expr r = rem(x, harmless(y));
  if (!is_signed_int(dtype)) return select(equal(y, 0), 0.0, r);
  const Expr wrong_sign = not_equal(r, 0) & not_equal(r < 0, y < 0);
  return select(equal(y, 0), 0.0, select(wrong_sign, r + y, r));
}

Expr expand_int_div(Args in, DType dtype) {
  const Expr x = in[0], y = in[1];
  if (is_float(dtype)) {
    const Expr r = math_call("fmod", {x, y}), exact = (x - r) / y;
    const Expr q = select(not_equal(r, 0) & not_equal(r < 0, y < 0), exact - 1.0, exact);
    const Expr whole = floor(q);
    const Expr rounded = select(q - whole > 0.5, whole + 1.0, whole);
    return select(equal(y, 0), x / y, select(equal(q, 0), copysign(q, x / y), rounded));
  }
  const Expr divisor = harmless(y), q = x / divisor;
  if (!is_signed_int(dtype)) return select(equal(y, 0), 0.0, q);
  const Expr r = rem(x, divisor);
  const Expr floored = select(not_equal(r, 0) & not_equal(r < 0, y < 0), q - 1, q);
  return select(equal(y, 0), 0.0, select(equal(y, -1), x.pool().integer(0, dtype) - x, floored));
}

// ---- powers ----------------------------------------

template <class T>
T power(T x, T y) {
  if constexpr (is_real<T>)
    return std::pow(x, y);
  else if constexpr (std::is_signed_v<T>)
    return T(bt_pow_i64(x, y));
  else
    return T(bt_pow_u64(x, y));
}

Expr expand_pow(Args in, DType dtype) {
  if (is_float(dtype)) return math::pow(in[0], in[1]);
  // Wrapping commutes with widening, so one function serves all widths.
  const bool with_sign = is_signed_int(dtype);
  const DType wide = with_sign ? DType::Int64 : DType::UInt64;
  const Expr arguments[] = {cast(in[0], wide), cast(in[1], wide)};
  return cast(in[0].pool().call(with_sign ? "bt_pow_i64" : "bt_pow_u64", wide, arguments), dtype);
}

// y - 1 for an exponent of any dtype, without wrapping.
Variable one_less(const Variable& y) {
  const bool narrow = is_discrete(y.dtype()) && itemsize(y.dtype()) < 8;
  return (narrow && !y.is_constant() ? cast(y, DType::Int64) : y) - 1;
}

bool is_nonzero_constant(const Variable& y) {
  const Array* value = y.constant();
  return value && value->size() == 1 && !is_complex(value->dtype()) && value->item() != 0;
}

Variable pow_by_base(At a) {
  const Variable slope = a.g * a.y * pow(a.x, one_less(a.y));
  // x**0 is 1 for every x; the formula would give 0 * inf at x = 0.
  return is_nonzero_constant(a.y) ? slope : switch_(eq(a.y, 0), 0, slope);
}

Variable pow_by_exponent(At a) {
  // PyTensor's convention at 0: the power is constant there for every positive exponent.
  return switch_(eq(a.x, 0), 0, a.g * log(a.x) * a.out);
}

// ---- signs and extremes ----------------------------------------

template <class T>
T absolute(T x) {
  if constexpr (is_real<T>)
    return std::fabs(x);
  else if constexpr (std::is_signed_v<T>)
    return x < 0 ? sub_values(T(0), x) : x;
  else
    return x;
}

template <class T>
T sign_of(T x) {
  if constexpr (is_real<T>)
    return x > 0 ? T(1) : x < 0 ? T(-1) : x == 0 ? T(0) : x;
  else if constexpr (std::is_signed_v<T>)
    return T((x > 0) - (x < 0));
  else
    return x != 0;
}

Expr expand_sign(Args in, DType dtype) {
  const Expr x = in[0];
  if (dtype == DType::Bool) return x;
  if (!is_float(dtype) && !is_signed_int(dtype)) return min(x, 1);
  const Expr negative_or_not = select(x < 0, -1.0, select(equal(x, 0), 0.0, x));
  return select(x > 0, 1.0, negative_or_not);
}

template <class T>
T larger(T x, T y) {
  if constexpr (is_real<T>)
    return x >= y || x != x ? x : y;
  else
    return x >= y ? x : y;
}
template <class T>
T smaller(T x, T y) {
  if constexpr (is_real<T>)
    return x <= y || x != x ? x : y;
  else
    return x <= y ? x : y;
}

Expr expand_maximum(Args in, DType dtype) {
  return dtype == DType::Bool ? in[0] | in[1] : combine(program::Combiner::max, in[0], in[1]);
}
Expr expand_minimum(Args in, DType dtype) {
  return dtype == DType::Bool ? in[0] & in[1] : combine(program::Combiner::min, in[0], in[1]);
}
Expr expand_clip(Args in, DType dtype) {
  const Expr raised[] = {expand_maximum(in, dtype), in[2]};
  return expand_minimum(raised, dtype);
}

// The gradient flows to the first operand if it gives the value (also when both do), else to the second.
Variable to_first(At a) { return switch_(eq(a.out, a.x), a.g, 0); }
Variable to_second(At a) { return switch_(eq(a.out, a.x), 0, a.g); }

Expr expand_add(Args in, DType dtype) {
  return dtype == DType::Bool ? in[0] | in[1] : program::add_contracted(in[0], in[1]);
}
Expr expand_mul(Args in, DType dtype) { return dtype == DType::Bool ? in[0] & in[1] : in[0] * in[1]; }

// `switch` computes in the dtype of its branches.
ScalarTypes branches_upcast(std::span<const DType> in) { return upcast_out(in.subspan(1)); }
ScalarTypes second_dtype(std::span<const DType> in) { return {in[1], in[1]}; }

// Operands whose squares leave the range are scaled by powers of two, which is exact.
Expr expand_hypot(Args in, DType) {
  const Expr &x = in[0], &y = in[1];
  const bool is_double = x.dtype() == DType::Float64;
  const auto number = [&](double value) { return x.pool().number(value, x.dtype()); };
  const Expr squares = x * x + y * y;
  const Expr is_large = squares > (is_double ? 1e300 : 1e37), is_small = squares < (is_double ? 1e-290 : 1e-30);
  const double large = std::ldexp(1.0, is_double ? 600 : 65), small = std::ldexp(1.0, is_double ? -600 : -86);
  const auto choose = [&](double if_large, double if_small) {
    return select(is_large, number(if_large), select(is_small, number(if_small), number(1)));
  };
  const Expr factor = choose(1 / large, 1 / small), a = x * factor, b = y * factor;
  const Expr root = sqrt(a * a + b * b) * choose(large, small), infinite = number(inf);
  return select(equal(abs(x), infinite), infinite, select(equal(abs(y), infinite), infinite, root));
}

}  // namespace

SCALAR_OP({
    .name = "add",
    .title = "Add",
    .doc = "Sum of numbers, elementwise.\n"
           "-> x + y; of bool, the logical or.\n"
           "~ sub, mul, sum\n"
           "* Integers wrap around on overflow.",
    .symbol = "+",
    .precedence = 5,
    .arity = 2,
    .dtypes = upcast_out,
    .loops = loops<2>(all_types, [](auto x, auto y) { return add_values(x, y); }),
    .complex = &complex_add,
    .expand = expand_add,
    .partials = {[](At a) { return a.g; }, [](At a) { return a.g; }},
    .traits = commutative | associative | cheap | linear | regular,
    .domain = {{-5, 5}, {-5, 5}},
    .edges = {0.0, -0.0, inf, -inf, nan},
    .identity = 0,
    .has_identity = true,
    .range = [](Ranges a, DType) { return interval::sum(a[0], a[1]); },
    .exact = [](Numbers a) -> ExactValue { return a[0] + a[1]; },
});

SCALAR_OP({
    .name = "sub",
    .title = "Sub",
    .doc = "Difference of numbers, elementwise.\n"
           "-> x - y.\n"
           "~ add, neg\n"
           "* Integers wrap around on overflow. The difference of two bools is not defined.",
    .symbol = "-",
    .precedence = 5,
    .arity = 2,
    .dtypes = upcast_out_nobool,
    .loops = loops<2>(number_types, [](auto x, auto y) { return sub_values(x, y); }),
    .complex = &complex_sub,
    .expand = [](Args in, DType) { return program::sub_contracted(in[0], in[1]); },
    .partials = {[](At a) { return a.g; }, [](At a) { return -a.g; }},
    .traits = cheap | linear | regular,
    .domain = {{-5, 5}, {-5, 5}},
    .edges = {0.0, -0.0, inf, -inf, nan},
    .range = [](Ranges a, DType) { return interval::sum(a[0], interval::negated(a[1])); },
    .exact = [](Numbers a) -> ExactValue { return a[0] - a[1]; },
});

SCALAR_OP({
    .name = "mul",
    .title = "Mul",
    .doc = "Product of numbers, elementwise.\n"
           "-> x * y; of bool, the logical and.\n"
           "~ true_div, add, prod\n"
           "* Integers wrap around on overflow.",
    .symbol = "*",
    .precedence = 6,
    .arity = 2,
    .dtypes = upcast_out,
    .loops = loops<2>(all_types, [](auto x, auto y) { return mul_values(x, y); }),
    .complex = &complex_mul,
    .expand = expand_mul,
    .partials = {[](At a) { return a.g * a.y; }, [](At a) { return a.g * a.x; }},
    .traits = commutative | associative | cheap | regular,
    .domain = {{-5, 5}, {-5, 5}},
    .edges = {0.0, -0.0, inf, -inf, nan},
    .identity = 1,
    .has_identity = true,
    .range = [](Ranges a, DType) { return interval::product(a[0], a[1]); },
    .exact = [](Numbers a) -> ExactValue { return a[0] * a[1]; },
});

SCALAR_OP({
    .name = "true_div",
    .title = "True_div",
    .doc = "Quotient of numbers, elementwise.\n"
           "-> x / y.\n"
           "~ int_div, mod, mul",
    .symbol = "/",
    .precedence = 6,
    .arity = 2,
    .dtypes = float_quotient,
    .loops = loops<2>(float_types, [](auto x, auto y) { return x / y; }),
    .complex = &complex_true_div,
    .expand = [](Args in, DType) { return in[0] / in[1]; },
    .partials = {[](At a) { return a.g / a.y; }, [](At a) { return -(a.g * a.out) / a.y; }},
    .traits = cheap,
    .domain = {{-5, 5}, {0.5, 5}},
    .edges = {0.0, -0.0, inf, -inf, nan},
    .range = [](Ranges a, DType) { return interval::product(a[0], interval::inverse(a[1])); },
    .exact = [](Numbers a) { return a[1] == 0 ? ExactValue() : ExactValue(a[0] / a[1]); },
});

SCALAR_OP({
    .name = "int_div",
    .title = "Int_div",
    .doc = "Quotient rounded down, elementwise.\n"
           "-> floor(x / y), as Python's ``//``; integers divided by 0 give 0.\n"
           "~ mod, true_div, ceil_intdiv",
    .symbol = "//",
    .precedence = 6,
    .arity = 2,
    .dtypes = upcast_out_min8,
    .loops = loops<2>(number_types, [](auto x, auto y) { return floor_div(x, y); }),
    .expand = expand_int_div,
    .partials = {zero_derivative, zero_derivative},
    .traits = discrete_output,
    .domain = {{-20, 20}, {1, 6}},
    .edges = {0.0, -0.0, 1.0, -1.0, 0.1, inf, -inf, nan},
});

SCALAR_OP({
    .name = "mod",
    .title = "Mod",
    .doc = "Remainder of division, elementwise.\n"
           "-> ``x - y * floor(x / y)``, as Python's ``%``: it has the sign of y; integers modulo 0 give 0.\n"
           "~ int_div, divmod",
    .symbol = "%",
    .precedence = 6,
    .arity = 2,
    .dtypes = upcast_out_min8,
    .loops = loops<2>(number_types, [](auto x, auto y) { return floor_mod(x, y); }),
    .expand = expand_mod,
    .partials = {[](At a) { return a.g; }, [](At a) { return -(a.g * int_div(a.x, a.y)); }},
    .domain = {{-20, 20}, {1, 6}},
    .edges = {0.0, -0.0, 1.0, -1.0, 0.1, inf, -inf, nan},
});

SCALAR_OP({
    .name = "pow",
    .title = "Pow",
    .doc = "Power of numbers, elementwise.\n"
           "x: Base.\n"
           "y: Exponent.\n"
           "-> ``x ** y``.\n"
           "~ exp, sqr, sqrt\n"
           "* Integers wrap around on overflow. With a negative exponent, integers give the integer part of ``1 / "
           "x**-y``, and 0 for x = 0.",
    .symbol = "**",
    .precedence = 8,
    .arity = 2,
    .dtypes = upcast_out_min8,
    .loops = loops<2>(number_types, [](auto x, auto y) { return power(x, y); }),
    .complex = &complex_pow,
    .expand = expand_pow,
    .stablehlo = "stablehlo.power",
    .partials = {pow_by_base, pow_by_exponent},
    .domain = {{0.2, 4}, {0, 4}},
    .edges = {0.0, -0.0, 1.0, -1.0, 2.0, inf, -inf, nan},
    .range = [](Ranges a, DType) { return interval::power(a[0], a[1]); },
    .exact = [](Numbers a) { return exact_power(a[0], a[1]); },
});

SCALAR_OP({
    .name = "neg",
    .title = "Neg",
    .doc = "Negative of numbers, elementwise.\n"
           "-> -x.\n"
           "~ sub, abs",
    .symbol = "-",
    .precedence = 7,
    .dtypes = upcast_out_nobool,
    .loops = loops<1>(number_types,
                      [](auto x) {
                        if constexpr (is_real<decltype(x)>)
                          return -x;
                        else
                          return sub_values(decltype(x)(0), x);
                      }),
    .complex = &complex_neg,
    .expand = [](Args in, DType) { return -in[0]; },
    .partials = {[](At a) { return -a.g; }},
    .traits = odd | decreasing | keeps_zero | involution | cheap | linear | regular,
    .domain = {{-5, 5}},
    .edges = {0.0, -0.0, inf, -inf, nan},
    .range = [](Ranges a, DType) { return interval::negated(a[0]); },
    .exact = [](Numbers a) -> ExactValue { return -a[0]; },
});

SCALAR_OP({
    .name = "abs",
    .title = "Abs",
    .doc = "Absolute value, elementwise.\n"
           "-> ``|x|``, a real number also for complex x.\n"
           "~ sign, sqr",
    .symbol = "abs",
    .dtypes = upcast_out,
    .loops = loops<1>(all_types, [](auto x) { return absolute(x); }),
    .complex = &complex_abs,
    .expand = [](Args in,
                 DType dtype) { return is_float(dtype) || is_signed_int(dtype) ? program::abs(in[0]) : in[0]; },
    .partials = {[](At a) { return a.g * sign(a.x); }},
    .traits = even | keeps_zero | idempotent | cheap | regular,
    .domain = {{-5, 5}},
    .edges = {0.0, -0.0, inf, -inf, nan},
    .range = [](Ranges a, DType) { return interval::size(a[0]); },
    .exact = [](Numbers a) -> ExactValue { return abs(a[0]); },
});

SCALAR_OP({
    .name = "sign",
    .title = "Sign",
    .doc = "Sign of numbers, elementwise.\n"
           "-> -1, 0 or 1; nan for nan. For complex numbers ``x / abs(x)``, and 0 for 0.\n"
           "~ abs, neg",
    .symbol = "sgn",
    .dtypes = upcast_out,
    .loops = loops<1>(all_types, [](auto x) { return sign_of(x); }),
    .complex = &complex_sign,
    .expand = expand_sign,
    .partials = {zero_derivative},
    .traits = odd | increasing | keeps_zero | idempotent | cheap | discrete_output | regular,
    .domain = {{-5, 5}},
    .edges = {0.0, -0.0, inf, -inf, nan},
    .range =
        [](Ranges a, DType) {
          return a[0].is_positive() ? interval::closed(1, 1) : interval::closed(a[0].low >= 0 ? 0 : -1, 1);
        },
    .exact = [](Numbers a) -> ExactValue {
      return a[0] > 0 ? exact::Number(1) : a[0] < 0 ? exact::Number(-1) : exact::Number(0);
    },
});

SCALAR_OP({
    .name = "sqr",
    .title = "Sqr",
    .doc = "Square of numbers, elementwise.\n"
           "-> ``x * x``.\n"
           "~ sqrt, pow",
    .symbol = "sqr",
    .dtypes = upcast_out,
    .loops = loops<1>(all_types, [](auto x) { return mul_values(x, x); }),
    .complex = &complex_sqr,
    .expand = [](Args in, DType dtype) { return dtype == DType::Bool ? in[0] : in[0] * in[0]; },
    .partials = {[](At a) { return a.g * 2 * a.x; }},
    .traits = even | keeps_zero | cheap | regular,
    .domain = {{-5, 5}},
    .edges = {0.0, -0.0, inf, -inf, nan, 1e200, 1e-200},
    .range = [](Ranges a, DType) { return interval::product(interval::size(a[0]), interval::size(a[0])); },
    .exact = [](Numbers a) -> ExactValue { return a[0] * a[0]; },
});

SCALAR_OP({
    .name = "sqrt",
    .title = "Sqrt",
    .doc = "Non-negative square root, elementwise.\n"
           "-> Square roots; nan for negative real numbers.\n"
           "~ cbrt, sqr",
    .symbol = "sqrt",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return std::sqrt(x); }),
    .complex = &complex_sqrt,
    .expand = [](Args in, DType) { return program::sqrt(in[0]); },
    .partials = {[](At a) { return a.g * 0.5 / a.out; }},
    .traits = increasing | keeps_zero,
    .domain = {{0.1, 9}},
    .edges = {0.0, -0.0, -1.0, inf, -inf, nan},
    .range = [](Ranges a, DType) { return a[0].is_positive() ? interval::at_least(0, true) : interval::at_least(0); },
    .exact = [](Numbers a) { return a[0] < 0 ? ExactValue() : ExactValue(sqrt(a[0])); },
});

SCALAR_OP({
    .name = "cbrt",
    .title = "Cbrt",
    .doc = "Cube root, elementwise.\n"
           "-> Cube roots, negative for negative numbers.\n"
           "~ sqrt, pow",
    .symbol = "cbrt",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return std::cbrt(x); }),
    .expand = [](Args in, DType) { return math::cbrt(in[0]); },
    .stablehlo = "stablehlo.cbrt",
    .partials = {[](At a) { return a.g / (3 * sqr(a.out)); }},
    .traits = odd | increasing | keeps_zero,
    .domain = {{0.1, 9}},
    .edges = {0.0, -0.0, -8.0, 1e-310, 1e300, inf, -inf, nan},
});

SCALAR_OP({
    .name = "reciprocal",
    .title = "Reciprocal",
    .doc = "Reciprocal of numbers, elementwise.\n"
           "-> ``1 / x``.\n"
           "~ true_div",
    .symbol = "1/",
    .precedence = 6,
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return 1 / x; }),
    .complex = &complex_reciprocal,
    .expand = [](Args in, DType) { return 1.0 / in[0]; },
    .partials = {[](At a) { return -(a.g * a.out) * a.out; }},
    .traits = odd | involution,
    .domain = {{0.2, 5}},
    .edges = {0.0, -0.0, inf, -inf, nan},
    .range = [](Ranges a, DType) { return interval::inverse(a[0]); },
    .exact = [](Numbers a) { return a[0] == 0 ? ExactValue() : ExactValue(1 / a[0]); },
});

SCALAR_OP({
    .name = "maximum",
    .title = "Maximum",
    .doc = "Larger of two numbers, elementwise.\n"
           "-> Larger operands; nan if either is nan.\n"
           "~ minimum, max, clip",
    .symbol = "maximum",
    .arity = 2,
    .dtypes = upcast_out,
    .loops = loops<2>(all_types, [](auto x, auto y) { return larger(x, y); }),
    .expand = expand_maximum,
    .partials = {to_first, to_second},
    .traits = commutative | associative | idempotent | cheap | regular,
    .domain = {{-5, 5}, {-5, 5}},
    .edges = {0.0, 1.0, inf, -inf, nan},
    .range = [](Ranges a, DType) { return interval::maximum(a[0], a[1]); },
    .exact = [](Numbers a) -> ExactValue { return a[0] > a[1] ? a[0] : a[1]; },
});

SCALAR_OP({
    .name = "minimum",
    .title = "Minimum",
    .doc = "Smaller of two numbers, elementwise.\n"
           "-> Smaller operands; nan if either is nan.\n"
           "~ maximum, min, clip",
    .symbol = "minimum",
    .arity = 2,
    .dtypes = upcast_out,
    .loops = loops<2>(all_types, [](auto x, auto y) { return smaller(x, y); }),
    .expand = expand_minimum,
    .partials = {to_first, to_second},
    .traits = commutative | associative | idempotent | cheap | regular,
    .domain = {{-5, 5}, {-5, 5}},
    .edges = {0.0, 1.0, inf, -inf, nan},
    .range = [](Ranges a, DType) { return interval::minimum(a[0], a[1]); },
    .exact = [](Numbers a) -> ExactValue { return a[0] < a[1] ? a[0] : a[1]; },
});

SCALAR_OP({
    .name = "clip",
    .title = "Clip",
    .doc = "Limit numbers to an interval, elementwise.\n"
           "x: Numbers.\n"
           "y: Lower bound.\n"
           "z: Upper bound.\n"
           "-> ``minimum(maximum(x, y), z)``.\n"
           "~ maximum, minimum",
    .symbol = "clip",
    .arity = 3,
    .dtypes = upcast_out,
    .loops = loops<3>(all_types, [](auto x, auto low, auto high) { return smaller(larger(x, low), high); }),
    .expand = expand_clip,
    .partials = {[](At a) { return switch_(and_(ge(a.x, a.y), le(a.x, a.z)), a.g, 0); },
                 [](At a) { return switch_(and_(lt(a.x, a.y), le(a.y, a.z)), a.g, 0); },
                 [](At a) { return switch_(gt(maximum(a.x, a.y), a.z), a.g, 0); }},
    .traits = cheap | regular,
    .domain = {{-5, 5}, {-3, -1}, {1, 3}},
    .edges = {0.0, 1.0, inf, -inf, nan},
    .range = [](Ranges a, DType) { return interval::minimum(interval::maximum(a[0], a[1]), a[2]); },
});

SCALAR_OP({
    .name = "switch",
    .title = "Switch",
    .doc = "Choose between two tensors by a condition, elementwise.\n"
           "x: Condition, true where it is not 0.\n"
           "y: Values where it is true.\n"
           "z: Values where it is false.\n"
           "-> Chosen values, of the broadcast shape.\n"
           "~ where, bitale.ifelse\n"
           "* Both branches are computed; `bitale.ifelse` computes one of them. The gradient with respect to the "
           "branch that is not chosen is 0.",
    .symbol = "switch",
    .arity = 3,
    .has_condition = true,
    .dtypes = branches_upcast,
    .loops = loops<3, true>(all_types, [](bool condition, auto y, auto z) { return condition ? y : z; }),
    .complex = &complex_switch,
    .expand = [](Args in, DType) { return select(in[0], in[1], in[2]); },
    .partials = {not_connected, [](At a) { return switch_(a.x, a.g, 0); }, [](At a) { return switch_(a.x, 0, a.g); }},
    .traits = cheap | regular,
    .domain = {{0, 1}, {-5, 5}, {-5, 5}},
    .edges = {0.0, 1.0, inf, -inf, nan},
    .range = [](Ranges a,
                DType) { return a[0].is_always(0) ? a[2]
                                : a[0].low > 0    ? a[1]
                                                  : interval::either(a[1], a[2]); },
});

SCALAR_OP({
    .name = "second",
    .title = "Second",
    .doc = "Second operand, broadcast to the shape of both.\n"
           "x: Tensor whose shape the result has; its values are not read.\n"
           "y: Values.\n"
           "-> `y`, broadcast.\n"
           "~ full_like, alloc",
    .symbol = "fill",
    .arity = 2,
    .reads_shape_of_first = true,
    .dtypes = second_dtype,
    .loops = loops<2>(all_types, [](auto, auto y) { return y; }),
    .complex = &complex_second,
    .expand = [](Args in, DType) { return in[1]; },
    .partials = {not_connected, [](At a) { return a.g; }},
    .traits = associative | idempotent | cheap | regular,
    .domain = {{-5, 5}, {-5, 5}},
    .edges = {0.0, 1.0, inf, -inf, nan},
    .range = [](Ranges a, DType) { return a[1]; },
});

SCALAR_OP({
    .name = "hypot",
    .title = "Hypot",
    .doc = "Length of the hypotenuse, elementwise.\n"
           "-> ``sqrt(x * x + y * y)`` without overflow or underflow of the squares; inf if an operand is infinite, "
           "even next to nan.\n"
           "~ sqrt, abs",
    .symbol = "hypot",
    .arity = 2,
    .dtypes = upgrade_to_float,
    .loops = loops<2>(float_types, [](auto x, auto y) { return std::hypot(x, y); }),
    .expand = expand_hypot,
    .partials = {[](At a) { return a.g * (a.x / switch_(eq(a.out, 0), 1, a.out)); },  // 0 where both are 0
                 [](At a) { return a.g * (a.y / switch_(eq(a.out, 0), 1, a.out)); }},
    .traits = commutative,
    .domain = {{0.5, 5}, {-5, 5}},
    .edges = {0.0, -0.0, 1.0, 1e200, 1e-200, inf, -inf, nan},
    .exact = [](Numbers a) -> ExactValue { return exact::Number(sqrt(a[0] * a[0] + a[1] * a[1])); },
});

}  // namespace bitale::records
