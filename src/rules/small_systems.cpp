#include "rules/small_systems.hpp"

#include <limits>

#include "bitale/ops/debugging.hpp"
#include "bitale/ops/ops.hpp"

namespace bitale::rewriting {

namespace {

// The elimination P A = [1 0; factor 1] [pivot upper; 0 last] of each matrix of a batch.
struct Elimination {
  Variable exchanges;  // whether the second row comes first
  Variable pivot, upper, factor, last;
};

Elimination eliminated(const Variable& a, bool trans) {
  const auto element = [&](int row, int column) {
    return subtensor(a, {Ellipsis{}, IndexItem(trans ? column : row), IndexItem(trans ? row : column)});
  };
  Elimination out;
  out.exchanges = gt(abs(element(1, 0)), abs(element(0, 0)));
  const auto first = [&](int column) { return switch_(out.exchanges, element(1, column), element(0, column)); };
  const auto second = [&](int column) { return switch_(out.exchanges, element(0, column), element(1, column)); };
  out.pivot = first(0);
  out.upper = first(1);
  out.factor = true_div(second(0), switch_(eq(out.pivot, 0), ones_like(out.pivot), out.pivot));
  out.last = sub(second(1), mul(out.factor, out.upper));
  return out;
}

Variable has_pivots(const Elimination& e) { return logical_and(neq(e.pivot, 0), neq(e.last, 0)); }

Variable solved(const System& system) {
  const Elimination e = eliminated(system.a, system.trans);
  const Variable columns = right_columns(system);
  const auto each = [](const Variable& v) { return expand_dims(v, v.ndim()); };  // for all columns
  const auto row = [&](int k) { return subtensor(columns, {Ellipsis{}, IndexItem(k), Slice{}}); };
  const Variable first = switch_(each(e.exchanges), row(1), row(0)),
                 second = switch_(each(e.exchanges), row(0), row(1));
  const Variable y = true_div(sub(second, mul(each(e.factor), first)), each(e.last));
  const Variable x = true_div(sub(first, mul(each(e.upper), y)), each(e.pivot));
  Variable out = as_right_side(system, stack({x, y}, x.ndim() - 1));
  const Variable good = has_pivots(e);
  if (system.on_error == OnError::Nan) {
    Variable fits = good;
    while (fits.ndim() < out.ndim()) fits = expand_dims(fits, fits.ndim());
    return switch_(fits, out, mul(ones_like(out), std::numeric_limits<double>::quiet_NaN()));
  }
  // A matrix that is not finite has no solution, but is not an error.
  const Variable size = sum(abs(system.a), std::vector<int>{system.a.ndim() - 2, system.a.ndim() - 1});
  const Variable is_finite = eq(sub(size, size), 0);
  return check_and_raise(out, {all(logical_or(good, logical_not(is_finite)))}, "LinAlgError",
                         "solve: the matrix is singular");
}

Variables determinant(const Apply& node) {
  const Elimination e = eliminated(node.input(0), false);
  const Variable product = mul(e.pivot, e.last);
  if (!is_logarithmic(node)) return {switch_(e.exchanges, neg(product), product)};
  const Variable direction = mul(sign(e.pivot), sign(e.last));
  return {switch_(e.exchanges, neg(direction), direction), add(log(abs(e.pivot)), log(abs(e.last)))};
}

}  // namespace

std::optional<Variables> written_out(const Apply& node) {
  const Variable out = node.output(0);
  const auto has_two_rows = [](const Variable& a) {
    const Dims& shape = a.static_shape();
    return a.ndim() >= 2 && shape[shape.size() - 1] == 2 && shape[shape.size() - 2] == 2 && is_float(a.dtype());
  };
  if (const auto system = as_system(out); system && has_two_rows(system->a)) return fitted(node, {solved(*system)});
  if ((is_matrix_op(out, "Det") || is_matrix_op(out, "SLogDet")) && has_two_rows(node.input(0)))
    return fitted(node, determinant(node));
  return std::nullopt;
}

}  // namespace bitale::rewriting
