// Eigenvalues and eigenvectors of symmetric and Hermitian matrices.
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "core/call_scope.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/linalg/lapack_op.hpp"
#include "ops/sample_values.hpp"
#include "runtime/decompositions.hpp"

namespace bitale {

namespace {

template <bool has_pairs>
class EigenOp : public LapackOp {
 public:
  EigenOp(bool lower, bool vectors) : LapackOp(has_pairs), lower(lower), vectors(vectors) {}
  bool lower, vectors;

  // V (diag(g_w) + F o (V^H g_V)) V^H with F_ij = 1 / (w_j - w_i) (Giles 2008). The diagonal of V^H g_V concerns
  // the phases of the vectors, on which no differentiable loss depends.
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    const bool has_w = !cotangents[0].is_disconnected(), has_v = vectors && !cotangents[1].is_disconnected();
    if (!has_w && !has_v) return no_gradients(node);
    const Variable inputs[] = {node.input(0)};
    const Apply both = vectors ? node : with_vectors()->make_node(inputs);
    const Variable w = both.output(0), v = numbers(both.output(1));
    Variable whole;
    if (has_v) {
      // Only the sum with the adjoint has an effect; its numerator is the skew part.
      const Variable g = numbers(cotangents[1]), product = dot(adjoint(v), g);
      const Variable skew = mul(skew_part(product), cast(Operand(0.5), w.dtype()));
      const Variable inner = over_differences(skew, sub(expand_dims(w, 0), expand_dims(w, 1)), zero_columns(g), w);
      whole = dot(dot(v, inner), adjoint(v));
    }
    if (has_w) {
      const Variable of_values = dot(mul(v, expand_dims(cotangents[0], 0)), adjoint(v));
      whole = has_v ? add(whole, of_values) : of_values;
    }
    return gradients(node, {where_read(whole)});
  }

 private:
  virtual Ref<const LapackOp> with_vectors() const = 0;
  // The gradient of the triangle that is read, from that of the whole matrix: the other triangle is its adjoint, so the
  // adjoint of its gradient is added.
  Variable where_read(const Variable& whole) const {
    const auto triangle = [&](const Variable& x, int k) { return lower ? tril(x, -k) : triu(x, k); };
    if (!has_pairs) return add(triangle(whole, 0), triangle(t(whole), 1));
    const Variable other = lower ? triu(whole, 1) : tril(whole, -1);
    return add(add(triangle(whole, 1), adjoint(other)), tril(triu(real(whole))));
  }

  TensorValues emit_numbers(TensorLowering& to, const TensorValues& in) const override {
    return eigh_of(to, in[0], lower, vectors, failure());
  }
  std::vector<std::string> outputs() const override {
    return vectors ? std::vector<std::string>{"mr", "mm"} : std::vector<std::string>{"mr"};
  }
  std::vector<std::int64_t> flags() const override { return {lower}; }
  std::int64_t run(const LapackOp::Call& to) const override {
    return to.with_numbers<has_pairs>([&]<class N>(N) {
      auto* const w = to.out<runtime::PartOf<N>>(0);
      if (!vectors) return runtime::eigvalsh<N>(to.m, lower, to.in<N>(0), w);
      return runtime::eigh<N>(to.m, lower, to.in<N>(0), w, to.out<N>(1));
    });
  }
  std::string routine() const override { return vectors ? "eigh" : "eigvalsh"; }
  const char* who() const override { return "eigh"; }
};

class Eigh final : public EigenOp<false> {
 public:
  explicit Eigh(bool lower) : EigenOp(lower, true) {}
  static constexpr auto fields = attribute_list(attribute("lower", &Eigh::lower));
  std::string_view name() const override { return "Eigh"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }
  Structure structure(const Apply&, int output, InputStructures&) const override {
    return output == 1 ? Structure{Fact::Orthogonal} : Structure();
  }

 private:
  Ref<const LapackOp> with_vectors() const override { return Ref<const LapackOp>(this); }
};

class Eigvalsh final : public EigenOp<false> {
 public:
  explicit Eigvalsh(bool lower) : EigenOp(lower, false) {}
  static constexpr auto fields = attribute_list(attribute("lower", &Eigvalsh::lower));
  std::string_view name() const override { return "Eigvalsh"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }

