// Transforms of single numbers.
#include "bitale/ops/special.hpp"
#include "bitale/stats/transforms.hpp"
#include "stats/arguments.hpp"

namespace bitale::stats {

using V = const Variable&;

Constrained lower(const Operand& y, const Operand& bound) {
  const LocationScope here(y.where);
  const CallScope call("lower");
  return {exp(y) + bound, y.variable};
}
Variable lower_inverse(const Operand& x, const Operand& bound) {
  return density(
      "lower_inverse", [](V x, V bound) { return log(x - bound); }, x, bound);
}

Constrained upper(const Operand& y, const Operand& bound) {
  const LocationScope here(y.where);
  const CallScope call("upper");
  return {bound - exp(y), y.variable};
}
Variable upper_inverse(const Operand& x, const Operand& bound) {
  return density(
      "upper_inverse", [](V x, V bound) { return log(bound - x); }, x, bound);
}

// The logarithm of sigmoid(y) (1 - sigmoid(y)) is even.
Constrained interval(const Operand& y, const Operand& low, const Operand& high) {
  const LocationScope here(y.where);
  const CallScope call("interval");
  const Variable size = abs(y), length = high - low;
  return {low + length * sigmoid(y), log(length) - (size + 2 * softplus_of_minus_abs(size))};
}
Variable interval_inverse(const Operand& x, const Operand& low, const Operand& high) {
  return density(
      "interval_inverse", [](V x, V low, V high) { return log(x - low) - log(high - x); }, x, low, high);
}

Constrained offset_multiplier(const Operand& y, const Operand& offset, const Operand& multiplier) {
  const LocationScope here(y.where);
  const CallScope call("offset_multiplier");
  return {offset + multiplier * y, log(multiplier) + zeros_like(y)};
}
Variable offset_multiplier_inverse(const Operand& x, const Operand& offset, const Operand& multiplier) {
  return density(
      "offset_multiplier_inverse", [](V x, V offset, V multiplier) { return (x - offset) / multiplier; }, x, offset,
      multiplier);
}

}  // namespace bitale::stats
