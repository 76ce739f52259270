// The mathematical functions of the table: those of the C library that expressions call, and those of special.hpp. The
// texts for exported code need only the C library. Expansions call erfcx for huge arguments only, and digamma and
// trigamma for those that are not positive, so the text of erfcx and those for LLVM cover no others.
#include <cmath>

#include "bitale/runtime/functions.hpp"
#include "runtime/narrowed.hpp"
#include "runtime/special.hpp"

namespace bitale::runtime {

namespace {

constexpr std::string_view erfcx_c = R"(// exp(x * x) * erfc(x) of |x| beyond 1e15: 1 / (sqrt(pi) x), or infinity
static double bt_erfcx(double x) { return x < 0 ? INFINITY : 0.564189583547756286948 / x; }
)";

constexpr std::string_view lgamma_c =
    R"(// log |Gamma(x)| by Stirling's series, and by reflection below 0 (Abramowitz and Stegun 6.1.17, 6.1.41).
static double bt_lgamma_positive(double x) {
  double product = 1;
  for (; x < 10; ++x) product *= x;
  const double r = 1 / x, s = r * r;
  const double series = r * (1.0 / 12 - s * (1.0 / 360 - s * (1.0 / 1260 - s * (1.0 / 1680 - s * (1.0 / 1188 - s * (691.0 / 360360 - s / 156))))));
  return (x - 0.5) * log(x) - x + 0.918938533204672741780 + series - log(product);
}
static double bt_lgamma(double x) {
  if (x != x) return x;
  if (x == INFINITY || x == -INFINITY) return INFINITY;
  if (x > 0) return x < 1e15 ? bt_lgamma_positive(x) : x * (log(x) - 1);
  const double r = x - rint(x);
  if (r == 0) return INFINITY;
  return 1.14472988584940017414 - log(fabs(sin(3.14159265358979323846 * r))) - bt_lgamma(1 - x);
}
)";

constexpr std::string_view digamma_c =
    R"(// The derivative of log Gamma: recurrence, the asymptotic series, reflection (A. & S. 6.3).
static double bt_digamma(double x) {
  if (x != x || x == INFINITY) return x;
  if (x == 0) return signbit(x) ? INFINITY : -INFINITY;
  if (x < 0) {
    const double r = x - rint(x);
    if (r == 0 || x == -INFINITY) return NAN;
    return bt_digamma(1 - x) - 3.14159265358979323846 / tan(3.14159265358979323846 * r);
  }
  double sum = 0;
  for (; x < 12; ++x) sum -= 1 / x;
  const double s = 1 / (x * x);
  return sum + log(x) - 0.5 / x - s * (1.0 / 12 - s * (1.0 / 120 - s * (1.0 / 252 - s * (1.0 / 240 - s * (1.0 / 132 - s * 691.0 / 32760)))));
}
)";

constexpr std::string_view trigamma_c = R"(// The derivative of digamma, likewise (A. & S. 6.4).
static double bt_trigamma(double x) {
  if (x != x) return x;
  if (x == INFINITY) return 0;
  if (x == -INFINITY) return NAN;
  if (x <= 0) {
    const double r = x - rint(x);
    if (r == 0) return INFINITY;
    const double s = 3.14159265358979323846 / sin(3.14159265358979323846 * r);
    return s * s - bt_trigamma(1 - x);
  }
  double sum = 0;
  for (; x < 12; ++x) sum += 1 / (x * x);
  const double r = 1 / x, s = r * r;
  return sum + r + s / 2 + r * s * (1.0 / 6 - s * (1.0 / 30 - s * (1.0 / 42 - s * (1.0 / 30 - s * (5.0 / 66 - s * 691.0 / 2730)))));
}
)";

constexpr std::string_view pow_u64_c = R"(static uint64_t bt_pow_u64(uint64_t x, uint64_t n) {
  uint64_t power = 1;
  for (; n; n >>= 1, x *= x)
    if (n & 1) power *= x;
  return power;
}
)";

constexpr std::string_view pow_i64_c = R"(static int64_t bt_pow_i64(int64_t x, int64_t n) {
  if (n < 0) return x == 1 ? 1 : x == -1 ? (n & 1 ? -1 : 1) : 0;
  return (int64_t)bt_pow_u64((uint64_t)x, (uint64_t)n);
}
)";

constexpr std::string_view erfcx_llvm = R"(; of |x| beyond 1e15: 1 / (sqrt(pi) x), or infinity
define double @bt_erfcx(double %x) nounwind {
  %far = fdiv double 0x3FE20DD750429B6D, %x
  %low = fcmp olt double %x, 0.0
  %out = select i1 %low, double 0x7FF0000000000000, double %far
  ret double %out
}
)";

