// Sylvester's and Lyapunov's equations.
#include "bitale/ops/contraction.hpp"
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "core/call_scope.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/complex/decomposition.hpp"
#include "ops/linalg/lapack_forms.hpp"
#include "ops/linalg/linalg_core.hpp"
#include "ops/sample_values.hpp"
#include "runtime/matrix_functions.hpp"

namespace bitale {

namespace {

class SolveSylvester final : public DecompositionOp, public EmitsTensors {
 public:
  std::string_view name() const override { return "SolveSylvester"; }
  std::string signature() const override { return "(m,m),(n,n),(m,n)->(m,n)"; }

  Apply make_node(std::span<const Variable> inputs) const override {
    const Variables own = matrices_of(inputs, 3);
    Dims shape = own[2].static_shape();
    for (const std::size_t k : {0, 1}) shape[k] = common_length(square_length(who(), own[k]), shape[k], int(k), who());
    return Apply(OpRef(this), own, {tensor_type(own[2].dtype(), shape)});
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape> inputs) const override { return {inputs[2]}; }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    check_lengths(in);
    const Array a = in[0].contiguous(), b = in[1].contiguous(), q = in[2].contiguous();
    const std::int64_t m = a.shape(0), n = b.shape(0);
    out[0] = Array::empty(a.dtype(), {m, n});
    with_float(a.dtype(), [&]<class T>(T) {
      check(runtime::solve_sylvester<T>(m, n, a.data_as<T>(), b.data_as<T>(), q.data_as<T>(),
                                        out[0].mutable_data_as<T>()));
    });
  }
  bool emit(Lowering& to, const Apply& node) const override {
    const auto q = to.shape_in(2);
    require_lengths(to);
    call_runtime(to, node, {q[0], q[1], InputData{0}, InputData{1}, InputData{2}, OutputData{0}});
    return true;
  }

  void emit_tensors(TensorLowering& to, const Apply&) const override {
    const TensorValue a = to.in(0), b = to.in(1), q = to.in(2);
    check_lengths(to);
    to.out(0, solve_sylvester_by_lu(to, a, b, q, failure()));
  }

  // A dX + dX B = dQ - dA X - X dB.
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[0].is_disconnected()) return no_gradients(node);
    const Variable a = node.input(0), b = node.input(1), x = node.output();
    const Variable s = (*this)({t(a), t(b), cotangents[0]});
    return {with_static_shape_of(a, neg(dot(s, t(x)))), with_static_shape_of(b, neg(dot(t(x), s))),
            with_static_shape_of(node.input(2), s)};
  }

 private:
  std::string runtime_name() const override { return "solve_sylvester"; }
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
    out.push_back({make_ref<SolveSylvester>()->make_node(inputs),
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

BITALE_REGISTER_OP(SolveSylvester, "The solution of A X + X B = Q, by Schur forms.", sylvester_samples);

}  // namespace

Variable solve_sylvester(const Operand& a, const Operand& b, const Operand& q) {
  const LocationScope here(a.where);
  const Variable inputs[] = {require_matrices("solve_sylvester", a), require_matrices("solve_sylvester", b),
                             require_matrices("solve_sylvester", q)};
  if (any_complex({a.variable, b.variable, q.variable}))
    return complex_solve_sylvester(a.variable, b.variable, q.variable);
  return apply_matrices(make_ref<SolveSylvester>(), inputs);
}

Variable solve_continuous_lyapunov(const Operand& a, const Operand& q) {
  const LocationScope here(a.where);
  const CallScope call("solve_continuous_lyapunov");
  const auto [x, right] =
      required_square_pair("solve_continuous_lyapunov", require_matrices("solve_continuous_lyapunov", a),
                           require_matrices("solve_continuous_lyapunov", q));
  return solve_sylvester(x, is_complex(x) ? adjoint(x) : t(x), right);
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
    const Variable system = sub(eye(all, {}, 0, dtype), kron(x, is_complex(x) ? conj(x) : x));
    const Variable solution = solve(system, reshape(right, Operands{all}), {.b_ndim = 1});
    return reshape(solution, Operands{n, n});
  }
  // With M = (A + I)^-1 (A - I): M X + X M^H = -2 (A + I)^-1 Q (A + I)^-H.
  const Variable inverse = inv(add(x, unit)), moved = matmul(inverse, sub(x, unit));
  const Variable across = is_complex(inverse) ? adjoint(inverse) : t(inverse);
  return solve_continuous_lyapunov(
      moved, mul(cast(Operand(-2.), component_dtype(dtype)), matmul(matmul(inverse, right), across)));
}

}  // namespace bitale
