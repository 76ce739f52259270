// Riccati's equations, discrete and continuous, of real and of complex matrices. The ops of complex matrices are on
// pairs of real numbers.
#include "runtime/riccati.hpp"
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/complex/decomposition.hpp"
#include "ops/linalg/lapack_forms.hpp"
#include "ops/linalg/linalg_core.hpp"
#include "ops/sample_values.hpp"

namespace bitale {

namespace {

constexpr const char* not_for_xla = "XLA's LAPACK does not sort the eigenvalues of a Schur form";

Variable hermitian_part(const Variable& x) {
  const Variable half = mul(x, cast(Operand(0.5), component_dtype(x.dtype())));
  return add(half, adjoint(half));
}

// The cotangents of A, B, Q and R, given the cotangents of A and Q (of_a and s) and the gain K: for B it is -of_a K^H,
// for R it is K s K^H.
Variables cotangents_of(const Variable& of_a, const Variable& s, const Variable& gain) {
  const Variable across = adjoint(gain);
  return {of_a, neg(dot(of_a, across)), s, dot(dot(gain, s), across)};
}

// The discrete equation. With K = (R + B^H X B)^-1 B^H X A and F = A - B K: dX = F^H dX F + dQ + K^H dR K + twice the
// Hermitian part of F^H X (dA - dB K) (Kao and Hennequin 2020, arXiv:2011.11430). S solves S = F S F^H + the Hermitian
// part of g.
Variables discrete_cotangents(std::span<const Variable> in, const Variable& x, const Variable& g) {
  const Variable &a = in[0], &b = in[1], bx = dot(adjoint(b), x);
  const Variable gain = solve(add(hermitian_part(in[3]), dot(bx, b)), dot(bx, a)), closed = sub(a, dot(b, gain));
  const Variable s = solve_discrete_lyapunov(closed, hermitian_part(g));
  const Variable once = dot(dot(x, closed), s);
  return cotangents_of(add(once, once), s, gain);
}

// The continuous equation. With K = R^-1 B^H X and F = A - B K: F^H dX + dX F + dQ + K^H dR K + twice the Hermitian
// part of X (dA - dB K) = 0 (Kao and Hennequin 2020). S solves F S + S F^H + the Hermitian part of g = 0.
Variables continuous_cotangents(std::span<const Variable> in, const Variable& x, const Variable& g) {
  const Variable &a = in[0], &b = in[1];
  const Variable gain = solve(hermitian_part(in[3]), dot(adjoint(b), x)), closed = sub(a, dot(b, gain));
  const Variable s = solve_continuous_lyapunov(closed, neg(hermitian_part(g)));
  const Variable once = dot(x, s);
  return cotangents_of(add(once, once), s, gain);
}

// A, B, Q and R of both equations.
class RiccatiOp : public DecompositionOp, public EmitsTensors {
 public:
  void emit_tensors(TensorLowering& to, const Apply&) const override { to.refuse(not_for_xla); }
  std::string signature() const override { return "(n,n),(n,m),(n,n),(m,m)->(n,n)"; }

