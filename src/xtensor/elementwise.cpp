// The elementwise functions of ops.hpp for labelled tensors, from its lists of names.
#include "bitale/ops/elementary.hpp"
#include "bitale/xtensor/functions.hpp"

namespace bitale::xtensor {

namespace {

template <class Function>
XVariable of_one(const char* who, const XOperand& x, Function function) {
  const LocationScope here(x.where);
  return elementwise(who, std::span(&x.variable, 1), [&](const Variables& v) { return function(v[0]); });
}

template <class Function>
XVariable of_two(const char* who, const XOperand& x, const XOperand& y, Function function) {
  const LocationScope here(x.where);
  const XVariable both[] = {x.variable, y.variable};
  return elementwise(who, both, [&](const Variables& v) { return function(v[0], v[1]); });
}

template <class Function>
XVariable of_three(const char* who, const XOperand& x, const XOperand& y, const XOperand& z, Function function) {
  const LocationScope here(x.where);
  const XVariable all[] = {x.variable, y.variable, z.variable};
  return elementwise(who, all, [&](const Variables& v) { return function(v[0], v[1], v[2]); });
}

}  // namespace

#define X(name)                                                                           \
  XVariable name(const XOperand& x) {                                                     \
    return of_one(#name, x, [](const Variable& values) { return bitale::name(values); }); \
  }
BITALE_LABELLED_UNARY(X)
#undef X
#define X(name)                                                                                          \
  XVariable name(const XOperand& x, const XOperand& y) {                                                 \
    return of_two(#name, x, y, [](const Variable& a, const Variable& b) { return bitale::name(a, b); }); \
  }
BITALE_LABELLED_BINARY(X)
#undef X

XVariable where(const XOperand& condition, const XOperand& if_true, const XOperand& if_false) {
  return of_three("where", condition, if_true, if_false,
                  [](const Variable& c, const Variable& a, const Variable& b) { return bitale::where(c, a, b); });
}
XVariable clip(const XOperand& x, const XOperand& low, const XOperand& high) {
  return of_three("clip", x, low, high,
                  [](const Variable& v, const Variable& a, const Variable& b) { return bitale::clip(v, a, b); });
}
XVariable fillna(const XOperand& x, const XOperand& value) {
  const LocationScope here(x.where);
  return where(isnan(x), value, x);
}
XVariable cast(const XOperand& x, DType dtype) {
  return of_one("cast", x, [dtype](const Variable& values) { return bitale::cast(values, dtype); });
}

XVariable operator+(const XOperand& x, const XOperand& y) { return add(x, y); }
XVariable operator-(const XOperand& x, const XOperand& y) { return sub(x, y); }
XVariable operator*(const XOperand& x, const XOperand& y) { return mul(x, y); }
XVariable operator/(const XOperand& x, const XOperand& y) { return true_div(x, y); }
XVariable operator-(const XOperand& x) { return neg(x); }

}  // namespace bitale::xtensor
