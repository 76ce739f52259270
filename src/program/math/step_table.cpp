// Odd functions that rise to 1, by sixteen polynomials whose coefficients are looked up.
#include "program/math/core.hpp"

namespace bitale::program::math {

// a = n h + t. About 0 the sum begins with t itself, which dominates there.
Expr odd_by_steps(Expr x, const StepTable& table) {
  const Format format(x.dtype());
  const auto number = [&](double value) { return x.pool().number(value, x.dtype()); };
  const Expr a = min(number(table.bound), abs(x));
  const Expr shifted = fma(a, number(1 / table.step), number(format.shifter())), n = shifted - format.shifter();
  const Expr t = fma(n, number(-table.step), a), at = bitcast(shifted, format.bits());
  const auto coefficient = [&](std::size_t k) { return lookup(at, table.rows[k], x.dtype()); };
  // In float64 even and odd terms have a chain each, because a single chain would be bound by its latency. The first
  // two terms are added last, with one rounding each.
  const std::size_t step = format.is_double ? 2 : 1, last = table.rows.size() - 1;
  const Expr power = format.is_double ? t * t : t;
  const auto chain = [&](std::size_t first) {
    std::size_t k = last - (last - first) % step;
    Expr sum = coefficient(k);
    while (k > first) sum = fma(sum, power, coefficient(k -= step));
    return sum;
  };
  const Expr rest = format.is_double ? fma(chain(3), t, chain(2)) : chain(2);
  const Expr slope = fma(rest, t, coefficient(1));
  return copysign(fma(slope, t, select(equal(n, 0), a, coefficient(0))), x);
}

}  // namespace bitale::program::math
