// Long polynomials as four short ones in x^4: a single chain of fused multiply-adds would be bound by its latency.
#include <vector>

#include "program/math/core.hpp"

namespace bitale::program::math {

Expr long_polynomial(Expr x, std::initializer_list<double> coefficients) {
  const std::span<const double> c(coefficients.begin(), coefficients.size());
  const auto number = [&](double value) { return x.pool().number(value, x.dtype()); };
  // c[0] + x (a + x b + x^2 (c + x d)): the leading term is added last, in one rounding.
  const Expr square = x * x, fourth = square * square;
  const auto chain = [&](std::size_t first) {
    std::size_t last = first;
    while (last + 4 < c.size()) last += 4;
    Expr sum = number(c[last]);
    while (last > first) {
      last -= 4;
      sum = fma(sum, fourth, number(c[last]));
    }
    return sum;
  };
  const Expr low = fma(chain(2), x, chain(1)), high = fma(chain(4), x, chain(3));
  return fma(fma(high, square, low), x, number(c[0]));
}

}  // namespace bitale::program::math
