#include "ops/scalar/exact_rules.hpp"

namespace bitale::records {

using exact::Number;

namespace {
bool is_whole(const Number& x) { return x == floor(x); }
}  // namespace

ExactValue exact_power(const Number& x, const Number& y) {
  if (x == 0) return y > 0 ? ExactValue(0) : y == 0 ? ExactValue(1) : ExactValue();
  if ((x < 0 && !is_whole(y)) || abs(y) > 1e6) return {};
  const Number size = exp(y * log(abs(x)));
  return x < 0 && !is_whole(y / 2) ? -size : size;
}

Number exact_arcsinh(const Number& x) { return log1p(x + x * x / (1 + sqrt(1 + x * x))); }

}  // namespace bitale::records
