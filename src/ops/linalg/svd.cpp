// Singular value decompositions.
#include <algorithm>

#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/linalg/lapack_op.hpp"
#include "ops/sample_values.hpp"
#include "runtime/decompositions.hpp"

namespace bitale {

namespace {

template <bool has_pairs>
class SVD final : public LapackOp {
 public:
  SVD(bool full_matrices, bool compute_uv)
      : LapackOp(has_pairs), full_matrices(full_matrices), compute_uv(compute_uv) {}
  bool full_matrices, compute_uv;
  static constexpr auto fields =
      attribute_list(attribute("full_matrices", &SVD::full_matrices), attribute("compute_uv", &SVD::compute_uv));

  std::string_view name() const override { return has_pairs ? "ComplexSVD" : "SVD"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }

  Structure structure(const Apply&, int output, InputStructures&) const override {
    return !has_pairs && compute_uv && full_matrices && output != 1 ? Structure{Fact::Orthogonal} : Structure();
  }

  // Townsend 2016, "Differentiating the singular value decomposition"; for complex matrices Wan and Zhang 2019,
  // arXiv:1909.02659.
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    const Variable x = node.input(0);
    const bool has_u = compute_uv && !cotangents[0].is_disconnected();
    const bool has_v = compute_uv && !cotangents[2].is_disconnected();
    const Variable& of_s = cotangents[compute_uv ? 1 : 0];
    if (!has_u && !has_v && of_s.is_disconnected()) return no_gradients(node);
    const Dims& shape = x.static_shape();
    const bool is_square = shape[0] != unknown_length && shape[0] == shape[1];
    if (full_matrices && !is_square && (has_u || has_v))
      return {undefined_gradient(
          "svd: with full_matrices, U and Vh of a matrix that is not known to be square have no derivative: their last "
          "vectors are any basis of what is left. Without full_matrices they have one")};
    const bool has_factors = compute_uv && (!full_matrices || is_square);
    const Variable inputs[] = {x};
    const Apply thin = has_factors ? node : make_ref<SVD>(false, true)->make_node(inputs);
    const Variable u = numbers(thin.output(0)), s = thin.output(1), vh = numbers(thin.output(2));
    Variable out;
    const auto plus = [&](const Variable& term) { out = out.defined() ? add(out, term) : term; };
    if (!of_s.is_disconnected()) plus(dot(mul(u, expand_dims(of_s, 0)), vh));
    // Townsend's (a s_j + b s_i) / (s_j^2 - s_i^2), with the skew parts a of U^H g_U and b of V^H g_V, in partial
    // fractions, which lose no precision where values are close.
    Variable sums, differences, unused;
    if (has_u) {
      const Variable g = numbers(cotangents[0]), product = dot(adjoint(u), g);
      sums = differences = skew_part(product), unused = zero_columns(g);
      if (!is_square) plus(dot(mul(sub(g, dot(u, product)), expand_dims(reciprocal_of_used(s, unused), 0)), vh));
    }
    if (has_v) {
      const Variable g = adjoint(numbers(cotangents[2])), product = dot(vh, g), own = skew_part(product);
      const Variable own_unused = zero_columns(g);
      sums = has_u ? add(sums, own) : own, differences = has_u ? sub(differences, own) : neg(own);
      unused = has_u ? and_(unused, own_unused) : own_unused;
      if (!is_square)
        plus(
            dot(mul(u, expand_dims(reciprocal_of_used(s, own_unused), 0)), adjoint(sub(g, dot(adjoint(vh), product)))));
    }
    if (has_u || has_v) {
      const Variable row = expand_dims(s, 0), column = expand_dims(s, 1), half = cast(Operand(0.5), s.dtype());
      Variable inner = add(over_differences(sums, sub(row, column), unused, s),
                           over_differences(differences, add(row, column), unused, s));
      if (has_pairs) {
        // The imaginary parts of the diagonals of U^H g_U and V^H g_V, which are opposite for a loss that does not
        // depend on the vectors' phases.
        const Variable phases = mul(mul(diagonal(imag(differences)), reciprocal_of_used(s, unused)), half);
        inner = add(inner, diag(complex(zeros_like(phases), phases)));
      }
      plus(dot(dot(u, mul(inner, half)), vh));
    }
    return gradients(node, {out});
  }