  Apply make_node(std::span<const Variable> inputs) const override {
    const Variables own = matrices_of(inputs, 4);
    std::int64_t n = common_length(square_length(who(), own[0]), square_length(who(), own[2]), 0, who());
    n = common_length(n, own[1].static_shape()[0], 0, who());
    (void)common_length(own[1].static_shape()[1], square_length(who(), own[3]), 1, who());
    return Apply(OpRef(this), own, {tensor_type(own[0].dtype(), {n, n})});
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape> inputs) const override { return {inputs[0]}; }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    check_lengths(in);
    const Array a = in[0].contiguous(), b = in[1].contiguous(), q = in[2].contiguous(), r = in[3].contiguous();
    const std::int64_t n = a.shape(0), m = r.shape(0);
    out[0] = Array::empty(a.dtype(), {n, n});
    with_float(a.dtype(), [&]<class T>(T) {
      const auto solve = is_discrete() ? runtime::solve_discrete_are<T> : runtime::solve_continuous_are<T>;
      check(solve(n, m, a.data_as<T>(), b.data_as<T>(), q.data_as<T>(), r.data_as<T>(), out[0].mutable_data_as<T>()));
    });
  }
  bool emit(Lowering& to, const Apply& node) const override {
    const auto a = to.shape_in(0), b = to.shape_in(1);
    require_lengths(to);
    call_runtime(to, node, {a[0], b[1], InputData{0}, InputData{1}, InputData{2}, InputData{3}, OutputData{0}});
    return true;
  }
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[0].is_disconnected()) return no_gradients(node);
    const auto find = is_discrete() ? discrete_cotangents : continuous_cotangents;
    Variables out = find(node.inputs(), node.output(), cotangents[0]);
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = with_static_shape_of(node.input(int(k)), out[k]);
    return out;
  }

 private:
  virtual bool is_discrete() const = 0;
  std::string runtime_name() const override { return who(); }
};

class SolveDiscreteARE final : public RiccatiOp {
 public:
  std::string_view name() const override { return "SolveDiscreteARE"; }

 private:
  bool is_discrete() const override { return true; }
  const char* who() const override { return "solve_discrete_are"; }
};

class SolveContinuousARE final : public RiccatiOp {
 public:
  std::string_view name() const override { return "SolveContinuousARE"; }

 private:
  bool is_discrete() const override { return false; }
  const char* who() const override { return "solve_continuous_are"; }
};

class ComplexRiccatiOp : public ComplexDecomposition {
 public:
  void emit_tensors(TensorLowering& to, const Apply&) const override { to.refuse(not_for_xla); }
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[0].is_disconnected()) return no_gradients(node);
    Variables numbers, out;
    for (auto& each : node.inputs()) numbers.push_back(of_pairs(each));
    const auto find = is_discrete() ? discrete_cotangents : continuous_cotangents;
    for (auto& each : find(numbers, of_pairs(node.output()), of_pairs(cotangents[0])))
      out.push_back(with_static_shape_of(node.input(int(out.size())), as_pairs(each)));
    return out;
  }

 private:
  virtual bool is_discrete() const = 0;
  std::vector<std::string> inputs() const override { return {"nn2", "nc2", "nn2", "cc2"}; }
  std::vector<std::string> outputs() const override { return {"nn2"}; }
  std::int64_t run(DType dtype, std::int64_t, std::int64_t n, std::span<const Array> in,
                   std::span<const Array> out) const override {
    return with_float(dtype, [&]<class T>(T) {
      const auto solve =
          is_discrete() ? runtime::complex_solve_discrete_are<T> : runtime::complex_solve_continuous_are<T>;
      return solve(n, in[1].shape(1), in[0].data_as<T>(), in[1].data_as<T>(), in[2].data_as<T>(), in[3].data_as<T>(),
                   out[0].mutable_data_as<T>());
    });
  }
  std::string runtime_name() const override { return cat("complex_", who()); }
};

class ComplexSolveDiscreteARE final : public ComplexRiccatiOp {
 public:
  std::string_view name() const override { return "ComplexSolveDiscreteARE"; }

 private:
  bool is_discrete() const override { return true; }
  const char* who() const override { return "solve_discrete_are"; }
};

class ComplexSolveContinuousARE final : public ComplexRiccatiOp {
 public:
  std::string_view name() const override { return "ComplexSolveContinuousARE"; }

 private:
  bool is_discrete() const override { return false; }
  const char* who() const override { return "solve_continuous_are"; }
};