constexpr std::string_view digamma_llvm =
    R"(; of x <= 0, by reflection: digamma(1 - x) - pi / tan(pi x) (Abramowitz and Stegun 6.3.7); beyond 12
; by the asymptotic series (6.3.18), to which the recurrence (6.3.5) leads
define double @bt_digamma(double %x) nounwind {
  %zero = fcmp oeq double %x, 0.0
  br i1 %zero, label %pole, label %other
pole:
  %sided = call double @llvm.copysign.f64(double 0x7FF0000000000000, double %x)
  %at_zero = fneg double %sided
  ret double %at_zero
other:
  %whole = call double @llvm.rint.f64(double %x)
  %r = fsub double %x, %whole
  %angle = fmul double %r, 0x400921FB54442D18
  %tangent = call double @tan(double %angle)
  %reflected = fdiv double 0x400921FB54442D18, %tangent
  %start = fsub double 1.0, %x
  br label %loop
loop:
  %z = phi double [ %start, %other ], [ %next, %step ]
  %sum = phi double [ 0.0, %other ], [ %less, %step ]
  %small = fcmp olt double %z, 12.0
  br i1 %small, label %step, label %series
step:
  %inverse = fdiv double 1.0, %z
  %less = fsub double %sum, %inverse
  %next = fadd double %z, 1.0
  br label %loop
series:
  %square = fmul double %z, %z
  %s = fdiv double 1.0, %square
  %c5 = call double @llvm.fma.f64(double %s, double 0xBF95995995995996, double 0x3F7F07C1F07C1F08)
  %c4 = call double @llvm.fma.f64(double %s, double %c5, double 0xBF71111111111111)
  %c3 = call double @llvm.fma.f64(double %s, double %c4, double 0x3F70410410410410)
  %c2 = call double @llvm.fma.f64(double %s, double %c3, double 0xBF81111111111111)
  %c1 = call double @llvm.fma.f64(double %s, double %c2, double 0x3FB5555555555555)
  %tail = fmul double %s, %c1
  %log = call double @log(double %z)
  %half = fdiv double 0.5, %z
  %a = fsub double %log, %half
  %b = fsub double %a, %tail
  %positive = fadd double %sum, %b
  %value = fsub double %positive, %reflected
  %infinite = fcmp oeq double %x, 0xFFF0000000000000
  %integer = fcmp oeq double %r, 0.0
  %none = or i1 %infinite, %integer
  %out = select i1 %none, double 0x7FF8000000000000, double %value
  ret double %out
}
)";

constexpr std::string_view trigamma_llvm =
    R"(; of x <= 0, by reflection: pi^2 / sin(pi x)^2 - trigamma(1 - x) (6.4.7), likewise
define double @bt_trigamma(double %x) nounwind {
  %whole = call double @llvm.rint.f64(double %x)
  %r = fsub double %x, %whole
  %angle = fmul double %r, 0x400921FB54442D18
  %sine = call double @sin(double %angle)
  %ratio = fdiv double 0x400921FB54442D18, %sine
  %reflected = fmul double %ratio, %ratio
  %start = fsub double 1.0, %x
  br label %loop
loop:
  %z = phi double [ %start, %0 ], [ %next, %step ]
  %sum = phi double [ 0.0, %0 ], [ %more, %step ]
  %small = fcmp olt double %z, 12.0
  br i1 %small, label %step, label %series
step:
  %square_of = fmul double %z, %z
  %inverse_of = fdiv double 1.0, %square_of
  %more = fadd double %sum, %inverse_of
  %next = fadd double %z, 1.0
  br label %loop
series:
  %inverse = fdiv double 1.0, %z
  %s = fmul double %inverse, %inverse
  %c5 = call double @llvm.fma.f64(double %s, double 0xBFD0330330330330, double 0x3FB364D9364D9365)
  %c4 = call double @llvm.fma.f64(double %s, double %c5, double 0xBFA1111111111111)
  %c3 = call double @llvm.fma.f64(double %s, double %c4, double 0x3F98618618618618)
  %c2 = call double @llvm.fma.f64(double %s, double %c3, double 0xBFA1111111111111)
  %c1 = call double @llvm.fma.f64(double %s, double %c2, double 0x3FC5555555555555)
  %cube = fmul double %inverse, %s
  %tail = fmul double %cube, %c1
  %half = fmul double %s, 0.5
  %a = fadd double %inverse, %half
  %b = fadd double %a, %tail
  %positive = fadd double %sum, %b
  %value = fsub double %reflected, %positive
  %integer = fcmp oeq double %r, 0.0
  %at_pole = select i1 %integer, double 0x7FF0000000000000, double %value
  %infinite = fcmp oeq double %x, 0xFFF0000000000000
  %out = select i1 %infinite, double 0x7FF8000000000000, double %at_pole
  ret double %out
}
)";

