// Riccati's equations, discrete and continuous.
#include "runtime/riccati.hpp"
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/linalg/lapack_op.hpp"
#include "ops/sample_values.hpp"

namespace bitale {

namespace {

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
template <bool has_pairs>
class RiccatiOp : public LapackOp {
 public:
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[0].is_disconnected()) return no_gradients(node);
    Variables in;
    for (auto& each : node.inputs()) in.push_back(numbers(each));
    const auto find = is_discrete() ? discrete_cotangents : continuous_cotangents;
    return gradients(node, find(in, numbers(node.output()), numbers(cotangents[0])));
  }

 protected:
  RiccatiOp() : LapackOp(has_pairs) {}

 private:
  virtual bool is_discrete() const = 0;
  TensorValues emit_numbers(TensorLowering& to, const TensorValues&) const override {
    to.refuse("XLA's LAPACK does not sort the eigenvalues of a Schur form");
    return {};
  }
  std::vector<std::string> inputs() const override { return {"nn", "nk", "nn", "kk"}; }
  std::vector<std::string> outputs() const override { return {"nn"}; }
  std::int64_t run(const LapackOp::Call& to) const override {
    return to.with_numbers<has_pairs>([&]<class N>(N) {
      const auto solve = is_discrete() ? runtime::solve_discrete_are<N> : runtime::solve_continuous_are<N>;
      return solve(to.n, to.k, to.in<N>(0), to.in<N>(1), to.in<N>(2), to.in<N>(3), to.out<N>(0));
    });
  }
};

template <bool has_pairs>
class SolveDiscreteARE final : public RiccatiOp<has_pairs> {
 public:
  std::string_view name() const override { return has_pairs ? "ComplexSolveDiscreteARE" : "SolveDiscreteARE"; }

 private:
  bool is_discrete() const override { return true; }
  const char* who() const override { return "solve_discrete_are"; }
};

template <bool has_pairs>
class SolveContinuousARE final : public RiccatiOp<has_pairs> {
 public:
  std::string_view name() const override { return has_pairs ? "ComplexSolveContinuousARE" : "SolveContinuousARE"; }

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

const RegisterOp register_discrete("SolveDiscreteARE",
                                   "The stabilising solution of the discrete algebraic Riccati equation, by doubling.",
                                   riccati_samples<SolveDiscreteARE<false>, false>, make_op<SolveDiscreteARE<false>>);
const RegisterOp register_continuous(
    "SolveContinuousARE",
    "The stabilising solution of the continuous algebraic Riccati equation, by the Hamiltonian's Schur form.",
    riccati_samples<SolveContinuousARE<false>, false>, make_op<SolveContinuousARE<false>>);
const RegisterOp register_complex_discrete("ComplexSolveDiscreteARE",
                                           "The same of the discrete equation of complex matrices, as pairs.",
                                           riccati_samples<SolveDiscreteARE<true>, true>,
                                           make_op<SolveDiscreteARE<true>>);
const RegisterOp register_complex_continuous("ComplexSolveContinuousARE",
                                             "The same of the continuous equation of complex matrices, as pairs.",
                                             riccati_samples<SolveContinuousARE<true>, true>,
                                             make_op<SolveContinuousARE<true>>);

template <template <bool> class Kind>
Variable solve_riccati(const char* who, const Operand& a, const Operand& b, const Operand& q, const Operand& r) {
  const LocationScope here(a.where);
  const Variable inputs[] = {require_matrices(who, a), require_matrices(who, b), require_matrices(who, q),
                             require_matrices(who, r)};
  return apply_lapack<Kind>(inputs)[0];
}

}  // namespace

Variable solve_discrete_are(const Operand& a, const Operand& b, const Operand& q, const Operand& r) {
  return solve_riccati<SolveDiscreteARE>("solve_discrete_are", a, b, q, r);
}
Variable solve_continuous_are(const Operand& a, const Operand& b, const Operand& q, const Operand& r) {
  return solve_riccati<SolveContinuousARE>("solve_continuous_are", a, b, q, r);
}

}  // namespace bitale
