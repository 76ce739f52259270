#include "ops/linalg/lapack_forms.hpp"

#include <algorithm>
#include <cmath>

#include "bitale/core/text.hpp"

namespace bitale {

using program::Combiner;

void require_lapack(TensorLowering& to) {
  if (!to.builder().has_lapack())
    to.refuse("it calls LAPACK, which XLA has on processors alone, in modules of platform \"cpu\"");
}

Dims batch_of(const TensorValue& x, int core_ndim) {
  return Dims(std::span(x.lengths.data(), std::size_t(x.ndim() - core_ndim)));
}

Dims with_core(const Dims& batch, std::initializer_list<std::int64_t> core) {
  Dims out = batch;
  for (auto length : core) out.push_back(length);
  return out;
}

TensorParts parts_of(TensorBuilder& builder, const TensorValue& numbers) {
  const TensorValue pairs = builder.as_pairs(numbers);
  const Dims step(pairs.lengths.size(), 1);
  const auto part = [&](std::int64_t which) {
    Dims start(pairs.lengths.size(), 0), stop = pairs.lengths;
    start.back() = which;
    stop.back() = which + 1;
    return builder.reshape(builder.slice(pairs, start, stop, step), numbers.lengths);
  };
  return {part(0), part(1)};
}

TensorValue numbers_of(TensorBuilder& builder, const TensorValue& pairs) {
  const Dims step(pairs.lengths.size(), 1);
  Dims lengths = pairs.lengths;
  lengths.erase(lengths.size() - 1);
  const auto part = [&](std::int64_t which) {
    Dims start(pairs.lengths.size(), 0), stop = pairs.lengths;
    start.back() = which;
    stop.back() = which + 1;
    return builder.reshape(builder.slice(pairs, start, stop, step), lengths);
  };
  return builder.complex(part(0), part(1));
}

void out_numbers(TensorLowering& to, int output, const TensorValue& value) {
  to.out(output, is_complex(value.dtype) ? to.builder().as_pairs(value) : value);
}

TensorValue by_parts(TensorBuilder& builder, const TensorValue& x,
                     const std::function<TensorValue(const TensorValue&)>& function) {
  if (!is_complex(x.dtype)) return function(x);
  const auto [re, im] = parts_of(builder, x);
  return builder.complex(function(re), function(im));
}

TensorValue zeros_of(TensorBuilder& builder, DType dtype, const Dims& lengths) {
  if (!is_complex(dtype)) return builder.full(0, dtype, lengths);
  const TensorValue zeros = builder.full(0, component_dtype(dtype), lengths);
  return builder.complex(zeros, zeros);
}

namespace {

// A predicate for real numbers applied to x: it must hold for both parts of a complex number, or, without `all`, for
// any of them.
TensorValue of_both_parts(TensorBuilder& builder, const TensorValue& x, bool all, const ElementwiseRule& rule) {
  if (!is_complex(x.dtype)) return builder.map(DType::Bool, {x}, rule);
  const auto [re, im] = parts_of(builder, x);
  return builder.map(DType::Bool, {re, im}, [&](std::span<const Expr> in) {
    const Expr first = rule(in.subspan(0, 1)), second = rule(in.subspan(1, 1));
    return all ? first & second : first | second;
  });
}

}  // namespace

TensorValue is_nonzero(TensorBuilder& builder, const TensorValue& x) {
  return of_both_parts(builder, x, false, [](std::span<const Expr> in) { return ~equal(in[0], 0); });
}

TensorValue is_finite(TensorBuilder& builder, const TensorValue& matrices) {
  const int matrix[] = {matrices.ndim() - 2, matrices.ndim() - 1};
  return builder.reduce(
      of_both_parts(builder, matrices, true, [](std::span<const Expr> in) { return ~is_nan(in[0] - in[0]); }),
      Combiner::bit_and, matrix);
}

TensorValue where_batch(TensorBuilder& builder, const TensorValue& holds, const TensorValue& x, double otherwise) {
  const TensorValue everywhere = builder.broadcast(holds, x.lengths, axes_below(holds.ndim()));
  return by_parts(builder, x, [&](const TensorValue& part) {
    return builder.map(part.dtype, {everywhere, part}, [otherwise](std::span<const Expr> in) {
      return select(in[0], in[1], in[1].pool().number(otherwise, in[1].dtype()));
    });
  });
}

TensorValue triangle(TensorBuilder& builder, const TensorValue& x, bool lower) {
  const TensorValue row = builder.iota(DType::Int64, x.lengths, x.ndim() - 2);
  const TensorValue column = builder.iota(DType::Int64, x.lengths, x.ndim() - 1);
  return by_parts(builder, x, [&](const TensorValue& part) {
    return builder.map(part.dtype, {part, row, column}, [lower](std::span<const Expr> in) {
      return select(lower ? in[1] >= in[2] : in[1] <= in[2], in[0], 0.0);
    });
  });
}

TensorValue identity_matrices(TensorBuilder& builder, DType dtype, const Dims& lengths) {
  const int ndim = int(lengths.size());
  const TensorValue row = builder.iota(DType::Int64, lengths, ndim - 2);
  const TensorValue column = builder.iota(DType::Int64, lengths, ndim - 1);
  const TensorValue ones = builder.convert(
      builder.map(DType::Bool, {row, column}, [](std::span<const Expr> in) { return equal(in[0], in[1]); }),
      component_dtype(dtype));
  return is_complex(dtype) ? builder.complex(ones, builder.full(0, ones.dtype, lengths)) : ones;
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

// The exchanges run sequentially, each one for all batches at once.
TensorValue permutation_of(TensorBuilder& builder, const TensorValue& pivots, bool picked) {
  const Dims lengths = pivots.lengths;
  const int last = pivots.ndim() - 1;
  const std::int64_t n = lengths.back();
  const TensorValue index = builder.iota(DType::Int64, lengths, last);
  if (product(lengths) == 0) return index;
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
            DType::Int64, {carried[0], index, other},
            [](std::span<const Expr> in) { return select(equal(in[1], in[2]), in[0], in[0].pool().integer(0)); }),
        Combiner::add, axes);
    const TensorValue there = builder.repeat(builder.reshape(of_other, one), lengths);
    return {builder.map(DType::Int64, {carried[0], index, i, other, now, there}, [n](std::span<const Expr> in) {
      const Expr zero = in[0].pool().integer(0), end = in[0].pool().integer(n);
      const Expr is_inside = (in[3] >= zero) & (in[3] < end);
      return select(equal(in[1], in[2]) & is_inside, in[5], select(equal(in[1], in[3]), in[4], in[0]));
    })};
  };
  return builder.repeat(n, {index}, false, step)[0];
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