constexpr std::string_view pow_u64_llvm = R"(define i64 @bt_pow_u64(i64 %x, i64 %n) nounwind {
  br label %loop
loop:
  %left = phi i64 [ %n, %0 ], [ %half, %step ]
  %base = phi i64 [ %x, %0 ], [ %square, %step ]
  %power = phi i64 [ 1, %0 ], [ %taken, %step ]
  %done = icmp eq i64 %left, 0
  br i1 %done, label %end, label %step
step:
  %bit = trunc i64 %left to i1
  %more = mul i64 %power, %base
  %taken = select i1 %bit, i64 %more, i64 %power
  %square = mul i64 %base, %base
  %half = lshr i64 %left, 1
  br label %loop
end:
  ret i64 %power
}
)";

constexpr std::string_view pow_i64_llvm = R"(; of a negative power, rounded towards 0
define i64 @bt_pow_i64(i64 %x, i64 %n) nounwind {
  %inverse = icmp slt i64 %n, 0
  br i1 %inverse, label %small, label %usual
small:
  %odd = and i64 %n, 1
  %is_odd = icmp ne i64 %odd, 0
  %sign = select i1 %is_odd, i64 -1, i64 1
  %is_minus = icmp eq i64 %x, -1
  %minus = select i1 %is_minus, i64 %sign, i64 0
  %is_one = icmp eq i64 %x, 1
  %out = select i1 %is_one, i64 1, i64 %minus
  ret i64 %out
usual:
  %power = call i64 @bt_pow_u64(i64 %x, i64 %n)
  ret i64 %power
}
)";

RuntimeFunction standard(RuntimeFunction row) {
  row.is_standard = true;
  return row;
}
RuntimeFunction with_text(RuntimeFunction row, std::string_view c_text, std::string_view llvm_text,
                          std::string_view same_as = "") {
  row.c_text = c_text;
  row.llvm_text = llvm_text;
  row.same_as = same_as;
  return row;
}
RuntimeFunction needing(RuntimeFunction row, std::string_view other) {
  row.needs.push_back(other);
  return row;
}
RuntimeFunction widened(RuntimeFunction row, std::string_view wide) {
  row.widened_from = wide;
  return row;
}

const RegisterFunctions math_functions{
    standard(runtime_function("fmod", static_cast<double (*)(double, double)>(::fmod), "x y")),
    standard(runtime_function("fmodf", ::fmodf, "x y")),
    standard(runtime_function("atan2", static_cast<double (*)(double, double)>(::atan2), "y x")),
    standard(runtime_function("atan2f", ::atan2f, "y x")),
    with_text(runtime_function("bt_erfcx", bt_erfcx, "x"), erfcx_c, erfcx_llvm),
    widened(BITALE_NARROWED_ROW(bt_erfcx, "x"), "bt_erfcx"),
    with_text(runtime_function("bt_gamma", bt_gamma, "x"), "", "", "tgamma"),
    widened(BITALE_NARROWED_ROW(bt_gamma, "x"), "bt_gamma"),
    // C's lgamma writes a global variable
    with_text(runtime_function("bt_lgamma", bt_lgamma, "x"), lgamma_c, "", "lgamma"),
    widened(BITALE_NARROWED_ROW(bt_lgamma, "x"), "bt_lgamma"),
    with_text(runtime_function("bt_digamma", bt_digamma, "x"), digamma_c, digamma_llvm),
    widened(BITALE_NARROWED_ROW(bt_digamma, "x"), "bt_digamma"),
    with_text(runtime_function("bt_trigamma", bt_trigamma, "x"), trigamma_c, trigamma_llvm),
    widened(BITALE_NARROWED_ROW(bt_trigamma, "x"), "bt_trigamma"),
    BITALE_FLOAT_ROWS(bt_polygamma, "order x"),
    with_text(runtime_function("bt_pow_u64", bt_pow_u64, "x n"), pow_u64_c, pow_u64_llvm),
    needing(with_text(runtime_function("bt_pow_i64", bt_pow_i64, "x n"), pow_i64_c, pow_i64_llvm), "bt_pow_u64"),
};

}  // namespace

}  // namespace bitale::runtime
