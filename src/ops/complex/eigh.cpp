// Eigenvalues and eigenvectors of Hermitian matrices.
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/complex/decomposition.hpp"
#include "runtime/complex_decompositions.hpp"

namespace bitale {

namespace {

class ComplexEigh final : public ComplexDecomposition {
 public:
  ComplexEigh(bool lower, bool vectors) : lower(lower), vectors(vectors) {}
  bool lower, vectors;
  static constexpr auto fields =
      attribute_list(attribute("lower", &ComplexEigh::lower), attribute("vectors", &ComplexEigh::vectors));
  std::string_view name() const override { return "ComplexEigh"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }

  // V (diag(g_w) + F o (V^H g_V)) V^H with F_ij = 1 / (w_j - w_i). The diagonal of V^H g_V concerns the phases of the
  // vectors, on which no differentiable loss depends.
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    const bool has_w = !cotangents[0].is_disconnected(), has_v = vectors && !cotangents[1].is_disconnected();
    if (!has_w && !has_v) return no_gradients(node);
    const Variable inputs[] = {node.input(0)};
    const Apply whole_node = vectors ? node : make_ref<ComplexEigh>(lower, true)->make_node(inputs);
    const Variable w = whole_node.output(0), v = of_pairs(whole_node.output(1));
    Variable whole;
    if (has_v) {
      const Variable g = of_pairs(cotangents[1]), difference = sub(expand_dims(w, 0), expand_dims(w, 1));
      const Variable skew = mul(skew_part(dot(adjoint(v), g)), cast(Operand(0.5), w.dtype()));
      const Variable unused = zero_columns(abs(g));
      const Variable inner = complex(over_differences(real(skew), difference, unused, w),
                                     over_differences(imag(skew), difference, unused, w));
      whole = dot(dot(v, inner), adjoint(v));
    }
    if (has_w) {
      const Variable of_values = dot(mul(v, expand_dims(cotangents[0], 0)), adjoint(v));
      whole = has_v ? add(whole, of_values) : of_values;
    }
    // The other triangle is the adjoint of the one that is read, so the adjoint of its gradient is added.
    const Variable strict = lower ? tril(whole, -1) : triu(whole, 1), other = lower ? triu(whole, 1) : tril(whole, -1);
    const Variable read = add(add(strict, adjoint(other)), tril(triu(real(whole))));
    return {with_static_shape_of(node.input(0), as_pairs(read))};
  }

 private:
  TensorValues emit_numbers(TensorLowering& to, const TensorValues& in) const override {
    return eigh_of(to, in[0], lower, vectors, failure());
  }
  std::vector<std::string> outputs() const override {
    return vectors ? std::vector<std::string>{"n", "nn2"} : std::vector<std::string>{"n"};
  }
  std::vector<std::int64_t> flags() const override { return {lower}; }
  std::int64_t run(DType dtype, std::int64_t, std::int64_t n, std::span<const Array> in,
                   std::span<const Array> out) const override {
    return with_float(dtype, [&]<class T>(T) {
      const T* x = in[0].data_as<T>();
      if (!vectors) return runtime::complex_eigvalsh<T>(n, lower, x, out[0].mutable_data_as<T>());
      return runtime::complex_eigh<T>(n, lower, x, out[0].mutable_data_as<T>(), out[1].mutable_data_as<T>());
    });
  }
  std::string runtime_name() const override { return vectors ? "complex_eigh" : "complex_eigvalsh"; }
  const char* who() const override { return "eigh"; }
};

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

}  // namespace

EigenPairs complex_eigh(const Variable& x, bool lower) {
  const Apply node = apply_pairs(make_ref<ComplexEigh>(lower, true), x);
  return {node.output(0), of_pairs(node.output(1))};
}

Variable complex_eigvalsh(const Variable& x, bool lower) {
  return apply_pairs(make_ref<ComplexEigh>(lower, false), x).output();
}

}  // namespace bitale
