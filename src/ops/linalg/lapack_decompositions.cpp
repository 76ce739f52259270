// Decompositions of real and complex matrices for a target that works on whole tensors (lapack_forms.hpp).
#include <algorithm>
#include <cmath>

#include "ops/linalg/lapack_forms.hpp"

namespace bitale {

namespace {

// The name of a routine that has a different name for complex numbers.
std::string_view routine_of(DType dtype, std::string_view of_real, std::string_view of_complex) {
  return is_complex(dtype) ? of_complex : of_real;
}

}  // namespace

TensorValues qr_of(TensorLowering& to, const TensorValue& x, std::string_view mode, bool pivoting) {
  require_lapack(to);
  TensorBuilder& builder = to.builder();
  const Dims batch = batch_of(x, 2);
  const std::int64_t m = x.lengths[batch.size()], n = x.lengths.back(), k = std::min(m, n);
  const std::int64_t width = mode == "complete" ? m : k;
  const int of_batch = int(batch.size());
  TensorValues out;
  if (product(x.lengths) == 0) {
    if (mode == "raw") {
      out = {x, zeros_of(builder, x.dtype, with_core(batch, {k}))};
    } else if (mode != "r") {
      out = {identity_matrices(builder, x.dtype, with_core(batch, {m, width}))};
    }
    out.push_back(zeros_of(builder, x.dtype, with_core(batch, {width, n})));
    if (pivoting) out.push_back(builder.iota(DType::Int32, with_core(batch, {n}), of_batch));
    return out;
  }
  const TensorValue finite = is_finite(builder, x);
  const auto where_finite = [&](const TensorValue& made) { return where_batch(builder, finite, made, std::nan("")); };
  const LapackCall::Result of_x{x.dtype, x.lengths}, of_tau{x.dtype, with_core(batch, {k})};
  TensorValue factors, tau, order;
  if (pivoting) {
    const TensorValue free = builder.full(0, DType::Int32, with_core(batch, {n}));
    const TensorValues made = builder.lapack(
        {"geqp3", x.dtype, of_batch, {x, free}, {of_x, {free.dtype, free.lengths}, of_tau}, {}, {{0, 0}, {1, 1}}});
    factors = made[0], tau = made[2];
    const TensorValue index = builder.iota(DType::Int32, made[1].lengths, of_batch);
    const TensorValue all_finite = builder.broadcast(finite, made[1].lengths, axes_below(of_batch));
    order = builder.map(DType::Int32, {all_finite, made[1], index},
                        [](std::span<const Expr> in) { return select(in[0], in[1] - 1, in[2]); });
  } else {
    const TensorValues made = builder.lapack({"geqrf", x.dtype, of_batch, {x}, {of_x, of_tau}, {}, {{0, 0}}});
    factors = made[0], tau = made[1];
  }
  const Dims step(x.lengths.size(), 1), start(x.lengths.size(), 0);
  const auto corner = [&](std::int64_t rows, std::int64_t columns) {
    return builder.slice(factors, start, with_core(batch, {rows, columns}), step);
  };
  if (mode == "raw") {
    out = {where_finite(factors), where_finite(tau)};
  } else if (mode != "r") {
    TensorValue reflections = corner(m, std::min(n, width));
    if (width > n) {
      Dims more(x.lengths.size(), 0);
      more.back() = width - n;
      reflections = builder.pad(reflections, zeros_of(builder, x.dtype, {}), start, more, start);
    }
    out = {where_finite(builder.lapack({routine_of(x.dtype, "orgqr", "ungqr"),
                                        x.dtype,
                                        of_batch,
                                        {reflections, tau},
                                        {{x.dtype, reflections.lengths}},
                                        {},
                                        {{0, 0}}})[0])};
  }
  out.push_back(where_finite(triangle(builder, corner(width, n), false)));
  if (pivoting) out.push_back(order);
  return out;
}

TensorValues svd_of(TensorLowering& to, const TensorValue& x, bool full_matrices, bool compute_uv,
                    std::string_view failure) {
  require_lapack(to);
  TensorBuilder& builder = to.builder();
  const Dims batch = batch_of(x, 2);
  const std::int64_t m = x.lengths[batch.size()], n = x.lengths.back(), k = std::min(m, n);
  const bool full = full_matrices || !compute_uv;
  const DType real = component_dtype(x.dtype);
  const Dims of_u = with_core(batch, {m, full ? m : k}), of_s = with_core(batch, {k});
  const Dims of_v = with_core(batch, {full ? n : k, n});
  if (product(x.lengths) == 0) {
    const TensorValue s = builder.full(0, real, of_s);
    if (!compute_uv) return {s};
    return {identity_matrices(builder, x.dtype, of_u), s, identity_matrices(builder, x.dtype, of_v)};
  }
  const TensorValue finite = is_finite(builder, x);
  const TensorValues made =
      builder.lapack({"gesdd",
                      x.dtype,
                      int(batch.size()),
                      {where_batch(builder, finite, x, 0)},
                      {{x.dtype, x.lengths}, {real, of_s}, {x.dtype, of_u}, {x.dtype, of_v}, {DType::Int32, batch}},
                      {{"mode", !compute_uv     ? 'N'
                                : full_matrices ? 'A'
                                                : 'S'}},
                      {{0, 0}}});
  require_done(to, made[4], failure);
  const auto where_finite = [&](const TensorValue& each) { return where_batch(builder, finite, each, std::nan("")); };
  if (!compute_uv) return {where_finite(made[1])};
  return {where_finite(made[2]), where_finite(made[1]), where_finite(made[3])};
}

TensorValues eigh_of(TensorLowering& to, const TensorValue& x, bool lower, bool vectors, std::string_view failure) {
  require_lapack(to);
  TensorBuilder& builder = to.builder();
  const Dims batch = batch_of(x, 2);
  const LapackCall::Result of_values{component_dtype(x.dtype), with_core(batch, {x.lengths.back()})};
  TensorValues out;
  if (product(x.lengths) == 0) {
    out = {builder.full(0, of_values.dtype, of_values.lengths)};
    if (vectors) out.push_back(x);
    return out;
  }
  const TensorValue read = triangle(builder, x, lower), finite = is_finite(builder, read);
  const TensorValues made = builder.lapack({routine_of(x.dtype, "syevd", "heevd"),
                                            x.dtype,
                                            int(batch.size()),
                                            {where_batch(builder, finite, read, 0)},
                                            {{x.dtype, x.lengths}, of_values, {DType::Int32, batch}},
                                            {{"mode", vectors ? 'V' : 'N'}, {"uplo", lower ? 'L' : 'U'}},
                                            {{0, 0}}});
  require_done(to, made[2], failure);
  out = {where_batch(builder, finite, made[1], std::nan(""))};
  if (vectors) out.push_back(where_batch(builder, finite, made[0], std::nan("")));
  return out;
}

TensorValues schur_of(TensorLowering& to, const TensorValue& x, std::string_view sort, std::string_view failure) {
  require_lapack(to);
  if (!sort.empty()) to.refuse("XLA's LAPACK does not sort the eigenvalues of a Schur form");
  TensorBuilder& builder = to.builder();
  if (product(x.lengths) == 0) return {x, x};
  const Dims batch = batch_of(x, 2);
  const TensorValue finite = is_finite(builder, x);
  const LapackCall::Result matrix{x.dtype, x.lengths}, of_values{x.dtype, with_core(batch, {x.lengths.back()})};
  const LapackCall::Result number{DType::Int32, batch};
  std::vector<LapackCall::Result> results{matrix, matrix, of_values, number, number};
  if (!is_complex(x.dtype)) results.insert(results.begin() + 2, of_values);  // real and imaginary parts
  const TensorValues made = builder.lapack({"gees",
                                            x.dtype,
                                            int(batch.size()),
                                            {where_batch(builder, finite, x, 0)},
                                            results,
                                            {{"mode", 'V'}, {"sort", 'N'}},
                                            {{0, 0}}});
  require_done(to, made.back(), failure);
  return {where_batch(builder, finite, made[0], std::nan("")), where_batch(builder, finite, made[1], std::nan(""))};
}

TensorValues eig_of(TensorLowering& to, const TensorValue& x, bool vectors, std::string_view failure) {
  require_lapack(to);
  TensorBuilder& builder = to.builder();
  const Dims batch = batch_of(x, 2);
  const DType complex = is_complex(x.dtype)         ? x.dtype
                        : x.dtype == DType::Float32 ? DType::Complex64
                                                    : DType::Complex128;
  const Dims of_values = with_core(batch, {x.lengths.back()});
  TensorValues out;
  if (product(x.lengths) == 0) {
    out = {zeros_of(builder, complex, of_values)};
    if (vectors) out.push_back(zeros_of(builder, complex, x.lengths));
    return out;
  }
  const TensorValue finite = is_finite(builder, x);
  const LapackCall::Result values{x.dtype, of_values}, matrix{complex, x.lengths};
  std::vector<LapackCall::Result> results{values, matrix, matrix, {DType::Int32, batch}};
  if (!is_complex(x.dtype)) results.insert(results.begin(), values);  // real and imaginary parts
  const TensorValues made = builder.lapack({"geev",
                                            x.dtype,
                                            int(batch.size()),
                                            {where_batch(builder, finite, x, 0)},
                                            results,
                                            {{"compute_left", 'N'}, {"compute_right", vectors ? 'V' : 'N'}}});
  require_done(to, made.back(), failure);
  const auto where_finite = [&](const TensorValue& each) { return where_batch(builder, finite, each, std::nan("")); };
  out = {where_finite(is_complex(x.dtype) ? made[0] : builder.complex(made[0], made[1]))};
  if (vectors) out.push_back(where_finite(made[made.size() - 2]));
  return out;
}

}  // namespace bitale
