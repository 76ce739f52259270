#include "ops/analysis/interval.hpp"

#include <cmath>

#include "core/limits.hpp"

namespace bitale::interval {

Range between(End low, End high) {
  Range out;
  if (!std::isnan(low.value)) out.low = low.value, out.low_open = low.open;
  if (!std::isnan(high.value)) out.high = high.value, out.high_open = high.open;
  return out;
}

End smaller(End a, End b) { return a.value < b.value ? a : b.value < a.value ? b : End{a.value, a.open && b.open}; }
End larger(End a, End b) { return a.value > b.value ? a : b.value > a.value ? b : End{a.value, a.open && b.open}; }
Range either(const Range& a, const Range& b) {
  return between(smaller(low_of(a), low_of(b)), larger(high_of(a), high_of(b)));
}

Range of_all(const Apply& node, InputRanges& inputs) {
  const int count = int(node.inputs().size());
  if (count == 0) return {};
  Range out = inputs.of(0);
  for (int i = 1; i < count; ++i) out = either(out, inputs.of(i));
  return out;
}

Range negated(const Range& a) { return between({-a.high, a.high_open}, {-a.low, a.low_open}); }
Range sum(const Range& a, const Range& b) {
  return between({a.low + b.low, a.low_open || b.low_open}, {a.high + b.high, a.high_open || b.high_open});
}
namespace {

// Zero times an unbounded end is zero; the product reaches zero if one of the factors reaches it.
End end_product(End a, End b) {
  if (a.value == 0 || b.value == 0) {
    const bool reached = (a.value == 0 && !a.open) || (b.value == 0 && !b.open);
    return {0, !reached};
  }
  return {a.value * b.value, a.open || b.open};
}

}  // namespace

Range product(const Range& a, const Range& b) {
  End low{inf, false}, high{-inf, false};
  for (End x : {low_of(a), high_of(a)})
    for (End y : {low_of(b), high_of(b)}) {
      const End each = end_product(x, y);
      low = smaller(low, each);
      high = larger(high, each);
    }
  return between(low, high);
}
// Known only if the values keep one sign.
Range inverse(const Range& a) {
  if (a.low >= 0)
    return between({1 / a.high, a.high_open || a.high == inf}, {a.low == 0 ? inf : 1 / a.low, a.low_open});
  if (a.high <= 0) return negated(inverse(negated(a)));
  return {};
}
Range size(const Range& a) {
  if (a.low >= 0) return a;
  if (a.high <= 0) return negated(a);
  return between({0, false}, larger({-a.low, a.low_open}, high_of(a)));
}
Range power(const Range& base, const Range& exponent) {
  if (base.is_positive()) return at_least(0, true);
  const bool even = exponent.low == exponent.high && std::fmod(exponent.low, 2) == 0;
  return base.low >= 0 || even ? at_least(0) : Range{};
}

Range maximum(const Range& a, const Range& b) {
  return between(larger(low_of(a), low_of(b)), larger(high_of(a), high_of(b)));
}
Range minimum(const Range& a, const Range& b) {
  return between(smaller(low_of(a), low_of(b)), smaller(high_of(a), high_of(b)));
}

Range truth(bool always, bool never) { return always ? closed(1, 1) : never ? closed(0, 0) : closed(0, 1); }
bool is_below(const Range& a, const Range& b) {
  return a.high < b.low || (a.high == b.low && std::isfinite(a.high) && (a.high_open || b.low_open));
}
bool is_not_above(const Range& a, const Range& b) { return a.high <= b.low; }
bool is_same_number(const Range& a, const Range& b) { return a.low == a.high && b.is_always(a.low); }

}  // namespace bitale::interval
