// Eigenvalues and eigenvectors of any matrix, real or complex: both are complex.
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/linalg/lapack_op.hpp"
#include "runtime/complex_decompositions.hpp"

namespace bitale {

namespace {

class Eig final : public LapackOp {
 public:
  Eig(bool of_real, bool vectors) : LapackOp(!of_real), of_real(of_real), vectors(vectors) {}
  bool of_real, vectors;
  static constexpr auto fields =
      attribute_list(attribute("of_real", &Eig::of_real), attribute("vectors", &Eig::vectors));
  std::string_view name() const override { return "Eig"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }

  // V^-H (diag(g_w) + (V^H g_V - V^H V diag(real(V^H g_V))) o E) V^H with E_ij = 1 / conj(w_j - w_i), 0 on the diagonal
  // (Boeddeker et al. 2019, arXiv:1701.00392, for vectors of length 1). If the loss uses vectors of equal eigenvalues,
  // the gradient is nan.
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    const bool has_w = !cotangents[0].is_disconnected(), has_v = vectors && !cotangents[1].is_disconnected();
    if (!has_w && !has_v) return no_gradients(node);
    const Variable inputs[] = {node.input(0)};
    const Apply whole = vectors ? node : make_ref<Eig>(of_real, true)->make_node(inputs);
    const Variable w = of_pairs(whole.output(0)), v = of_pairs(whole.output(1)), n = length_of(w, 0);
    Variable inner;
    if (has_v) {
      const Variable product = dot(adjoint(v), of_pairs(cotangents[1]));
      const Variable lengths_kept = mul(dot(adjoint(v), v), expand_dims(real(diagonal(product)), 0));
      const Variable same = eq(expand_dims(arange(n), 0), expand_dims(arange(n), 1));
      const Variable difference = conj(sub(expand_dims(w, 0), expand_dims(w, 1)));
      const Variable one = cast(Operand(1), w.dtype()), zero = cast(Operand(0), w.dtype());
      inner = switch_(same, zero, true_div(sub(product, lengths_kept), switch_(same, one, difference)));
    }
    if (has_w) {
      const Variable of_values = diag(of_pairs(cotangents[0]));
      inner = has_v ? add(inner, of_values) : of_values;
    }
    const Variable out = solve(adjoint(v), dot(inner, adjoint(v)), {.b_ndim = 2});
    return gradients(node, {of_real ? real(out) : out});
  }

 private:
  TensorValues emit_numbers(TensorLowering& to, const TensorValues& in) const override {
    return eig_of(to, in[0], vectors, failure());
  }
  // The outputs are complex for real matrices, too.
  std::vector<std::string> outputs() const override {
    return vectors ? std::vector<std::string>{"m2r", "mm2r"} : std::vector<std::string>{"m2r"};
  }
  std::int64_t run(const Call& to) const override {
    return to.with_numbers<false>([&]<class T>(T) {  // the runtime's functions take pairs
      const T* x = to.in<T>(0);
      T* w = to.out<T>(0);
      if (!vectors) return of_real ? runtime::eigvals<T>(to.m, x, w) : runtime::complex_eigvals<T>(to.m, x, w);
      return (of_real ? runtime::eig<T> : runtime::complex_eig<T>)(to.m, x, w, to.out<T>(1));
    });
  }
  std::string routine() const override { return vectors ? "eig" : "eigvals"; }
  const char* who() const override { return "eig"; }
};

std::vector<Sample> eig_samples() {
  std::vector<Sample> out;
  for (const bool of_real : {true, false})
    for (const bool vectors : {true, false})
      for (auto& sample :
           decomposition_samples(make_ref<Eig>(of_real, vectors), {{3, 3}, {4, 4}, {0, 0}}, !vectors, of_real))
        out.push_back(sample);
  return out;
}

BITALE_REGISTER_OP(Eig, "Eigenvalues and eigenvectors of a real or complex matrix, as pairs.", eig_samples);

Variables eig_outputs(const char* who, const Operand& a, bool vectors) {
  const LocationScope here(a.where);
  const Variable& x = require_matrices(who, a);
  Variables out = make_ref<Eig>(!is_complex(x), vectors)->of({&x, 1});
  for (auto& each : out) each = of_pairs(each);
  return out;
}

}  // namespace

EigenPairs eig(const Operand& a) {
  const Variables out = eig_outputs("eig", a, true);
  return {out[0], out[1]};
}

Variable eigvals(const Operand& a) { return eig_outputs("eigvals", a, false)[0]; }

}  // namespace bitale