template <class Kind, bool of_pairs>
std::vector<Sample> riccati_samples() {
  constexpr auto any = unknown_length;
  constexpr std::int64_t parts = of_pairs ? 2 : 1;
  std::vector<Sample> out;
  // The matrix whose elements have this real part, and small imaginary parts that make a Hermitian matrix of it.
  const auto matrix = [](std::int64_t rows, std::int64_t columns, auto&& real) {
    Array x = Array::zeros(DType::Float64, of_pairs ? Dims{rows, columns, 2} : Dims{rows, columns});
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) {
        double* const at = x.mutable_data_as<double>() + (i * columns + j) * parts;
        at[0] = real(i, j);
        if (of_pairs) at[1] = 0.125 * double(i - j);
      }
    return x;
  };
  const auto add = [&](DType dtype, std::int64_t n, std::int64_t m, bool smooth = true) {
    Variables inputs;
    for (const char* name : {"a", "b", "q", "r"})
      inputs.push_back(sample_input(dtype, of_pairs ? Dims{any, any, 2} : Dims{any, any}, name));
    const auto symmetric = [&](std::int64_t size) {
      return matrix(size, size, [](std::int64_t i, std::int64_t j) { return i == j ? 3. + double(i) : 0.25; });
    };
    const auto values_of = [](const Array& values, std::int64_t columns, double scale, double more) {
      return [=](std::int64_t i, std::int64_t j) {
        return scale * values.data_as<double>()[i * columns + j] + (i == j ? more : 0);
      };
    };
    out.push_back({make_ref<Kind>()->make_node(inputs),
                   {matrix(n, n, values_of(sample_values(DType::Float64, {n, n}), n, .1, .5)).astype(dtype),
                    matrix(n, m, values_of(sample_values(DType::Float64, {n, m}, 1), m, 1, 0)).astype(dtype),
                    symmetric(n).astype(dtype), symmetric(m).astype(dtype)},
                   1e-6,
                   smooth && dtype == DType::Float64});
  };
  add(DType::Float64, 2, 1);
  add(DType::Float64, 3, 2);
  add(DType::Float64, 0, 1, false);
  add(DType::Float32, 2, 2);
  return out;
}

BITALE_REGISTER_OP(SolveDiscreteARE,
                   "The stabilising solution of the discrete algebraic Riccati equation, by doubling.",
                   (riccati_samples<SolveDiscreteARE, false>));
BITALE_REGISTER_OP(
    SolveContinuousARE,
    "The stabilising solution of the continuous algebraic Riccati equation, by the Hamiltonian's Schur form.",
    (riccati_samples<SolveContinuousARE, false>));
BITALE_REGISTER_OP(ComplexSolveDiscreteARE, "The same of the discrete equation of complex matrices, as pairs.",
                   (riccati_samples<ComplexSolveDiscreteARE, true>));
BITALE_REGISTER_OP(ComplexSolveContinuousARE, "The same of the continuous equation of complex matrices, as pairs.",
                   (riccati_samples<ComplexSolveContinuousARE, true>));

template <class Real, class Complex>
Variable solve_riccati(const char* who, const Operand& a, const Operand& b, const Operand& q, const Operand& r) {
  const LocationScope here(a.where);
  const Variable inputs[] = {require_matrices(who, a), require_matrices(who, b), require_matrices(who, q),
                             require_matrices(who, r)};
  if (any_complex({a.variable, b.variable, q.variable, r.variable}))
    return of_pairs(apply_pairs(make_ref<Complex>(), inputs).output());
  return apply_matrices(make_ref<Real>(), inputs);
}

}  // namespace

Variable solve_discrete_are(const Operand& a, const Operand& b, const Operand& q, const Operand& r) {
  return solve_riccati<SolveDiscreteARE, ComplexSolveDiscreteARE>("solve_discrete_are", a, b, q, r);
}
Variable solve_continuous_are(const Operand& a, const Operand& b, const Operand& q, const Operand& r) {
  return solve_riccati<SolveContinuousARE, ComplexSolveContinuousARE>("solve_continuous_are", a, b, q, r);
}

}  // namespace bitale