 private:
  TensorValues emit_numbers(TensorLowering& to, const TensorValues& in) const override {
    return svd_of(to, in[0], full_matrices, compute_uv, failure());
  }
  std::vector<std::string> inputs() const override { return {"mn"}; }
  std::vector<std::string> outputs() const override {
    if (!compute_uv) return {"kr"};
    if (full_matrices) return {"mm", "kr", "nn"};
    return {"mk", "kr", "kn"};
  }
  std::vector<std::int64_t> flags() const override {
    return compute_uv ? std::vector<std::int64_t>{full_matrices} : std::vector<std::int64_t>{};
  }
  std::int64_t run(const Call& to) const override {
    return to.with_numbers<has_pairs>([&]<class N>(N) {
      using Part = runtime::PartOf<N>;
      if (!compute_uv) return runtime::svdvals<N>(to.m, to.n, to.in<N>(0), to.out<Part>(0));
      return runtime::svd<N>(to.m, to.n, full_matrices, to.in<N>(0), to.out<N>(0), to.out<Part>(1), to.out<N>(2));
    });
  }
  std::string routine() const override { return compute_uv ? "svd" : "svdvals"; }
  const char* who() const override { return "svd"; }
};

std::vector<Sample> svd_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, const Dims& type, const Dims& shape, bool full, bool uv, bool smooth = true) {
    Array a = sample_values(DType::Float64, shape).copy();
    for (std::int64_t k = 0; k < std::min(shape[0], shape[1]); ++k)
      a.mutable_data_as<double>()[k * shape[1] + k] += 3.0 * double(k + 1);
    const Variable x[] = {sample_input(dtype, type, "x")};
    out.push_back(
        {make_ref<SVD<false>>(full, uv)->make_node(x), {a.astype(dtype)}, 1e-6, smooth && dtype == DType::Float64});
  };
  for (const bool uv : {true, false}) {
    add(DType::Float64, {any, any}, {3, 3}, false, uv);
    add(DType::Float64, {any, any}, {4, 2}, false, uv);
    add(DType::Float64, {any, any}, {2, 4}, false, uv);
    add(DType::Float64, {3, 3}, {3, 3}, true, uv);
    add(DType::Float32, {any, any}, {3, 2}, false, uv);
    add(DType::Float64, {any, any}, {4, 3}, true, uv, !uv);
    add(DType::Float64, {any, any}, {0, 3}, true, uv, false);
    add(DType::Float64, {any, any}, {1, 1}, false, uv);
    add(DType::Int64, {any, any}, {3, 3}, false, uv);
  }
  return out;
}

std::vector<Sample> complex_svd_samples() {
  std::vector<Sample> out;
  const std::vector<Dims> shapes{{3, 3}, {4, 2}, {2, 4}, {0, 3}};
  for (const bool full : {false, true})
    for (const bool uv : {true, false})
      for (auto& sample : decomposition_samples(make_ref<SVD<true>>(full, uv), shapes, !uv)) out.push_back(sample);
  return out;
}

const RegisterOp register_svd("SVD", "The singular value decomposition of a matrix.", svd_samples, make_op<SVD<false>>);
const RegisterOp register_complex_svd("ComplexSVD", "The singular value decomposition of a complex matrix, as pairs.",
                                      complex_svd_samples, make_op<SVD<true>>);

}  // namespace

SingularValues svd(const Operand& x, const SvdOptions& options) {
  const LocationScope here(x.where);
  const Variables out = apply_lapack<SVD>(require_matrices("svd", x), options.full_matrices, true);
  return {out[0], out[1], out[2]};
}

Variable svdvals(const Operand& x) {
  const LocationScope here(x.where);
  return apply_lapack<SVD>(require_matrices("svd", x), false, false)[0];
}

}  // namespace bitale
