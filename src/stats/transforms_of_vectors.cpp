// Transforms of vectors, along the last dimension.
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/arrange.hpp"
#include "bitale/ops/cumulative.hpp"
#include "bitale/stats/transforms.hpp"
#include "ops/analysis/lengths.hpp"
#include "stats/arguments.hpp"

namespace bitale::stats {

namespace {

const Axes vector_axis{-1};

// The vectors in floats, with the line and name of the call.
struct Vectors {
  LocationScope here;
  CallScope call;
  Variable values;

  Vectors(const char* who, const Operand& given) : here(given.where), call(who) {
    if (given.ndim() < 1)
      throw ShapeError(cat(who, ": expected at least 1 dimension, got ", given.variable.str(), " of type ",
                           given.variable.type()->str()));
    values = cast(given.variable, common_dtype({&given.variable, 1}));
  }
  int axis() const { return values.ndim() - 1; }
  Variable length() const { return length_of(values, axis()); }
};

Variable between(const Variable& x, const std::optional<Operand>& start, const std::optional<Operand>& stop) {
  return subtensor(x, {Ellipsis(), IndexItem(Slice{start, stop})});
}
Variable first_of(const Variable& x) { return between(x, {}, Operand(1)); }
Variable rest_of(const Variable& x) { return between(x, Operand(1), {}); }
Variable all_but_last(const Variable& x) { return between(x, {}, Operand(-1)); }
Variable joined(const Variable& a, const Variable& b) { return concatenate({a, b}, a.ndim() - 1); }
// A vector of one 0 for each vector of x, which may be empty.
Variable zero_for(const Variable& x) { return expand_dims(zeros_like(sum(x, vector_axis)), -1); }

// 1, 2, ..., as many as x has elements along its last axis.
Variable numbers_along(const Variable& x) { return cast(arange(length_of(x, x.ndim() - 1)) + 1, x.dtype()); }
Variable sums_from_end(const Variable& x) { return flip(cumsum(flip(x, vector_axis), x.ndim() - 1), vector_axis); }

// The zero-sum vectors whose coordinates in an orthonormal basis are y: with w[n] = y[n] / sqrt(n (n + 1)) for n from
// 1, element j is the sum of the later w, less j w[j].
Variable zero_sum_of(const Variable& y) {
  const Variable n = numbers_along(y), w = y / sqrt(n * (n + 1));
  return joined(sums_from_end(w), zero_for(y)) - joined(zero_for(y), n * w);
}
// y[n] is the product with the basis vector: n / sqrt(n (n + 1)) times the mean of the first n elements, less the next.
Variable coordinates_of(const Variable& x) {
  const Variable head = all_but_last(x), n = numbers_along(head);
  return (cumsum(head, x.ndim() - 1) - n * rest_of(x)) / sqrt(n * (n + 1));
}

}  // namespace

Constrained ordered(const Operand& y) {
  const Vectors given("ordered", y);
  const Variable steps = rest_of(given.values);
  return {cumsum(joined(first_of(given.values), exp(steps)), given.axis()), sum(steps, vector_axis)};
}
Variable ordered_inverse(const Operand& x) {
  const Vectors given("ordered_inverse", x);
  return joined(first_of(given.values), log(rest_of(given.values) - all_but_last(given.values)));
}

Constrained positive_ordered(const Operand& y) {
  const Vectors given("positive_ordered", y);
  return {cumsum(exp(given.values), given.axis()), sum(given.values, vector_axis)};
}
Variable positive_ordered_inverse(const Operand& x) {
  const Vectors given("positive_ordered_inverse", x);
  return log(joined(first_of(given.values), rest_of(given.values) - all_but_last(given.values)));
}

// The Jacobian's determinant is sqrt(K) times the product of the shares.
Constrained simplex(const Operand& y) {
  const Vectors given("simplex", y);
  const Variable z = zero_sum_of(given.values), count = cast(given.length() + 1, z.dtype());
  return {softmax(z, vector_axis), 0.5 * log(count) - count * logsumexp(z, vector_axis)};
}
Variable simplex_inverse(const Operand& x) {
  const Vectors given("simplex_inverse", x);
  return coordinates_of(log(given.values));  // the mean of the logarithms drops out
}

// Share k is z[k] of what shares before it leave, whose logarithm is a sum.
Constrained simplex_stick(const Operand& y) {
  const Vectors given("simplex_stick", y);
  const Variable& values = given.values;
  const Variable left = cast(given.length() + 1, values.dtype()) - numbers_along(values);
  const Variable logit = values - log(left), log_rest = -softplus(logit);
  const Variable after = cumsum(log_rest, given.axis()), before = joined(zero_for(values), after);
  const Variable log_shares = all_but_last(before) + log_sigmoid(logit);
  return {exp(joined(log_shares, between(before, Operand(-1), {}))), sum(log_shares + log_rest, vector_axis)};
}
Variable simplex_stick_inverse(const Operand& x) {
  const Vectors given("simplex_stick_inverse", x);
  const Variable head = all_but_last(given.values), after = rest_of(sums_from_end(given.values));
  const Variable left = cast(given.length(), head.dtype()) - numbers_along(head);
  return log(head) - log(after) + log(left);
}

Constrained sum_to_zero(const Operand& y) {
  const Vectors given("sum_to_zero", y);
  return {zero_sum_of(given.values), zeros_like(sum(given.values, vector_axis))};
}
Variable sum_to_zero_inverse(const Operand& x) {
  const Vectors given("sum_to_zero_inverse", x);
  return coordinates_of(given.values);
}

Constrained unit_vector(const Operand& y) {
  const Vectors given("unit_vector", y);
  const Variable squared = sum(sqr(given.values), vector_axis);
  return {given.values / expand_dims(sqrt(squared), -1), -0.5 * squared};
}
Variable unit_vector_inverse(const Operand& x) { return Vectors("unit_vector_inverse", x).values; }

}  // namespace bitale::stats
