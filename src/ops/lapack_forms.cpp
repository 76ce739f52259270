#include "ops/lapack_forms.hpp"

#include <algorithm>
#include <cmath>

namespace bitale {

using program::Combiner;

void require_lapack(TensorLowering& to) {
  if (!to.builder().has_lapack())
    to.refuse("it is a call of LAPACK, which XLA has on processors alone, in modules of platform \"cpu\"");
}

Dims batch_of(const TensorValue& x, int core_ndim) {
  return Dims(std::span(x.lengths.data(), std::size_t(x.ndim() - core_ndim)));
}

Dims with_core(const Dims& batch, std::initializer_list<std::int64_t> core) {
  Dims out = batch;
  for (auto length : core) out.push_back(length);
  return out;
}

TensorValue is_finite(TensorBuilder& builder, const TensorValue& matrices) {
  const int matrix[] = {matrices.ndim() - 2, matrices.ndim() - 1};
  const TensorValue all =
      builder.map(DType::Bool, {matrices}, [](std::span<const Expr> in) { return ~is_nan(in[0] - in[0]); });
  return builder.reduce(all, Combiner::bit_and, matrix);
}

TensorValue where_batch(TensorBuilder& builder, const TensorValue& holds, const TensorValue& x, double otherwise) {
  return builder.map(x.dtype, {builder.broadcast(holds, x.lengths, axes_below(holds.ndim())), x},
                     [otherwise](std::span<const Expr> in) {
                       return select(in[0], in[1], in[1].pool().number(otherwise, in[1].dtype()));
                     });
}

TensorValue triangle(TensorBuilder& builder, const TensorValue& x, bool lower) {
  const TensorValue row = builder.iota(DType::Int64, x.lengths, x.ndim() - 2);
  const TensorValue column = builder.iota(DType::Int64, x.lengths, x.ndim() - 1);
  return builder.map(x.dtype, {x, row, column}, [lower](std::span<const Expr> in) {
    return select(lower ? in[1] >= in[2] : in[1] <= in[2], in[0], 0.0);
  });
}

TensorValue identity_matrices(TensorBuilder& builder, DType dtype, const Dims& lengths) {
  const int ndim = int(lengths.size());
  const TensorValue row = builder.iota(DType::Int64, lengths, ndim - 2);
  const TensorValue column = builder.iota(DType::Int64, lengths, ndim - 1);
  return builder.convert(
      builder.map(DType::Bool, {row, column}, [](std::span<const Expr> in) { return equal(in[0], in[1]); }), dtype);
}

void require_done(TensorLowering& to, const TensorValue& info, std::string_view failure) {
  TensorBuilder& builder = to.builder();
  to.require(builder.all(builder.map(DType::Bool, {info}, [](std::span<const Expr> in) { return equal(in[0], 0); })),
             std::string(failure));
}

TensorLU lu_of(TensorBuilder& builder, const TensorValue& x) {
  const Dims batch = batch_of(x, 2);
  const std::int64_t least = std::min(x.lengths[x.lengths.size() - 2], x.lengths.back());
  if (product(x.lengths) == 0) return {x, builder.full(0, DType::Int32, with_core(batch, {least}))};
  const TensorValues made =
      builder.lapack({"getrf",
                      x.dtype,
                      int(batch.size()),
                      {x},
                      {{x.dtype, x.lengths}, {DType::Int32, with_core(batch, {least})}, {DType::Int32, batch}},
                      {},
                      {{0, 0}}});
  return {made[0], builder.map(DType::Int32, {made[1]}, [](std::span<const Expr> in) { return in[0] - 1; })};
}

// One exchange of all batches after the other.
TensorValue permutation_of(TensorBuilder& builder, const TensorValue& pivots, bool picked) {
  const Dims lengths = pivots.lengths;
  const int last = pivots.ndim() - 1;
  const std::int64_t n = lengths.back();
  const TensorValue place = builder.iota(DType::Int64, lengths, last);
  if (product(lengths) == 0) return place;
  const TensorValue others = builder.convert(pivots, DType::Int64);
  Dims one = lengths;
  one.back() = 1;
  const int axes[] = {last};
  const auto step = [&](const TensorValue& number, const TensorValues& carried) -> TensorValues {
    const TensorValue i = picked ? number : builder.map(DType::Int64, {number}, [n](std::span<const Expr> in) {
      return in[0].pool().integer(n - 1) - in[0];
    });
    TensorValues start(lengths.size(), builder.number(0, DType::Int64));
    start.back() = i;
    const auto at_step = [&](const TensorValue& x) { return builder.repeat(builder.part(x, start, one), lengths); };
    const TensorValue other = at_step(others), now = at_step(carried[0]);
    const TensorValue of_other = builder.reduce(
        builder.map(
            DType::Int64, {carried[0], place, other},
            [](std::span<const Expr> in) { return select(equal(in[1], in[2]), in[0], in[0].pool().integer(0)); }),
        Combiner::add, axes);
    const TensorValue there = builder.repeat(builder.reshape(of_other, one), lengths);
    return {builder.map(DType::Int64, {carried[0], place, i, other, now, there}, [n](std::span<const Expr> in) {
      const Expr zero = in[0].pool().integer(0), end = in[0].pool().integer(n);
      const Expr is_inside = (in[3] >= zero) & (in[3] < end);
      return select(equal(in[1], in[2]) & is_inside, in[5], select(equal(in[1], in[3]), in[4], in[0]));
    })};
  };
  return builder.repeat(n, {place}, false, step)[0];
}

TensorValue take_rows(TensorBuilder& builder, const TensorValue& x, const TensorValue& order) {
  Dims at_lengths = order.lengths;
  at_lengths.push_back(1);
  TensorValues at;
  std::vector<int> axes;
  for (int axis = 0; axis < order.ndim() - 1; ++axis) {
    at.push_back(builder.iota(DType::Int64, at_lengths, axis));
    axes.push_back(axis);
  }
  at.push_back(builder.reshape(order, at_lengths));
  axes.push_back(order.ndim() - 1);
  return builder.gather(x, builder.concatenate(at, order.ndim()), axes);
}

TensorValue solve_by_lu(TensorLowering& to, const TensorValue& a, const TensorValue& b, bool transposed,
                        std::string_view on_error, std::string_view failure) {
  TensorBuilder& builder = to.builder();
  if (product(b.lengths) == 0) return b;
  const auto [factors, pivots] = lu_of(builder, a);
  const auto solved = [&](const TensorValue& right, bool lower) {
    return builder.solve_triangular(factors, right, {lower, transposed, lower});
  };
  TensorValue x;
  if (transposed)
    x = take_rows(builder, solved(solved(b, false), true), permutation_of(builder, pivots, false));
  else
    x = solved(solved(take_rows(builder, b, permutation_of(builder, pivots, true)), true), false);
  const int place[] = {a.ndim() - 2};
  const TensorValue is_regular = builder.reduce(
      builder.map(DType::Bool, {builder.diagonal(factors)}, [](std::span<const Expr> in) { return ~equal(in[0], 0); }),
      Combiner::bit_and, place);
  if (on_error == "raise") to.require(builder.all(is_regular), std::string(failure));
  return where_batch(builder, is_regular, x, std::nan(""));
}

}  // namespace bitale
