// Complex implementations of scalar ops. Evaluation follows C's complex functions, and NumPy where it differs from
// them: a product is the textbook formula, a quotient is Smith's formula, whose intermediate results neither overflow
// nor underflow. The elementary functions have the special values of Annex G of the C standard, by either way; other
// formulas of parts are meant for finite numbers, and a part may be nan for infinities where C has a value.
#include "ops/scalar/complex.hpp"

#include <complex>
#include <numbers>

#include "bitale/ops/elementary.hpp"
#include "ops/complex/complex.hpp"
#include "ops/scalar/record.hpp"

namespace bitale::records {

namespace {

using Result = ComplexImplementation::Result;
using Parts = ComplexParts;
using PartsOf = std::span<const ComplexParts>;

template <bool has_condition, class F, std::size_t... I>
std::array<ScalarLoop, 2> both_loops(std::index_sequence<I...>) {
  return {&Loop<F, std::complex<float>, has_condition, I...>::run,
          &Loop<F, std::complex<double>, has_condition, I...>::run};
}
template <int arity, bool has_condition = false, class F>
std::array<ScalarLoop, 2> complex_loops(F) {
  return both_loops<has_condition, F>(std::make_index_sequence<std::size_t(arity)>());
}

// ---- values ---------------------------------------------------------------------------------------------------------

template <class T>
std::complex<T> product(std::complex<T> x, std::complex<T> y) {
  return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}

template <class T>
std::complex<T> quotient(std::complex<T> x, std::complex<T> y) {
  const T a = x.real(), b = x.imag(), c = y.real(), d = y.imag();
  if (std::fabs(c) >= std::fabs(d)) {
    if (c == 0 && d == 0) return {a / std::fabs(c), b / std::fabs(d)};
    const T ratio = d / c, scale = 1 / (c + d * ratio);
    return {(a + b * ratio) * scale, (b - a * ratio) * scale};
  }
  const T ratio = c / d, scale = 1 / (c * ratio + d);
  return {(a * ratio + b) * scale, (b * ratio - a) * scale};
}

// x / |x|; if one part is infinite, the unit along its axis.
template <class T>
std::complex<T> sign_of_complex(std::complex<T> x) {
  const T a = x.real(), b = x.imag();
  if (std::isinf(a) && std::isinf(b)) return {T(NAN), T(NAN)};
  if (std::isinf(a)) return {std::copysign(T(1), a), 0};
  if (std::isinf(b)) return {0, std::copysign(T(1), b)};
  if (std::isnan(a) || std::isnan(b)) return {T(NAN), T(NAN)};
  const T large = std::max(std::fabs(a), std::fabs(b));
  if (large == 0) return {0, 0};
  const T size = std::hypot(a / large, b / large);
  return {a / large / size, b / large / size};
}

// ---- parts ----------------------------------------------------------------------------------------------------------

Parts sum_of(PartsOf in) {
  const auto& [x, y] = std::tie(in[0], in[1]);
  return {x.real + y.real, x.imag.defined() && y.imag.defined() ? x.imag + y.imag : x.imag.defined() ? x.imag : y.imag};
}

Parts negative_of(PartsOf in) { return {-in[0].real, in[0].imag.defined() ? -in[0].imag : in[0].imag}; }

Parts sign_parts(PartsOf in) {
  const Variable &a = in[0].real, b = imaginary(in[0]), large = maximum(abs(a), abs(b));
  const Variable is_far = or_(isinf(a), isinf(b)), is_zero = eq(large, 0);
  // Each part is divided by the larger one; if both are infinite, the direction is unknown.
  const Variable scale = switch_(or_(is_far, is_zero), 1, large);
  const auto near = [&](const Variable& part) {
    return switch_(is_far, switch_(isinf(part), sign(part), 0), switch_(is_zero, 0, part / scale));
  };
  const Variable x = near(a), y = near(b), size = switch_(is_zero, 1, hypot(x, y));
  const Variable unknown = switch_(and_(isinf(a), isinf(b)), std::nan(""), 1);
  const Variable by = cast(unknown, size.dtype()) / size;
  return {x * by, y * by};
}

Parts difference_of(PartsOf in) {
  const auto& [x, y] = std::tie(in[0], in[1]);
  return {x.real - y.real, x.imag.defined() && y.imag.defined() ? x.imag - y.imag
                           : x.imag.defined()                   ? x.imag
                                                                : -y.imag};
}

Parts product_of(PartsOf in) {
  const auto& [x, y] = std::tie(in[0], in[1]);
  if (!y.imag.defined()) return {x.real * y.real, x.imag.defined() ? x.imag * y.real : Variable()};
  if (!x.imag.defined()) return {x.real * y.real, x.real * y.imag};
  return {x.real * y.real - x.imag * y.imag, x.real * y.imag + x.imag * y.real};
}

Parts square_of(PartsOf in) {
  const Parts twice[] = {in[0], in[0]};
  return product_of(twice);
}

// Smith's formula without branches: it divides by the larger part of the divisor.
Parts quotient_of(PartsOf in) {
  const auto& [x, y] = std::tie(in[0], in[1]);
  if (!y.imag.defined()) return {x.real / y.real, x.imag.defined() ? x.imag / y.real : Variable()};
  const Variable by_real = ge(abs(y.real), abs(y.imag));
  const Variable large = switch_(by_real, y.real, y.imag), small = switch_(by_real, y.imag, y.real);
  const Variable is_zero = and_(by_real, eq(large, 0));  // not beside nan
  const Variable ratio = switch_(is_zero, 0, small / large);
  const Variable scale = reciprocal(switch_(is_zero, abs(large), large + small * ratio));
  const Variable a = x.real, b = imaginary(x), mixed_a = a * ratio, mixed_b = b * ratio;
  return {switch_(by_real, a + mixed_b, mixed_a + b) * scale, switch_(by_real, b - mixed_a, mixed_b - a) * scale};
}

Parts reciprocal_of(PartsOf in) {
  const Parts one[] = {{ones_like(in[0].real), {}}, in[0]};
  return quotient_of(one);
}

Variable angle_of(PartsOf in) { return arctan2(imaginary(in[0]), in[0].real); }

// ---- elementary functions: values -----------------------------------------------------------------------------------

template <class T>
std::complex<T> expm1_of(std::complex<T> z) {
  const T half = std::sin(z.imag() / 2);
  const std::complex<T> whole = std::exp(z);
  const bool is_far = !(z.real() < T(40)) || !std::isfinite(z.real()) || !std::isfinite(z.imag());
  return {is_far ? whole.real() - 1 : std::expm1(z.real()) * std::cos(z.imag()) - 2 * half * half, whole.imag()};
}

template <class T>
std::complex<T> log1p_of(std::complex<T> z) {
  const T a = z.real(), b = z.imag(), size = std::hypot(a + 1, b);
  const bool is_near_one = size > T(0.5) && size < T(2);
  return {is_near_one ? std::log1p(a * (2 + a) + b * b) / 2 : std::log(size), std::atan2(b, a + 1)};
}

// As in NumPy: small integer powers by products, and 0 to a positive power is 0.
template <class T>
std::complex<T> power_of(std::complex<T> x, std::complex<T> y) {
  if (y == T(0)) return 1;
  if (x == T(0)) return y.imag() == 0 && y.real() > 0 ? std::complex<T>(0) : std::complex<T>(T(NAN), T(NAN));
  if (y.imag() == 0 && y.real() == std::trunc(y.real()) && std::fabs(y.real()) < 100) {
    std::complex<T> out = 1, square = x;
    for (int n = int(std::fabs(y.real())); n; n /= 2, square = product(square, square))
      if (n % 2) out = product(out, square);
    return y.real() < 0 ? quotient(std::complex<T>(1), out) : out;
  }
  return std::pow(x, y);
}

// ---- elementary functions: parts ------------------------------------------------------------------------------------

Variable is_not_finite(const Variable& x) { return or_(isnan(x), isinf(x)); }

// Where exp(a) overflows, a part may not: the exponent is reduced by 10, which is exact, and the part multiplied by
// exp(10). An angle that is not finite leaves the infinite size without direction, and 0 as it is.
Parts exp_of(PartsOf in) {
  const Variable &a = in[0].real, b = imaginary(in[0]);
  const auto number = [&](double value) { return constant(Array(value).astype(a.dtype())); };
  const Variable is_large = gt(a, a.dtype() == DType::Float32 ? 80 : 700);
  const Variable size = exp(switch_(is_large, a - 10, a)), rest = switch_(is_large, number(std::exp(10.0)), number(1));
  const Variable has_no_turn = and_(isinf(a), is_not_finite(b));
  const Variable real = switch_(has_no_turn, size, size * cos(b) * rest);
  return {real, switch_(eq(b, 0), b, switch_(and_(has_no_turn, lt(a, 0)), 0, size * sin(b) * rest))};
}

Parts expm1_parts(PartsOf in) {
  const Variable &a = in[0].real, b = imaginary(in[0]);
  const Parts whole = exp_of(in);  // which has the special values
  const Variable is_far = or_(or_(is_not_finite(a), is_not_finite(b)), gt(a, 40));
  return {switch_(is_far, whole.real - 1, expm1(a) * cos(b) - sqr(sin(b * 0.5)) * 2), whole.imag};
}

// x multiplied by a real number.
Parts scaled(const Parts& x, double factor) {
  const auto times = [&](const Variable& part) { return part * constant(Array(factor).astype(part.dtype())); };
  return {times(x.real), times(imaginary(x))};
}

Parts exp2_of(PartsOf in) {
  const Parts x[] = {scaled(in[0], std::numbers::ln2)};
  return exp_of(x);
}

// log |a + 1 + ib| and log |a + ib|. Near 1 the logarithm of the size would lose the digits of its difference from 1.
Variable is_near_one(const Variable& size) { return and_(gt(size, 0.5), lt(size, 2)); }
Variable log1p_of_size(const Variable& a, const Variable& b) {
  const Variable size = hypot(a + 1, b);
  return switch_(is_near_one(size), log1p(a * (a + 2) + sqr(b)) * 0.5, log(size));
}
Variable log_of_size(const Variable& a, const Variable& b) {
  const Variable size = hypot(a, b), large = maximum(abs(a), abs(b)), small = minimum(abs(a), abs(b));
  return switch_(is_near_one(size), log1p((large - 1) * (large + 1) + sqr(small)) * 0.5, log(size));
}

Parts log_of(PartsOf in) { return {log_of_size(in[0].real, imaginary(in[0])), angle_of(in)}; }
Parts log1p_parts(PartsOf in) {
  const Variable &a = in[0].real, b = imaginary(in[0]);
  return {log1p_of_size(a, b), arctan2(b, a + 1)};
}

Parts logit_parts(PartsOf in) {
  const Parts operands[] = {in[0], {1 - in[0].real, -imaginary(in[0])}}, odds[] = {quotient_of(operands)};
  return log_of(odds);
}

// The larger of the square roots of (|z| + |a|) / 2 and (|z| - |a|) / 2 is computed first, the other one from it, so
// that nothing cancels.
Parts sqrt_of(PartsOf in) {
  const Variable &a = in[0].real, b = imaginary(in[0]);
  const Variable large = switch_(isinf(b), abs(b), sqrt(abs(a) * 0.5 + hypot(a, b) * 0.5));  // also beside nan
  const Variable small = switch_(or_(eq(large, 0), isinf(b)), b, b / (large * 2));
  const Variable is_below = lt(switch_(eq(b, 0), reciprocal(b), b), 0);  // -0.0, too
  const Variable is_right = ge(a, 0);
  return {switch_(is_right, large, abs(small)), switch_(is_right, small, switch_(is_below, -large, large))};
}

// The integer value of a constant, seen through conversions.
std::optional<int> whole_number(const Variable& v) {
  if (const Array* value = v.constant()) {
    if (value->size() != 1 || is_complex(value->dtype())) return {};
    const double number = value->item();
    return number == std::trunc(number) && std::fabs(number) < 100 ? std::optional(int(number)) : std::nullopt;
  }
  const ScalarOp* op = scalar_op_of(v);
  if (op && op->name.starts_with("cast_")) return whole_number(v.owner().input(0));
  return v.has_owner() && v.owner_op()->name() == "DimShuffle" ? whole_number(v.owner().input(0)) : std::nullopt;
}

Parts whole_power(const Parts& x, int n) {
  Parts out, square = x;
  for (int rest = std::abs(n); rest; rest /= 2) {
    if (rest % 2) {
      const Parts factors[] = {out, square};
      out = out.real.defined() ? product_of(factors) : square;
    }
    const Parts twice[] = {square};
    if (rest > 1) square = square_of(twice);
  }
  const Parts last[] = {out};
  return n < 0 ? reciprocal_of(last) : out;
}

Parts power_parts(PartsOf in) {
  const auto& [x, y] = std::tie(in[0], in[1]);
  const std::optional<int> n = y.imag.defined() ? std::nullopt : whole_number(y.real);
  if (n && *n != 0 && y.real.ndim() == x.real.ndim()) return whole_power(x, *n);
  const Variable a = x.real, b = imaginary(x), c = y.real, d = imaginary(y);
  const Variable size = hypot(a, b), turn = arctan2(b, a), is_zero = eq(size, 0);
  const Variable log_size = switch_(is_zero, 0, log_of_size(a, b));
  const Variable grown = exp(c * log_size - d * turn), turned = d * log_size + c * turn;
  // Powers of 0: 0 for a positive exponent, 1 for exponent 0, else nan.
  const Variable is_one = and_(eq(c, 0), eq(d, 0)), vanishes = and_(gt(c, 0), eq(d, 0));
  const Variable of_zero = switch_(vanishes, 0, switch_(is_one, 1, std::nan("")));
  const auto chosen = [&](const Variable& zero, const Variable& other) {
    return switch_(is_zero, cast(zero, other.dtype()), other);
  };
  return {chosen(of_zero, grown * cos(turned)), chosen(switch_(is_one, 0, of_zero), grown * sin(turned))};
}

// Factors that are 0 or infinite whatever the angle, which may not be finite, are chosen: 0 and infinity times nan
// would be nan.
Parts sinh_at(const Variable& a, const Variable& b) {
  const Variable is_at_end = and_(or_(eq(a, 0), isinf(a)), is_not_finite(b));
  return {switch_(is_at_end, a, sinh(a) * cos(b)), switch_(eq(b, 0), b, cosh(a) * sin(b))};
}
Parts cosh_at(const Variable& a, const Variable& b) {
  const Variable has_no_turn = is_not_finite(b);
  const Variable real = switch_(and_(isinf(a), has_no_turn), abs(a), cosh(a) * cos(b));
  const Variable flat = switch_(signbit(a), -b, b), imag = switch_(and_(eq(a, 0), has_no_turn), a, sinh(a) * sin(b));
  return {real, switch_(eq(b, 0), flat, imag)};
}
Parts sinh_of(PartsOf in) { return sinh_at(in[0].real, imaginary(in[0])); }
Parts cosh_of(PartsOf in) { return cosh_at(in[0].real, imaginary(in[0])); }
// -i sinh(iz), cosh(iz)
Parts sin_of(PartsOf in) {
  const Parts turned = sinh_at(-imaginary(in[0]), in[0].real);
  return {turned.imag, -turned.real};
}
Parts cos_of(PartsOf in) { return cosh_at(-imaginary(in[0]), in[0].real); }

// Kahan's formula; far out, where its squares overflow, the limit is used.
Parts tanh_at(const Variable& a, const Variable& b) {
  const Variable t = tan(b), s = sinh(a), beta = sqr(t) + 1, rest = beta * sqr(s) + 1;
  const Variable is_far = gt(abs(a), a.dtype() == DType::Float32 ? 12 : 22), has_no_turn = is_not_finite(b);
  const Variable far = sin(b) * cos(b) * exp(abs(a) * -2) * 4;
  const Variable limit = switch_(and_(has_no_turn, invert(isinf(a))), std::nan(""), sign(a));
  const Variable near = switch_(eq(a, 0), a, beta * sqrt(sqr(s) + 1) * s / rest);
  const Variable imag = switch_(is_far, switch_(and_(has_no_turn, isinf(a)), 0, far), t / rest);
  return {switch_(is_far, cast(limit, near.dtype()), near), switch_(eq(b, 0), b, imag)};
}
Parts tanh_of(PartsOf in) { return tanh_at(in[0].real, imaginary(in[0])); }
// -i tanh(iz)
Parts tan_of(PartsOf in) {
  const Parts turned = tanh_at(-imaginary(in[0]), in[0].real);
  return {turned.imag, -turned.real};
}

}  // namespace

const ComplexImplementation complex_exp{
    .loops = complex_loops<1>([](auto x) { return std::exp(x); }), .parts = exp_of, .holomorphic = true};
const ComplexImplementation complex_exp2{
    .loops = complex_loops<1>([]<class T>(std::complex<T> x) { return std::exp(x * T(std::numbers::ln2)); }),
    .parts = exp2_of,
    .holomorphic = true};
const ComplexImplementation complex_expm1{
    .loops = complex_loops<1>([](auto x) { return expm1_of(x); }), .parts = expm1_parts, .holomorphic = true};
const ComplexImplementation complex_log{
    .loops = complex_loops<1>([](auto x) { return std::log(x); }), .parts = log_of, .holomorphic = true};
const ComplexImplementation complex_log2{
    .loops = complex_loops<1>([]<class T>(std::complex<T> x) { return std::log(x) / T(std::numbers::ln2); }),
    .parts = [](PartsOf in) { return scaled(log_of(in), 1 / std::numbers::ln2); },
    .holomorphic = true};
const ComplexImplementation complex_log10{
    .loops = complex_loops<1>([]<class T>(std::complex<T> x) { return std::log(x) / T(std::numbers::ln10); }),
    .parts = [](PartsOf in) { return scaled(log_of(in), 1 / std::numbers::ln10); },
    .holomorphic = true};
const ComplexImplementation complex_logit{
    .loops = complex_loops<1>([](auto x) { return std::log(x / (decltype(x)(1) - x)); }),
    .parts = logit_parts,
    .holomorphic = true};
const ComplexImplementation complex_log1p{
    .loops = complex_loops<1>([](auto x) { return log1p_of(x); }), .parts = log1p_parts, .holomorphic = true};
const ComplexImplementation complex_sqrt{
    .loops = complex_loops<1>([](auto x) { return std::sqrt(x); }), .parts = sqrt_of, .holomorphic = true};
const ComplexImplementation complex_pow{.loops = complex_loops<2>([](auto x, auto y) { return power_of(x, y); }),
                                        .parts = power_parts,
                                        .holomorphic = true};
const ComplexImplementation complex_sin{
    .loops = complex_loops<1>([](auto x) { return std::sin(x); }), .parts = sin_of, .holomorphic = true};
const ComplexImplementation complex_cos{
    .loops = complex_loops<1>([](auto x) { return std::cos(x); }), .parts = cos_of, .holomorphic = true};
const ComplexImplementation complex_tan{
    .loops = complex_loops<1>([](auto x) { return std::tan(x); }), .parts = tan_of, .holomorphic = true};
const ComplexImplementation complex_sinh{
    .loops = complex_loops<1>([](auto x) { return std::sinh(x); }), .parts = sinh_of, .holomorphic = true};
const ComplexImplementation complex_cosh{
    .loops = complex_loops<1>([](auto x) { return std::cosh(x); }), .parts = cosh_of, .holomorphic = true};
const ComplexImplementation complex_tanh{
    .loops = complex_loops<1>([](auto x) { return std::tanh(x); }), .parts = tanh_of, .holomorphic = true};
// Computed by C's functions, which the host calls.
const ComplexImplementation complex_arcsin{.loops = complex_loops<1>([](auto x) { return std::asin(x); }),
                                           .holomorphic = true};
const ComplexImplementation complex_arccos{.loops = complex_loops<1>([](auto x) { return std::acos(x); }),
                                           .holomorphic = true};
const ComplexImplementation complex_arctan{.loops = complex_loops<1>([](auto x) { return std::atan(x); }),
                                           .holomorphic = true};
const ComplexImplementation complex_arcsinh{.loops = complex_loops<1>([](auto x) { return std::asinh(x); }),
                                            .holomorphic = true};
const ComplexImplementation complex_arccosh{.loops = complex_loops<1>([](auto x) { return std::acosh(x); }),
                                            .holomorphic = true};
const ComplexImplementation complex_arctanh{.loops = complex_loops<1>([](auto x) { return std::atanh(x); }),
                                            .holomorphic = true};

const ComplexImplementation complex_add{
    .loops = complex_loops<2>([](auto x, auto y) { return x + y; }), .parts = sum_of, .holomorphic = true};
const ComplexImplementation complex_sub{
    .loops = complex_loops<2>([](auto x, auto y) { return x - y; }), .parts = difference_of, .holomorphic = true};
const ComplexImplementation complex_mul{
    .loops = complex_loops<2>([](auto x, auto y) { return product(x, y); }), .parts = product_of, .holomorphic = true};
const ComplexImplementation complex_true_div{.loops = complex_loops<2>([](auto x, auto y) { return quotient(x, y); }),
                                             .parts = quotient_of,
                                             .holomorphic = true};
const ComplexImplementation complex_neg{
    .loops = complex_loops<1>([](auto x) { return -x; }), .parts = negative_of, .holomorphic = true};
const ComplexImplementation complex_sign{.loops = complex_loops<1>([](auto x) { return sign_of_complex(x); }),
                                         .parts = sign_parts};
const ComplexImplementation complex_sqr{
    .loops = complex_loops<1>([](auto x) { return product(x, x); }), .parts = square_of, .holomorphic = true};
const ComplexImplementation complex_reciprocal{
    .loops = complex_loops<1>([](auto x) { return quotient(decltype(x)(1), x); }),
    .parts = reciprocal_of,
    .holomorphic = true};
const ComplexImplementation complex_abs{.result = Result::real,
                                        .loops = complex_loops<1>([](auto x) { return std::abs(x); }),
                                        .parts = [](PartsOf in) -> Parts {
                                          return {hypot(in[0].real, imaginary(in[0])), {}};
                                        }};
const ComplexImplementation complex_real{.result = Result::real,
                                         .loops = complex_loops<1>([](auto x) { return x.real(); }),
                                         .parts = [](PartsOf in) -> Parts {
                                           return {in[0].real, {}};
                                         }};
const ComplexImplementation complex_imag{.result = Result::real,
                                         .loops = complex_loops<1>([](auto x) { return x.imag(); }),
                                         .parts = [](PartsOf in) -> Parts {
                                           return {imaginary(in[0]), {}};
                                         }};
const ComplexImplementation complex_conj{.loops = complex_loops<1>([](auto x) { return std::conj(x); }),
                                         .parts = [](PartsOf in) -> Parts {
                                           return {in[0].real, in[0].imag.defined() ? -in[0].imag : in[0].imag};
                                         }};
const ComplexImplementation complex_angle{.result = Result::real,
                                          .loops = complex_loops<1>([](auto x) { return std::arg(x); }),
                                          .parts = [](PartsOf in) -> Parts {
                                            return {angle_of(in), {}};
                                          }};
const ComplexImplementation complex_eq{
    .result = Result::boolean,
    .loops = complex_loops<2>([](auto x, auto y) { return x == y; }),
    .parts = [](PartsOf in) -> Parts {
      return {and_(eq(in[0].real, in[1].real), eq(imaginary(in[0]), imaginary(in[1]))), {}};
    }};
const ComplexImplementation complex_neq{
    .result = Result::boolean,
    .loops = complex_loops<2>([](auto x, auto y) { return x != y; }),
    .parts = [](PartsOf in) -> Parts {
      return {or_(neq(in[0].real, in[1].real), neq(imaginary(in[0]), imaginary(in[1]))), {}};
    }};
const ComplexImplementation complex_isnan{
    .result = Result::boolean,
    .loops = complex_loops<1>([](auto x) { return std::isnan(x.real()) || std::isnan(x.imag()); }),
    .parts = [](PartsOf in) -> Parts {
      return {or_(isnan(in[0].real), isnan(imaginary(in[0]))), {}};
    }};
const ComplexImplementation complex_isinf{
    .result = Result::boolean,
    .loops = complex_loops<1>([](auto x) { return std::isinf(x.real()) || std::isinf(x.imag()); }),
    .parts = [](PartsOf in) -> Parts {
      return {or_(isinf(in[0].real), isinf(imaginary(in[0]))), {}};
    }};
const ComplexImplementation complex_switch{
    .loops = complex_loops<3, true>([](bool condition, auto y, auto z) { return condition ? y : z; }),
    .parts = [](PartsOf in) -> Parts {
      return {switch_(in[0].real, in[1].real, in[2].real), switch_(in[0].real, imaginary(in[1]), imaginary(in[2]))};
    },
    .holomorphic = true};
const ComplexImplementation complex_second{
    .loops = complex_loops<2>([](auto, auto y) { return y; }),
    .parts = [](PartsOf in) -> Parts {
      return {second(in[0].real, in[1].real), in[1].imag.defined() ? second(in[0].real, in[1].imag) : Variable()};
    },
    .holomorphic = true};
const ComplexImplementation complex_cast{.loops = complex_loops<1>([](auto x) { return x; }),
                                         .parts = [](PartsOf in) -> Parts { return in[0]; },
                                         .holomorphic = true};

// ---- records of complex numbers alone -------------------------------------------------------------------------------

namespace {

ScalarTypes same_dtype(std::span<const DType> in) { return {in[0], in[0]}; }

template <class T>
ScalarOp complex_cast_record(const char* name, const char* title) {
  constexpr DType target = dtype_of<T>::value;
  return {
      .name = name,
      .title = title,
      .doc = "x as a complex number; of a real one, the imaginary part is 0.",
      .symbol = dtype_name(target),
      .dtypes = [](std::span<const DType>) -> ScalarTypes {
        return {target, target};
      },
      .complex = &complex_cast,
      .partials = {[](At a) { return a.g; }},
      .traits = cheap,
      .domain = {{-5, 5}},
      .edges = {0.0, -0.0, 300.0, inf, -inf, nan},
  };
}

const RegisterScalarOp casts[] = {
    RegisterScalarOp(complex_cast_record<std::complex<float>>("cast_complex64", "Cast{complex64}")),
    RegisterScalarOp(complex_cast_record<std::complex<double>>("cast_complex128", "Cast{complex128}")),
};

// The angle of a real number: 0 or pi.
template <class T>
T real_angle(T x) {
  return std::isnan(x) ? x : std::signbit(x) ? T(std::acos(-1.0)) : T(0);
}

}  // namespace

SCALAR_OP({
    .name = "real",
    .title = "Real",
    .doc = "The real part; of a real number, the number.",
    .symbol = "real",
    .dtypes = same_dtype,
    .loops = loops<1>(all_types, [](auto x) { return x; }),
    .complex = &complex_real,
    .expand = [](Args in, DType) { return in[0]; },
    .partials = {[](At a) { return a.g; }},
    .traits = cheap | increasing | keeps_zero | idempotent,
    .domain = {{-5, 5}},
    .edges = {0.0, -0.0, inf, -inf, nan},
});

SCALAR_OP({
    .name = "imag",
    .title = "Imag",
    .doc = "The imaginary part; of a real number, 0.",
    .symbol = "imag",
    .dtypes = same_dtype,
    .loops = loops<1>(all_types, [](auto x) { return decltype(x)(0); }),
    .complex = &complex_imag,
    .expand = [](Args in, DType dtype) { return cast(in[0].pool().integer(0), dtype); },
    .partials = {zero_derivative},
    .traits = cheap | keeps_zero,
    .domain = {{-5, 5}},
    .edges = {0.0, -0.0, inf, -inf, nan},
});

SCALAR_OP({
    .name = "conj",
    .title = "Conj",
    .doc = "The complex conjugate: its imaginary part has the other sign. Of a real number, the number.",
    .symbol = "conj",
    .dtypes = same_dtype,
    .loops = loops<1>(all_types, [](auto x) { return x; }),
    .complex = &complex_conj,
    .expand = [](Args in, DType) { return in[0]; },
    .partials = {[](At a) { return a.g; }},
    .traits = cheap | increasing | keeps_zero | involution,
    .domain = {{-5, 5}},
    .edges = {0.0, -0.0, inf, -inf, nan},
});

SCALAR_OP({
    .name = "angle",
    .title = "Angle",
    .doc = "The angle to the positive real axis, in (-pi, pi]; of a real number 0, or pi where it has the sign -.",
    .symbol = "angle",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return real_angle(x); }),
    .complex = &complex_angle,
    .expand =
        [](Args in, DType dtype) {
          const Expr zero = in[0].pool().number(0, dtype), turned = in[0].pool().number(std::acos(-1.0), dtype);
          const Expr one = in[0].pool().number(1, dtype);
          return select(is_nan(in[0]), in[0], select(copysign(one, in[0]) < zero, turned, zero));
        },
    .partials = {zero_derivative},
    .traits = cheap | discrete_output,
    .domain = {{0.5, 5}},
    .edges = {0.0, -0.0, -1.0, inf, -inf, nan},
});

}  // namespace bitale::records
