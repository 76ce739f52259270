// LU factors and determinants of complex matrices.
#include <numbers>

#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/complex/decomposition.hpp"
#include "runtime/complex_decompositions.hpp"

namespace bitale {

namespace {

class ComplexLUFactor final : public ComplexDecomposition {
 public:
  std::string_view name() const override { return "ComplexLUFactor"; }

  // As for real matrices (lu_factor.cpp), with adjoints instead of transposes.
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[0].is_disconnected()) return no_gradients(node);
    const Variable factors = of_pairs(node.output(0)), g = of_pairs(cotangents[0]);
    const Variable rows = length_of(factors, 0), columns = length_of(factors, 1), k = lengths::min(rows, columns);
    const DType dtype = factors.dtype();
    const Slice stretch{.start = {}, .stop = Operand(k), .step = {}};
    const Variable left = subtensor(factors, {Slice{}, stretch}), above = subtensor(factors, {stretch});
    const Variable of_left = tril(subtensor(g, {Slice{}, stretch}), -1), of_above = triu(subtensor(g, {stretch}));
    const Variable lower = set_subtensor(eye(rows, {}, 0, dtype), {Slice{}, stretch},
                                         add(tril(left, -1), eye(rows, Operand(k), 0, dtype)));
    const Variable upper = set_subtensor(eye(columns, {}, 0, dtype), {stretch}, triu(above));
    const Variable none = zeros({rows, columns}, dtype);
    const Variable to_left = set_subtensor(none, {Slice{}, stretch}, dot(adjoint(lower), of_left));
    const Variable to_above = set_subtensor(none, {stretch}, dot(of_above, adjoint(upper)));
    const Variable of_f = add(tril(to_left, -1), triu(to_above));
    const Variable half = solve_triangular(conj(lower), of_f, {.lower = true, .trans = true, .unit_diagonal = true});
    const Variable permuted = adjoint(solve_triangular(upper, adjoint(half), {.lower = false}));
    const Variable rest = cast(arange(length_of(node.output(1), 0), rows, 1), DType::Int32);
    const Variable order = pivot_to_permutation(concatenate({node.output(1), rest}, 0));
    return {with_static_shape_of(node.input(0), as_pairs(take(permuted, order, 0)))};
  }
  std::vector<std::vector<bool>> connection_pattern(const Apply&) const override { return {{true, false}}; }

 private:
  TensorValues emit_numbers(TensorLowering& to, const TensorValues& in) const override {
    require_lapack(to);
    const auto [factors, pivots] = lu_of(to.builder(), in[0]);
    return {factors, pivots};
  }
  bool is_square() const override { return false; }
  std::vector<std::string> outputs() const override { return {"mn2", "ki"}; }
  std::int64_t run(DType dtype, std::int64_t m, std::int64_t n, std::span<const Array> in,
                   std::span<const Array> out) const override {
    return with_float(dtype, [&]<class T>(T) {
      return runtime::complex_lu_factor<T>(m, n, in[0].data_as<T>(), out[0].mutable_data_as<T>(),
                                           out[1].mutable_data_as<std::int32_t>());
    });
  }
  std::string runtime_name() const override { return "complex_lu_factor"; }
  const char* who() const override { return "lu_factor"; }
};

class ComplexSLogDet final : public ComplexDecomposition {
 public:
  std::string_view name() const override { return "ComplexSLogDet"; }

