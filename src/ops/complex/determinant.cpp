// Determinants of complex matrices: their signs and logarithms.
#include <numbers>

#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/complex/systems.hpp"
#include "ops/linalg/lapack_op.hpp"
#include "runtime/complex_decompositions.hpp"

namespace bitale {

namespace {

class ComplexSLogDet final : public LapackOp {
 public:
  ComplexSLogDet() : LapackOp(true) {}
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
  std::vector<std::string> outputs() const override { return {"", "r"}; }
  std::int64_t run(const Call& to) const override {
    return to.with_numbers<false>(
        [&]<class T>(T) { return runtime::complex_slogdet<T>(to.m, to.in<T>(0), to.out<T>(0), to.out<T>(1)); });
  }
  const char* who() const override { return "slogdet"; }
};

std::vector<Sample> complex_slogdet_samples() {
  return decomposition_samples(make_ref<ComplexSLogDet>(), {{3, 3}, {1, 1}, {0, 0}}, true);
}

BITALE_REGISTER_OP(ComplexSLogDet,
                   "The direction of the determinant of a complex matrix, and the logarithm of its size.",
                   complex_slogdet_samples);

}  // namespace

SignAndLogarithm complex_slogdet(const Variable& x) {
  const Variables out = make_ref<ComplexSLogDet>()->of({&x, 1});
  return {out[0], out[1]};
}

}  // namespace bitale