TensorValue solve_by_lu(TensorLowering& to, const TensorValue& a, const TensorValue& b, TransposedForm form,
                        std::string_view on_error, std::string_view failure) {
  TensorBuilder& builder = to.builder();
  if (product(b.lengths) == 0) return b;
  const auto [factors, pivots] = lu_of(builder, a);
  const auto solved = [&](const TensorValue& right, bool lower) {
    return builder.solve_triangular(factors, right, {lower, form, lower});
  };
  TensorValue x;
  if (form != TransposedForm::none)
    x = take_rows(builder, solved(solved(b, false), true), permutation_of(builder, pivots, false));
  else
    x = solved(solved(take_rows(builder, b, permutation_of(builder, pivots, true)), true), false);
  const int axis[] = {a.ndim() - 2};
  const TensorValue is_regular =
      builder.reduce(is_nonzero(builder, builder.diagonal(factors)), Combiner::bit_and, axis);
  if (on_error == "raise") to.require(builder.all(is_regular), std::string(failure));
  return where_batch(builder, is_regular, x, std::nan(""));
}

TensorValue solve_by_substitution(TensorLowering& to, const TensorValue& a, const TensorValue& b,
                                  const TriangularSystem& system, std::string_view on_error, std::string_view failure) {
  TensorBuilder& builder = to.builder();
  if (product(b.lengths) == 0) return b;
  const TensorValue x = builder.solve_triangular(a, b, system);
  if (system.unit_diagonal) return x;
  const int axis[] = {a.ndim() - 2};
  const TensorValue is_regular = builder.reduce(is_nonzero(builder, builder.diagonal(a)), Combiner::bit_and, axis);
  if (on_error == "raise") to.require(builder.all(is_regular), std::string(failure));
  return where_batch(builder, is_regular, x, std::nan(""));
}