  // With t = trace(A^-1 dA), d logarithm = real(t) and d sign = i sign imag(t).
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    const bool has_sign = !cotangents[0].is_disconnected(), has_logarithm = !cotangents[1].is_disconnected();
    if (!has_sign && !has_logarithm) return no_gradients(node);
    const Variable x = of_pairs(node.input(0));
    const Variable of_real = cotangent_or_zeros(node, cotangents, 1);
    Variable of_imag = zeros_like(of_real);
    if (has_sign) {  // the component of the cotangent along i sign
      const Variable sign = of_pairs(node.output(0)), g = of_pairs(cotangents[0]);
      of_imag = sub(mul(imag(g), real(sign)), mul(real(g), imag(sign)));
    }
    const Variable out = mul(complex(of_real, of_imag), adjoint(inv(x)));
    return {with_static_shape_of(node.input(0), as_pairs(out))};
  }

 private:
  // Sums over the pivots the logarithm of the absolute value, and the angle.
  TensorValues emit_numbers(TensorLowering& to, const TensorValues& in) const override {
    require_lapack(to);
    TensorBuilder& builder = to.builder();
    const auto [factors, pivots] = lu_of(builder, in[0]);
    const DType real = component_dtype(factors.dtype);
    const Dims batch = batch_of(factors, 2);
    if (product(in[0].lengths) == 0) {
      const TensorValue none = builder.full(0, real, batch);
      return {builder.complex(builder.full(1, real, batch), none), none};
    }
    const int last[] = {int(batch.size())};
    const auto [re, im] = parts_of(builder, builder.diagonal(factors));
    const TensorValue row = builder.iota(DType::Int32, pivots.lengths, last[0]);
    const TensorValue angle_in[] = {im, re};
    const TensorValue angles =
        builder.map(real, {builder.function("stablehlo.atan2", angle_in), pivots, row}, [](std::span<const Expr> of) {
          return select(equal(of[1], of[2]), of[0], of[0] + of[0].pool().number(std::numbers::pi, of[0].dtype()));
        });
    const auto larger = [](std::span<const Expr> of) {
      const Expr a = abs(of[0]), b = abs(of[1]);
      return select(a < b, b, a);
    };
    const TensorValue largest = builder.map(real, {re, im}, larger);
    const TensorValue excess = builder.map(real, {re, im, largest}, [](std::span<const Expr> of) {
      const Expr a = abs(of[0]), b = abs(of[1]), least = select(a < b, a, b), ratio = least / of[2];
      return select(equal(of[2], 0), least, ratio * ratio);  // both parts are 0
    });
    const auto function = [&](std::string_view name, const TensorValue& x) { return builder.function(name, {&x, 1}); };
    const TensorValue logarithms =
        builder.map(real, {function("stablehlo.log", largest), function("stablehlo.log_plus_one", excess)},
                    [](std::span<const Expr> of) { return of[0] + of[1] * 0.5; });
    const TensorValue logarithm = builder.reduce(logarithms, program::Combiner::add, last);
    const TensorValue angle = builder.reduce(angles, program::Combiner::add, last);
    const TensorValue regular =
        builder.reduce(is_nonzero(builder, builder.diagonal(factors)), program::Combiner::bit_and, last);
    const TensorValue sign = builder.complex(function("stablehlo.cosine", angle), function("stablehlo.sine", angle));
    return {where_batch(builder, regular, sign, 0), logarithm};
  }
  std::vector<std::string> outputs() const override { return {"2", ""}; }
  std::int64_t run(DType dtype, std::int64_t, std::int64_t n, std::span<const Array> in,
                   std::span<const Array> out) const override {
    return with_float(dtype, [&]<class T>(T) {
      return runtime::complex_slogdet<T>(n, in[0].data_as<T>(), out[0].mutable_data_as<T>(),
                                         out[1].mutable_data_as<T>());
    });
  }
  std::string runtime_name() const override { return "complex_slogdet"; }
  const char* who() const override { return "slogdet"; }
};

std::vector<Sample> complex_lu_samples() {
  return decomposition_samples(make_ref<ComplexLUFactor>(), {{3, 3}, {4, 2}, {2, 4}, {18, 17}, {0, 2}}, true);
}
std::vector<Sample> complex_slogdet_samples() {
  return decomposition_samples(make_ref<ComplexSLogDet>(), {{3, 3}, {1, 1}, {0, 0}}, true);
}

BITALE_REGISTER_OP(ComplexLUFactor,
                   "The LU factors of a complex matrix in one, as pairs, and the rows that were exchanged.",
                   complex_lu_samples);
BITALE_REGISTER_OP(ComplexSLogDet,
                   "The direction of the determinant of a complex matrix, and the logarithm of its size.",
                   complex_slogdet_samples);

}  // namespace

LUFactors complex_lu_factor(const Variable& x) {
  const Apply node = apply_pairs(make_ref<ComplexLUFactor>(), x);
  return {of_pairs(node.output(0)), node.output(1)};
}

SignAndLogarithm complex_slogdet(const Variable& x) {
  const Apply node = apply_pairs(make_ref<ComplexSLogDet>(), x);
  return {of_pairs(node.output(0)), node.output(1)};
}

}  // namespace bitale
