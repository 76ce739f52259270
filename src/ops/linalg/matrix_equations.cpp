// Sylvester's and Lyapunov's equations.
#include "bitale/ops/contraction.hpp"
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "core/call_scope.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/linalg/lapack_op.hpp"
#include "ops/sample_values.hpp"
#include "runtime/matrix_functions.hpp"

namespace bitale {

namespace {

template <bool has_pairs>
class SolveSylvester final : public LapackOp {
 public:
  SolveSylvester() : LapackOp(has_pairs) {}
  std::string_view name() const override { return has_pairs ? "ComplexSolveSylvester" : "SolveSylvester"; }

  // A dX + dX B = dQ - dA X - X dB.
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[0].is_disconnected()) return no_gradients(node);
    const Variable a = numbers(node.input(0)), b = numbers(node.input(1)), x = numbers(node.output());
    const Variable matrices[] = {adjoint(a), adjoint(b), numbers(cotangents[0])};
    const Variable s = of(matrices)[0];
    return gradients(node, {neg(dot(s, adjoint(x))), neg(dot(adjoint(x), s)), s});
  }

 private:
  TensorValues emit_numbers(TensorLowering& to, const TensorValues& in) const override {
    return {solve_sylvester_by_lu(to, in[0], in[1], in[2], failure())};
  }
  std::vector<std::string> inputs() const override { return {"mm", "nn", "mn"}; }
  std::vector<std::string> outputs() const override { return {"mn"}; }
  std::int64_t run(const Call& to) const override {
    return to.with_numbers<has_pairs>([&]<class N>(N) {
      return runtime::solve_sylvester<N>(to.m, to.n, to.in<N>(0), to.in<N>(1), to.in<N>(2), to.out<N>(0));
    });
  }
  const char* who() const override { return "solve_sylvester"; }
};

Array dominant(std::int64_t n, double more, int seed) {
  Array a = sample_values(DType::Float64, {n, n}, seed).copy();
  for (std::int64_t k = 0; k < n; ++k) a.mutable_data_as<double>()[k * n + k] += more;
  return a;
}

std::vector<Sample> sylvester_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, std::int64_t m, std::int64_t n, bool smooth = true) {
    const Variable inputs[] = {sample_input(dtype, {any, any}, "a"), sample_input(dtype, {any, any}, "b"),
                               sample_input(dtype, {any, any}, "q")};
    out.push_back({make_ref<SolveSylvester<false>>()->make_node(inputs),
                   {dominant(m, 8, 0).astype(dtype), dominant(n, 9, 1).astype(dtype), sample_values(dtype, {m, n}, 2)},
                   1e-6,
                   smooth && dtype == DType::Float64});
  };
  add(DType::Float64, 3, 2);
  add(DType::Float64, 1, 1);
  add(DType::Float64, 0, 2, false);
  add(DType::Float32, 2, 3);
  return out;
}

std::vector<Sample> complex_sylvester_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, std::int64_t m, std::int64_t n) {
    const Variable inputs[] = {sample_input(dtype, {any, any, 2}, "a"), sample_input(dtype, {any, any, 2}, "b"),
                               sample_input(dtype, {any, any, 2}, "q")};
    const auto regular = [&](std::int64_t length) {
      Array a = sample_values(DType::Float64, {length, length, 2}).copy();
      for (std::int64_t k = 0; k < length; ++k)
        a.mutable_data_as<double>()[2 * (k * length + k)] += 4.0 * double(length);
      return a.astype(dtype);
    };
    out.push_back({make_ref<SolveSylvester<true>>()->make_node(inputs),
                   {regular(m), regular(n), sample_values(dtype, {m, n, 2}, 2)},
                   1e-6,
                   m > 0 && n > 0 && dtype == DType::Float64});
  };
  add(DType::Float64, 3, 2);
  add(DType::Float64, 2, 2);
  add(DType::Float64, 0, 2);
  add(DType::Float32, 3, 4);
  return out;
}

const RegisterOp register_sylvester("SolveSylvester", "The solution of A X + X B = Q, by Schur forms.",
                                    sylvester_samples, make_op<SolveSylvester<false>>);
const RegisterOp register_complex_sylvester(
    "ComplexSolveSylvester", "The solution of A X + X B = Q of complex matrices, as pairs, by Schur forms.",
    complex_sylvester_samples, make_op<SolveSylvester<true>>);

}  // namespace

Variable solve_sylvester(const Operand& a, const Operand& b, const Operand& q) {
  const LocationScope here(a.where);
  const Variable inputs[] = {require_matrices("solve_sylvester", a), require_matrices("solve_sylvester", b),
                             require_matrices("solve_sylvester", q)};
  return apply_lapack<SolveSylvester>(inputs)[0];
}

Variable solve_continuous_lyapunov(const Operand& a, const Operand& q) {
  const LocationScope here(a.where);
  const CallScope call("solve_continuous_lyapunov");
  const auto [x, right] =
      required_square_pair("solve_continuous_lyapunov", require_matrices("solve_continuous_lyapunov", a),
                           require_matrices("solve_continuous_lyapunov", q));
  return solve_sylvester(x, adjoint(x), right);
}

Variable solve_discrete_lyapunov(const Operand& a, const Operand& q, LyapunovMethod method) {
  const LocationScope here(a.where);
  const CallScope call("solve_discrete_lyapunov");
  const auto [x, right] =
      required_square_pair("solve_discrete_lyapunov", require_matrices("solve_discrete_lyapunov", a),
                           require_matrices("solve_discrete_lyapunov", q));
  const bool has_complex = any_complex({x, right});
  const DType dtype = has_complex ? promote(x.dtype(), right.dtype()) : matrix_dtype({&x, 1});
  const Variable unit = eye(length_of(x, x.ndim() - 1), {}, 0, dtype);
  if (method == LyapunovMethod::Direct && x.ndim() == 2 && right.ndim() == 2) {
    // (I - kron(A, conj(A))) vec(X) = vec(Q), by rows
    const Variable n = length_of(x, 0), all = lengths::mul(n, n);
    const Variable system = sub(eye(all, {}, 0, dtype), kron(x, conj(x)));
    const Variable solution = solve(system, reshape(right, Operands{all}), {.b_ndim = 1});
    return reshape(solution, Operands{n, n});
  }
  // With M = (A + I)^-1 (A - I): M X + X M^H = -2 (A + I)^-1 Q (A + I)^-H.
  const Variable inverse = inv(add(x, unit)), moved = matmul(inverse, sub(x, unit));
  const Variable across = adjoint(inverse);
  return solve_continuous_lyapunov(
      moved, mul(cast(Operand(-2.), component_dtype(dtype)), matmul(matmul(inverse, right), across)));
}

}  // namespace bitale