// A factor that contains a nan has one on its diagonal, so only the diagonal is checked.
TensorValue cholesky_of(TensorLowering& to, const TensorValue& x, bool lower, std::string_view on_error,
                        std::string_view failure) {
  TensorBuilder& builder = to.builder();
  if (product(x.lengths) == 0) return x;
  const TensorValue whole = builder.cholesky(x, lower), diagonal = builder.diagonal(whole);
  const int axis[] = {x.ndim() - 2};
  const TensorValue is_number =
      builder.map(DType::Bool, {is_complex(x.dtype) ? parts_of(builder, diagonal).real : diagonal},
                  [](std::span<const Expr> in) { return ~is_nan(in[0]); });
  const TensorValue done = builder.reduce(is_number, Combiner::bit_and, axis);
  if (on_error == "raise") to.require(builder.all(done), std::string(failure));
  if (on_error == "raise_if_finite")
    to.require(builder.all(builder.map(DType::Bool, {done, is_finite(builder, x)},
                                       [](std::span<const Expr> in) { return in[0] | ~in[1]; })),
               std::string(failure));
  return where_batch(builder, done, triangle(builder, whole, lower), std::nan(""));
}

TensorValue solve_sylvester_by_lu(TensorLowering& to, const TensorValue& a, const TensorValue& b, const TensorValue& q,
                                  std::string_view failure) {
  require_lapack(to);
  TensorBuilder& builder = to.builder();
  const Dims batch = batch_of(q, 2);
  const int first = int(batch.size());
  const std::int64_t m = a.lengths.back(), n = b.lengths.back(), count = m * n;
  if (product(q.lengths) == 0) return q;
  constexpr std::int64_t most = 4096;
  if (count > most)
    to.refuse(cat("XLA has no trsyl, and the system of all ", count, " elements is larger than one of ", most));
  // The coefficient of element [j, l] of x in the equation of element [i, k].
  const Dims both = with_core(batch, {m, n, m, n});
  const auto repeated = [&](const TensorValue& x, int rows, int columns) {
    std::vector<int> axes = axes_below(first);
    axes.push_back(first + rows);
    axes.push_back(first + columns);
    return builder.broadcast(x, both, axes);
  };
  TensorValues index;
  for (int axis = 0; axis < 4; ++axis) index.push_back(builder.iota(DType::Int64, both, first + axis));
  const auto of = [&](const TensorValue& left, const TensorValue& right) {
    return builder.map(left.dtype,
                       {repeated(left, 0, 2), repeated(builder.transpose_matrices(right), 1, 3), index[0], index[1],
                        index[2], index[3]},
                       [](std::span<const Expr> in) {
                         return select(equal(in[3], in[5]), in[0], 0.0) + select(equal(in[2], in[4]), in[1], 0.0);
                       });
  };
  TensorValue system;
  if (is_complex(q.dtype)) {
    const TensorParts left = parts_of(builder, a), right = parts_of(builder, b);
    system = builder.complex(of(left.real, right.real), of(left.imaginary, right.imaginary));
  } else {
    system = of(a, b);
  }
  const TensorValue x =
      solve_by_lu(to, builder.reshape(system, with_core(batch, {count, count})),
                  builder.reshape(q, with_core(batch, {count, 1})), TransposedForm::none, "raise", failure);
  return builder.reshape(x, q.lengths);
}

}  // namespace bitale
