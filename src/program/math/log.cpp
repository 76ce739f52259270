// log, log2, log10, log1p: x = m 2^k with 3/4 <= m < 3/2, and m c = 1 + r for a c near 15/n, where n is 15 m rounded.
// Then log x = k log 2 - log c + log(1 + r): the first two are short numbers, |r| is less than 0.045, and c is 1 for m
// next to 1 (Tang, "Table-driven implementation of the logarithm function", 1990). Other functions need the logarithm
// less that is their own argument's: kernels of log(1 + f), through s = f / (2 + f).
#include <cmath>

#include "program/math/core.hpp"
#include "program/math/log_table.hpp"
#include "program/math/math.hpp"
#include "program/math/split.hpp"

namespace bitale::program::math {

namespace {

std::int64_t sqrt_half_bits(const Format& format) { return format.is_double ? 0x3fe6a09e667f3bcd : 0x3f3504f3; }

// The bits of x relative to sqrt(1/2): their exponent field is k + bias.
Expr shifted_bits(Expr x) {
  const Format format(x.dtype());
  const std::int64_t one = format.bias() << format.mantissa();
  return bitcast(x, format.bits()) + x.pool().integer(one - sqrt_half_bits(format), format.bits());
}

Expr mantissa_mask(Expr x) {
  const Format format(x.dtype());
  return x.pool().integer((std::int64_t(1) << format.mantissa()) - 1, format.bits());
}

}  // namespace

Decomposed decompose(Expr x) {
  const Format format(x.dtype());
  ExprPool& pool = x.pool();
  const Expr shifted = shifted_bits(x);
  const Expr m = (shifted & mantissa_mask(x)) + pool.integer(sqrt_half_bits(format), format.bits());
  // The field as a float: put it below the exponent of 2^mantissa and subtract that again.
  const double base = format.is_double ? 0x1p52 : 0x1p23;
  const std::int64_t base_bits = (format.bias() + format.mantissa()) << format.mantissa();
  const Expr field = (shifted >> format.mantissa()) | pool.integer(base_bits, format.bits());
  return {bitcast(m, x.dtype()), bitcast(field, x.dtype()) - (base + double(format.bias()))};
}

Decomposed decompose_any(Expr x) {
  const bool is_double = Format(x.dtype()).is_double;
  const double smallest_normal = is_double ? 0x1p-1022 : 0x1p-126, lift = is_double ? 54 : 25;
  const Expr is_small = x < smallest_normal;
  const auto [m, k] = decompose(select(is_small, x * std::exp2(lift), x));
  return {m, select(is_small, k - lift, k)};
}

namespace {

// s = f / (2 + f), z = s^2, and P in log(1 + f) = 2 s + s z P(z): z P to 2^-58.5 (float64) and 2^-29.2 (float32).
struct LogSeries {
  Expr s, z, p;
};
LogSeries log1p_series(Expr f) {
  const Expr s = f / (f + 2.0), z = s * s;
  const Expr p = Format(f.dtype()).is_double
                     ? polynomial(z, {0.66666666666667344222, 0.39999999999414528087, 0.2857142874243523997,
                                      0.22222198567102774103, 0.1818356469607931842, 0.15314039849337300471,
                                      0.14796068148242765927})
                     : polynomial(z, {0.666667764052, 0.399775379064, 0.298718418717});
  return {s, z, p};
}

}  // namespace

Expr log1p_bend(Expr f) {
  // In float32 a polynomial in f costs less than the quotient; log(1 + f) to 2^-27.5.
  if (!Format(f.dtype()).is_double)
    return f * f *
           polynomial(f, {0.499999881, -0.333333254, 0.250015825, -0.200019747, 0.166090846, -0.14181821, 0.132429704,
                          -0.129044548, 0.0762184337});
  // 2 s = f - s f, and s f is written as f^2/2 less what makes the leading terms exact.
  const auto [s, z, p] = log1p_series(f);
  const Expr half_square = f * f * 0.5;
  return half_square - s * fma(z, p, half_square);
}

namespace {

// k log 2 + f - bend
Expr add_multiple_of_log_2(Expr k, Expr f, Expr bend) {
  const auto [high, low] = log_2_pieces(Format(k.dtype()));
  ExprPool& pool = k.pool();
  // In float32 the result is right to one ulp without the next steps.
  if (!Format(k.dtype()).is_double)
    return fma(k, pool.number(high, k.dtype()), f - fma(k, pool.number(-low, k.dtype()), bend));
  const Expr sum = fma(k, pool.number(high, k.dtype()), f);
  const Expr lost = f - fma(k, pool.number(-high, k.dtype()), sum);  // the rounding error, exactly
  return sum + (lost - fma(k, pool.number(-low, k.dtype()), bend));
}

}  // namespace

Expr log_of_scaled(Expr k, Expr f) { return add_multiple_of_log_2(k, f, log1p_bend(f)); }
Expr log_of_scaled(Expr k, Expr f, Expr excess) { return add_multiple_of_log_2(k, f, log1p_bend(f) + excess); }

Sum sum_exactly(Expr a, Expr b) {
  const Expr high = a + b;
  return {high, (a - high) + b};
}

Sum log_with_tail(Expr x) {
  const auto [m, k] = decompose_any(x);
  ExprPool& pool = x.pool();
  const auto number = [&](double value) { return pool.number(value, x.dtype()); };
  // Like log1p_bend; what is rounded is at most 2^-5 of the result.
  const Expr f = m - 1.0, half = f * 0.5, half_square = half * f, square_rest = residual(half, f, -half_square);
  const auto [s, z, p] = log1p_series(f);
  const Sum near = sum_exactly(f, -half_square);
  const Expr rest = near.low + (s * fma(z, p, half_square) - square_rest);
  const auto [log_2_high, log_2_low] = log_2_pieces(Format(x.dtype()));
  const Sum total = sum_exactly(k * log_2_high, near.high);
  const Expr low = fma(k, number(log_2_low), total.low + rest);
  return sum_exactly(total.high, low);
}

namespace {

// Logarithms to one base: of c; of 2, in two pieces whose first is short; of e likewise (but 1 for that base); and
// (log(1 + r) - r log(e)) / r^2.
struct Base {
  const LogTable& table;
  Log2 two, e;
  Expr (*bend)(Expr r);
};

// Accurate to 2^-57.6 of log(1 + r) for c = 1, to 2^-61 else (float32: 2^-34, log2 and log10 2^-31).
Expr natural_bend(Expr r) {
  return Format(r.dtype()).is_double
             ? polynomial(r, {-0.5, 0.3333333333333029, -0.24999999999997236, 0.20000000023133205, -0.16666666687773607,
                              0.14285666863726137, -0.12499956633863267, 0.11147101459826426, -0.1003295771310294})
             : polynomial(r, {-0.5, 0.333333164, -0.249999851, 0.200357363, -0.166979045});
}
Expr binary_bend(Expr r) {
  return Format(r.dtype()).is_double
             ? polynomial(r, {-0.7213475204444817, 0.48089834696294387, -0.360673760222201, 0.2885390085115343,
                              -0.2404491737860027, 0.2060986074008949, -0.18033625447001636, 0.1608186799637771,
                              -0.14474498338142286})
             : polynomial(r, {-0.721347511, 0.480898082, -0.360673547, 0.289054573, -0.24089985});
}
Expr decimal_bend(Expr r) {
  return Format(r.dtype()).is_double
             ? polynomial(r, {-0.2171472409516259, 0.1447648273010707, -0.10857362047580095, 0.0868588964811166,
                              -0.07238241374220826, 0.062041862892243956, -0.054286621901167634, 0.048411246532183,
                              -0.043572581719692756})
             : polynomial(r, {-0.217147246, 0.144764751, -0.108573556, 0.0870140941, -0.0725180805});
}

Base natural(const Format& format) {
  return {format.is_double ? log_table : log_table_of_float, log_2_pieces(format), {1, 0}, natural_bend};
}
Base binary(const Format& format) {
  const Log2 e = format.is_double ? Log2{1.4426950408889634, 2.0355273740931033e-17}
                                  : Log2{1.4426950216293335, 1.9259629911266175e-08};
  return {format.is_double ? log2_table : log2_table_of_float, {1, 0}, e, binary_bend};
}
Base decimal(const Format& format) {
  if (format.is_double)
    return {log10_table,
            {0x1.34413509f8p-2, -0x1.80433b83b532ap-44},
            {0.4342944819032518, 1.098319650216765e-17},
            decimal_bend};
  return {
      log10_table_of_float, {0x1.344p-2, 0x1.3509f8p-18}, {0.4342944920063019, -1.0103050052231683e-08}, decimal_bend};
}

// The logarithm of (m + correction) 2^k, for a correction that is small beside m, if any.
Expr log_by_table(const Base& base, const Split& x, Expr correction = {}) {
  const auto [m, k] = x;
  const Format format(m.dtype());
  const auto number = [&](double value) { return m.pool().number(value, m.dtype()); };
  const Expr at = bitcast(fma(m, number(15), number(format.shifter())), format.bits());
  const Expr c = lookup(at, base.table.inverse, m.dtype()), log_c = lookup(at, base.table.log, m.dtype());
  Expr r = residual(m, c, number(-1));
  if (correction.defined()) r = fma(correction, c, r);
  // The first sum is exact, and 0 or larger than r; the rounding error of the second is known, but in float32 only the
  // natural logarithm, which is to be right to one ulp, needs it.
  const bool is_natural = base.e.high == 1;
  const Expr start = base.two.high == 1 ? k + log_c : fma(k, number(base.two.high), log_c);
  const auto plus_r = [&](Expr sum) { return is_natural ? sum + r : fma(r, number(base.e.high), sum); };
  const Expr total = plus_r(start);
  if (!format.is_double && !is_natural) {
    const Expr beyond = fma(r, base.bend(r), number(base.e.low));
    return base.two.low != 0 ? total + fma(r, beyond, k * base.two.low) : fma(r, beyond, total);
  }
  Expr rest = plus_r(start - total);
  if (base.two.low != 0) rest = fma(k, number(base.two.low), rest);
  if (base.e.low != 0) rest = fma(r, number(base.e.low), rest);
  return total + fma(r * r, base.bend(r), rest);
}

Expr log_to(Base (*base)(const Format&), Expr x) {
  return with_log_limits(x, log_by_table(base(Format(x.dtype())), split(x)));
}

}  // namespace

Expr log(Expr x) { return log_to(natural, x); }
Expr log2(Expr x) { return log_to(binary, x); }
Expr log10(Expr x) { return log_to(decimal, x); }

Expr log_of_positive(Expr x) { return log_by_table(natural(Format(x.dtype())), split(x)); }
Expr log_of_normal(Expr x) { return log_by_table(natural(Format(x.dtype())), split_normal(x)); }

namespace {

// u = 1 + x, rounded, and log(1 + x).
struct OnePlus {
  Expr u, log;
};
OnePlus log_of_one_plus(Expr x) {
  const Expr one = x.pool().number(1, x.dtype()), u = x + 1.0;
  const Expr lost = min(x, one) - (u - max(x, one));  // 1 + x = u + lost exactly
  const Split parts = split_normal(u);
  return {u, log_by_table(natural(Format(x.dtype())), parts, unscale(lost, parts.k))};
}

}  // namespace

Expr log1p_moderate(Expr x) { return log_of_one_plus(x).log; }

Expr log1p(Expr x) {
  const auto [u, value] = log_of_one_plus(x);
  return with_log_limits(u, copysign(value, x));  // of -0 too
}

Expr logit(Expr x) {
  // The quotient with its rounding error and that of 1 - x: next to 1 the logarithm magnifies them.
  const auto number = [&](double value) { return x.pool().number(value, x.dtype()); };
  const Expr rest = 1.0 - x, lost = (1.0 - rest) - x, odds = x / rest;
  const Expr correction = fma(-odds, lost, residual(-odds, rest, x)) / rest;
  const Split parts = split(odds);
  const Expr scaled = unscale(correction, max(number(-60), parts.k));
  return with_log_limits(odds, log_by_table(natural(Format(x.dtype())), parts, scaled));
}

}  // namespace bitale::program::math
