// Singular value decompositions of complex matrices.
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/complex/decomposition.hpp"
#include "runtime/complex_decompositions.hpp"

namespace bitale {

namespace {

class ComplexSVD final : public ComplexDecomposition {
 public:
  ComplexSVD(bool full_matrices, bool compute_uv) : full_matrices(full_matrices), compute_uv(compute_uv) {}
  bool full_matrices, compute_uv;
  static constexpr auto fields = attribute_list(attribute("full_matrices", &ComplexSVD::full_matrices),
                                                attribute("compute_uv", &ComplexSVD::compute_uv));

  std::string_view name() const override { return "ComplexSVD"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }

  // Wan and Zhang 2019, arXiv:1909.02659: as for real matrices (svd.cpp), with an additional term for the imaginary
  // parts of the diagonals of U^H g_U and V^H g_V, which are opposite for a loss that does not depend on the vectors'
  // phases.
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    const bool has_u = compute_uv && !cotangents[0].is_disconnected();
    const bool has_v = compute_uv && !cotangents[2].is_disconnected();
    const Variable& of_s = cotangents[compute_uv ? 1 : 0];
    if (!has_u && !has_v && of_s.is_disconnected()) return no_gradients(node);
    const Dims& shape = node.input(0).static_shape();
    const bool is_square_matrix = shape[0] != unknown_length && shape[0] == shape[1];
    if (full_matrices && !is_square_matrix && (has_u || has_v))
      return {undefined_gradient(
          "svd: with full_matrices, U and Vh of a matrix that is not known to be square have no derivative: their last "
          "vectors are any basis of what is left. Without full_matrices they have one")};
    const bool has_factors = compute_uv && (!full_matrices || is_square_matrix);
    const Variable inputs[] = {node.input(0)};
    const Apply thin = has_factors ? node : make_ref<ComplexSVD>(false, true)->make_node(inputs);
    const Variable u = of_pairs(thin.output(0)), s = thin.output(1), vh = of_pairs(thin.output(2));
    Variable out;
    const auto plus = [&](const Variable& term) { out = out.defined() ? add(out, term) : term; };
    if (!of_s.is_disconnected()) plus(dot(mul(u, expand_dims(of_s, 0)), vh));
    Variable sums, differences, unused;
    if (has_u) {
      const Variable g = of_pairs(cotangents[0]), product = dot(adjoint(u), g);
      sums = differences = skew_part(product), unused = zero_columns(abs(g));
      if (!is_square_matrix) plus(dot(mul(sub(g, dot(u, product)), expand_dims(reciprocal_of_used(s, unused), 0)), vh));
    }
    if (has_v) {
      const Variable g = adjoint(of_pairs(cotangents[2])), product = dot(vh, g), own = skew_part(product);
      const Variable own_unused = zero_columns(abs(g));
      sums = has_u ? add(sums, own) : own, differences = has_u ? sub(differences, own) : neg(own);
      unused = has_u ? and_(unused, own_unused) : own_unused;
      if (!is_square_matrix)
        plus(
            dot(mul(u, expand_dims(reciprocal_of_used(s, own_unused), 0)), adjoint(sub(g, dot(adjoint(vh), product)))));
    }
    if (has_u || has_v) {
      const Variable row = expand_dims(s, 0), column = expand_dims(s, 1);
      const auto over = [&](const Variable& numerator, const Variable& difference) {
        return complex(over_differences(real(numerator), difference, unused, s),
                       over_differences(imag(numerator), difference, unused, s));
      };
      const Variable half = cast(Operand(0.5), s.dtype());
      const Variable phases = mul(mul(diagonal(imag(differences)), reciprocal_of_used(s, unused)), half);
      const Variable inner = add(add(over(sums, sub(row, column)), over(differences, add(row, column))),
                                 diag(complex(zeros_like(phases), phases)));
      plus(dot(dot(u, mul(inner, half)), vh));
    }
    return {with_static_shape_of(node.input(0), as_pairs(out))};
  }

 private:
  TensorValues emit_numbers(TensorLowering& to, const TensorValues& in) const override {
    return svd_of(to, in[0], full_matrices, compute_uv, failure());
  }
  bool is_square() const override { return false; }
  std::vector<std::string> outputs() const override {
    if (!compute_uv) return {"k"};
    if (full_matrices) return {"mm2", "k", "nn2"};
    return {"mk2", "k", "kn2"};
  }
  std::vector<std::int64_t> flags() const override {
    return compute_uv ? std::vector<std::int64_t>{full_matrices} : std::vector<std::int64_t>{};
  }
  std::int64_t run(DType dtype, std::int64_t m, std::int64_t n, std::span<const Array> in,
                   std::span<const Array> out) const override {
    return with_float(dtype, [&]<class T>(T) {
      const T* x = in[0].data_as<T>();
      if (!compute_uv) return runtime::complex_svdvals<T>(m, n, x, out[0].mutable_data_as<T>());
      return runtime::complex_svd<T>(m, n, full_matrices, x, out[0].mutable_data_as<T>(), out[1].mutable_data_as<T>(),
                                     out[2].mutable_data_as<T>());
    });
  }
  std::string runtime_name() const override { return compute_uv ? "complex_svd" : "complex_svdvals"; }
  const char* who() const override { return "svd"; }
};

std::vector<Sample> complex_svd_samples() {
  std::vector<Sample> out;
  const std::vector<Dims> shapes{{3, 3}, {4, 2}, {2, 4}, {0, 3}};
  for (const bool full : {false, true})
    for (const bool uv : {true, false})
      for (auto& sample : decomposition_samples(make_ref<ComplexSVD>(full, uv), shapes, !uv)) out.push_back(sample);
  return out;
}

BITALE_REGISTER_OP(ComplexSVD, "The singular value decomposition of a complex matrix, as pairs.", complex_svd_samples);

}  // namespace

SingularValues complex_svd(const Variable& x, bool full_matrices) {
  const Apply node = apply_pairs(make_ref<ComplexSVD>(full_matrices, true), x);
  return {of_pairs(node.output(0)), node.output(1), of_pairs(node.output(2))};
}

Variable complex_svdvals(const Variable& x) { return apply_pairs(make_ref<ComplexSVD>(false, false), x).output(); }

}  // namespace bitale
