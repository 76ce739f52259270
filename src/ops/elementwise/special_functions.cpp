// The special functions of special.hpp: applications of scalar records, and formulas.
#include "bitale/ops/special.hpp"

#include "bitale/ops/ops.hpp"
#include "ops/elementwise/elemwise.hpp"

namespace bitale {

#define X(name)                                     \
  Variable name(const Operand& x) {                 \
    const LocationScope here(x.where);              \
    return apply_elemwise(#name, {&x.variable, 1}); \
  }
BITALE_SPECIAL_FUNCTIONS_OF_ONE(X)
#undef X
#define X(name)                                         \
  Variable name(const Operand& x, const Operand& y) {   \
    const LocationScope here(x.where);                  \
    const Variable inputs[] = {x.variable, y.variable}; \
    return apply_elemwise(#name, inputs);               \
  }
BITALE_SPECIAL_FUNCTIONS_OF_TWO(X)
#undef X
#define X(name)                                                         \
  Variable name(const Operand& x, const Operand& y, const Operand& z) { \
    const LocationScope here(x.where);                                  \
    const Variable inputs[] = {x.variable, y.variable, z.variable};     \
    return apply_elemwise(#name, inputs);                               \
  }
BITALE_SPECIAL_FUNCTIONS_OF_THREE(X)
#undef X
#define X(name)                                                                           \
  Variable name(const Operand& a, const Operand& b, const Operand& c, const Operand& z) { \
    const LocationScope here(a.where);                                                    \
    const Variable inputs[] = {a.variable, b.variable, c.variable, z.variable};           \
    return apply_elemwise(#name, inputs);                                                 \
  }
BITALE_SPECIAL_FUNCTIONS_OF_FOUR(X)
#undef X

Variable kn(const Operand& order, const Operand& x) { return kv(order, x); }

Variable gammal(const Operand& k, const Operand& x) {
  const LocationScope here(k.where);
  const Variable part = gammainc(k, x);  // the product is computed in its dtype
  return part * gamma(cast(k, part.dtype()));
}
Variable gammau(const Operand& k, const Operand& x) {
  const LocationScope here(k.where);
  const Variable part = gammaincc(k, x);
  return part * gamma(cast(k, part.dtype()));
}
Variable chi2sf(const Operand& x, const Operand& k) {
  const LocationScope here(x.where);
  return gammaincc(true_div(k, 2.0), true_div(x, 2.0));
}
Variable factorial(const Operand& n) {
  const LocationScope here(n.where);
  return gamma(add(n, 1));
}

Variable xlogx(const Operand& x) { return xlogy(x, x); }

Variable round_half_away_from_zero(const Operand& x) {
  const LocationScope here(x.where);
  const Variable value = as_float(x.variable), whole = trunc(value);
  return whole + sign(value) * cast(ge(abs(value - whole), 0.5), value.dtype());
}
Variable iround(const Operand& x) {
  const LocationScope here(x.where);
  return cast(round(x), DType::Int64);
}

}  // namespace bitale