 private:
  Ref<const LapackOp> with_vectors() const override { return make_ref<Eigh>(lower); }
};

class ComplexEigh final : public EigenOp<true> {
 public:
  using EigenOp::EigenOp;
  static constexpr auto fields =
      attribute_list(attribute("lower", &ComplexEigh::lower), attribute("vectors", &ComplexEigh::vectors));
  std::string_view name() const override { return "ComplexEigh"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }

 private:
  Ref<const LapackOp> with_vectors() const override { return make_ref<ComplexEigh>(lower, true); }
};

template <class Kind>
std::vector<Sample> eigen_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, const Dims& type, std::int64_t n, bool lower, bool smooth = true) {
    Array a = sample_values(DType::Float64, {n, n}).copy();
    for (std::int64_t k = 0; k < n; ++k) a.mutable_data_as<double>()[k * n + k] += 5.0 * double(k);
    const Variable x[] = {sample_input(dtype, type, "x")};
    out.push_back({make_ref<Kind>(lower)->make_node(x), {a.astype(dtype)}, 1e-6, smooth && dtype == DType::Float64});
  };
  for (const bool lower : {true, false}) {
    add(DType::Float64, {any, any}, 3, lower);
    add(DType::Float64, {4, 4}, 4, lower);
    add(DType::Float32, {any, any}, 3, lower);
    add(DType::Float64, {any, any}, 12, lower, false);
  }
  add(DType::Float64, {any, any}, 1, true);
  add(DType::Float64, {any, any}, 0, true, false);
  add(DType::Int64, {any, any}, 2, true);
  return out;
}

BITALE_REGISTER_OP(Eigh, "Eigenvalues and eigenvectors of a symmetric matrix, of which one triangle is read.",
                   eigen_samples<Eigh>);
BITALE_REGISTER_OP(Eigvalsh, "Eigenvalues of a symmetric matrix, of which one triangle is read.",
                   eigen_samples<Eigvalsh>);

std::vector<Sample> complex_eigh_samples() {
  std::vector<Sample> out;
  for (const bool lower : {true, false})
    for (const bool vectors : {true, false})
      for (auto& sample :
           decomposition_samples(make_ref<ComplexEigh>(lower, vectors), {{3, 3}, {4, 4}, {0, 0}}, !vectors))
        out.push_back(sample);
  return out;
}

BITALE_REGISTER_OP(ComplexEigh,
                   "Eigenvalues and eigenvectors of a Hermitian matrix, of which one triangle is read, as pairs.",
                   complex_eigh_samples);

// The Hermitian matrix with the eigenvalues of a v = w b v, and the Cholesky factor of b.
std::pair<Variable, Variable> standard_form(const char* who, const Operand& left, const Operand& right, bool lower) {
  const auto [a, b] = required_square_pair(who, require_matrices(who, left), require_matrices(who, right));
  const Variable factor = cholesky(hermitian(b, lower));
  const SolveTriangularOptions from_left{.lower = true, .b_ndim = 2};
  const Variable half = solve_triangular(factor, hermitian(a, lower), from_left);
  return {solve_triangular(factor, adjoint(half), from_left), factor};
}

}  // namespace

EigenPairs eigh(const Operand& a, const std::optional<Operand>& b, const EighOptions& options) {
  const LocationScope here(a.where);
  const Variable& x = require_matrices("eigh", a);
  const CallScope call(b ? "eigh" : nullptr);
  if (b) {
    const auto [form, factor] = standard_form("eigh", a, *b, options.lower);
    const EigenPairs pairs = eigh(form);
    const SolveTriangularOptions transposed{.lower = true, .trans = true, .b_ndim = 2};
    return {pairs.values, conj(solve_triangular(factor, conj(pairs.vectors), transposed))};
  }
  const Variables out = is_complex(x) ? make_ref<ComplexEigh>(options.lower, true)->of({&x, 1})
                                      : make_ref<Eigh>(options.lower)->of({&x, 1});
  return {out[0], out[1]};
}

Variable eigvalsh(const Operand& a, const std::optional<Operand>& b, const EighOptions& options) {
  const LocationScope here(a.where);
  const Variable& x = require_matrices("eigvalsh", a);
  const CallScope call(b ? "eigvalsh" : nullptr);
  if (b) return eigvalsh(standard_form("eigvalsh", a, *b, options.lower).first);
  if (is_complex(x)) return make_ref<ComplexEigh>(options.lower, false)->of({&x, 1})[0];
  return make_ref<Eigvalsh>(options.lower)->of({&x, 1})[0];
}

}  // namespace bitale
