// Determinants, and their signs and logarithms.
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/complex/systems.hpp"
#include "ops/linalg/lapack_op.hpp"
#include "ops/sample_values.hpp"
#include "runtime/lu.hpp"

namespace bitale {

namespace {

// Common base of Det and SLogDet.
class DeterminantOp : public LapackOp {
 public:
  std::string_view failure() const override { return "a determinant can't be computed"; }
  // The product of the diagonal of U, whose sign changes with each exchange of rows.
  void emit_tensors(TensorLowering& to, const Apply&) const override {
    TensorBuilder& builder = to.builder();
    const TensorValue x = to.in(0);
    const Dims batch = batch_of(x, 2);
    const int last[] = {int(batch.size())};
    check_lengths(to);
    if (product(x.lengths) == 0) {
      to.out(0, builder.full(1, x.dtype, batch));
      if (count_ == 2) to.out(1, builder.full(0, x.dtype, batch));
      return;
    }
    require_lapack(to);
    const auto [factors, pivots] = lu_of(builder, x);
    const TensorValue diagonal = builder.diagonal(factors);
    const TensorValue row = builder.iota(DType::Int32, pivots.lengths, last[0]);
    const bool with_size = count_ == 1;
    const TensorValue signed_ = builder.map(x.dtype, {diagonal, pivots, row}, [&](std::span<const Expr> in) {
      const Expr one = in[0].pool().number(1, in[0].dtype()), zero = in[0].pool().number(0, in[0].dtype());
      const Expr sign = select(in[0] > zero, one, select(in[0] < zero, -one, in[0]));
      const Expr value = with_size ? in[0] : sign;
      return select(equal(in[1], in[2]), value, -value);
    });
    to.out(0, builder.reduce(signed_, program::Combiner::mul, last));
    if (count_ == 1) return;
    const TensorValue sizes = builder.map(x.dtype, {diagonal}, [](std::span<const Expr> in) { return abs(in[0]); });
    to.out(1, builder.reduce(builder.function("stablehlo.log", {&sizes, 1}), program::Combiner::add, last));
  }
  bool has_pushforward() const override { return true; }

 protected:
  explicit DeterminantOp(int count) : LapackOp(false), count_(count) {}
  // d log |det A| = trace(A^-1 dA)
  static Variable relative(const Apply& node, const Variable& tangent) { return trace(solve(node.input(0), tangent)); }

 private:
  std::vector<std::string> outputs() const override { return std::vector<std::string>(std::size_t(count_)); }
  std::vector<std::string> scratch() const override { return {"mm", "mi"}; }
  std::int64_t run(const Call& to) const override {
    return to.with_numbers<false>([&]<class T>(T) {
      const auto out = [&](int k) { return to.out<T>(std::size_t(k)); };
      T* const factor = out(count_);
      auto* const pivots = to.out<std::int32_t>(std::size_t(count_) + 1);
      if (count_ == 1)
        runtime::det(to.m, to.in<T>(0), out(0), factor, pivots);
      else
        runtime::slogdet(to.m, to.in<T>(0), out(0), out(1), factor, pivots);
      return std::int64_t(0);
    });
  }

  const int count_;  // of outputs
};

class Det final : public DeterminantOp {
 public:
  Det() : DeterminantOp(1) {}
  std::string_view name() const override { return "Det"; }
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[0].is_disconnected()) return no_gradients(node);
    const Variable of_x = mul(mul(cotangents[0], node.output()), transpose(inv(node.input(0))));
    return {with_static_shape_of(node.input(0), of_x)};
  }
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override {
    if (tangents[0].is_disconnected()) return {disconnected()};
    return {mul(node.output(), relative(node, tangents[0]))};
  }
  std::vector<std::vector<bool>> connection_pattern(const Apply&) const override { return {{true}}; }

 private:
  const char* who() const override { return "det"; }
};

class SLogDet final : public DeterminantOp {
 public:
  SLogDet() : DeterminantOp(2) {}
  std::string_view name() const override { return "SLogDet"; }
  // The sign is constant in a neighbourhood of every matrix whose determinant is not 0.
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[1].is_disconnected()) return no_gradients(node);
    const Variable of_x = mul(cotangents[1], transpose(inv(node.input(0))));
    return {with_static_shape_of(node.input(0), of_x)};
  }
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override {
    if (tangents[0].is_disconnected()) return {disconnected(), disconnected()};
    return {disconnected(), relative(node, tangents[0])};
  }
  std::vector<std::vector<bool>> connection_pattern(const Apply&) const override { return {{false, true}}; }

 private:
  const char* who() const override { return "slogdet"; }
};

template <class Kind>
std::vector<Sample> determinant_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, const Dims& type, std::int64_t n, double more, bool smooth = true) {
    Array a = sample_values(DType::Float64, {n, n}).copy();
    for (std::int64_t k = 0; k < n; ++k) a.mutable_data_as<double>()[k * n + (k + 1) % n] += more;
    const Variable x[] = {sample_input(dtype, type, "x")};
    out.push_back({make_ref<Kind>()->make_node(x), {a.astype(dtype)}, 1e-6, smooth && dtype == DType::Float64});
  };
  add(DType::Float64, {any, any}, 3, 4);
  add(DType::Float64, {4, 4}, 4, -5);
  add(DType::Float32, {any, any}, 3, 4);
  add(DType::Int64, {any, any}, 3, 4);
  add(DType::Float64, {any, any}, 1, 2);
  add(DType::Float64, {any, any}, 0, 0);
  add(DType::Float64, {any, any}, 20, 7, false);
  return out;
}

BITALE_REGISTER_OP(Det, "The determinant of a matrix, by LU factors with partial pivoting.", determinant_samples<Det>);
BITALE_REGISTER_OP(SLogDet, "The sign of the determinant of a matrix, and the logarithm of its absolute value.",
                   determinant_samples<SLogDet>);

}  // namespace

Variable det(const Operand& a) {
  const LocationScope here(a.where);
  const Variable& x = require_matrices("det", a);
  if (!is_complex(x)) return make_ref<Det>()->of({&x, 1})[0];
  const auto [sign, logarithm] = complex_slogdet(x);
  return mul(sign, exp(logarithm));
}

SignAndLogarithm slogdet(const Operand& a) {
  const LocationScope here(a.where);
  const Variable& x = require_matrices("slogdet", a);
  if (is_complex(x)) return complex_slogdet(x);
  const Variables out = make_ref<SLogDet>()->of({&x, 1});
  return {out[0], out[1]};
}

}  // namespace bitale
