// Eigenvalues and eigenvectors of any matrix, real or complex: both are complex.
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/complex/decomposition.hpp"
#include "runtime/complex_decompositions.hpp"

namespace bitale {

namespace {

class Eig final : public ComplexDecomposition {
 public:
  Eig(bool of_real, bool vectors) : of_real(of_real), vectors(vectors) {}
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
    return {with_static_shape_of(node.input(0), of_real ? real(out) : as_pairs(out))};
  }

 private:
  TensorValues emit_numbers(TensorLowering& to, const TensorValues& in) const override {
    return eig_of(to, in[0], vectors, failure());
  }
  bool is_of_real() const override { return of_real; }
  std::vector<std::string> outputs() const override {
    return vectors ? std::vector<std::string>{"n2", "nn2"} : std::vector<std::string>{"n2"};
  }
  std::int64_t run(DType dtype, std::int64_t, std::int64_t n, std::span<const Array> in,
                   std::span<const Array> out) const override {
    return with_float(dtype, [&]<class T>(T) {
      const T* x = in[0].data_as<T>();
      T* w = out[0].mutable_data_as<T>();
      if (!vectors) return of_real ? runtime::eigvals<T>(n, x, w) : runtime::complex_eigvals<T>(n, x, w);
      T* v = out[1].mutable_data_as<T>();
      return of_real ? runtime::eig<T>(n, x, w, v) : runtime::complex_eig<T>(n, x, w, v);
    });
  }
  std::string runtime_name() const override { return cat(of_real ? "" : "complex_", vectors ? "eig" : "eigvals"); }
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

Apply eig_node(const char* who, const Operand& a, bool vectors) {
  const LocationScope here(a.where);
  const Variable& x = require_matrices(who, a);
  const Ref<const MatrixOp> op = make_ref<Eig>(!is_complex(x), vectors);
  if (is_complex(x)) return apply_pairs(op, x);
  const Variable inputs[] = {x};
  return blockwise(op, op->signature(), inputs);
}

}  // namespace

EigenPairs eig(const Operand& a) {
  const Apply node = eig_node("eig", a, true);
  return {of_pairs(node.output(0)), of_pairs(node.output(1))};
}

Variable eigvals(const Operand& a) { return of_pairs(eig_node("eigvals", a, false).output()); }

}  // namespace bitale
