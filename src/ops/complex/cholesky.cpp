// Cholesky factors of Hermitian positive definite matrices.
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/complex/decomposition.hpp"
#include "ops/sample_values.hpp"
#include "runtime/lapack.hpp"

namespace bitale {

namespace {

class ComplexCholesky final : public ComplexDecomposition {
 public:
  ComplexCholesky(bool lower, std::string on_error) : lower(lower), on_error(std::move(on_error)) {
    if (on_error_name(OnError::RaiseIfFinite) != this->on_error) require_on_error("cholesky", this->on_error);
  }
  bool lower;
  std::string on_error;
  static constexpr auto fields =
      attribute_list(attribute("lower", &ComplexCholesky::lower), attribute("on_error", &ComplexCholesky::on_error));

  std::string_view name() const override { return "ComplexCholesky"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }

  // dL = L phi(L^-1 dA L^-H), where phi takes the lower triangle and halves the diagonal. With P = phi(L^H g), whose
  // diagonal is real, and S = L^-H P L^-1, the loss changes by real(S o conj(dA)). Only one triangle is read, so the
  // gradient is that triangle of S + S^H, with the diagonal counted once. For the upper factor U it is the adjoint of
  // that.
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[0].is_disconnected()) return no_gradients(node);
    const auto as_lower = [&](const Variable& x) { return lower ? x : adjoint(x); };
    const Variable factor = as_lower(of_pairs(node.output())), g = as_lower(of_pairs(cotangents[0]));
    const Variable product = dot(adjoint(factor), g);
    const Variable half = mul(cast(Operand(0.5), g.dtype()), tril(triu(real(product))));
    const ComplexTriangle of_adjoint{.lower = true, .trans = 2};
    const Variable from_left = complex_solve_triangular(factor, add(tril(product, -1), half), of_adjoint, 2);
    const Variable s = complex_solve_triangular(factor, adjoint(from_left), of_adjoint, 2);  // S^H
    const Variable out = add(tril(add(s, adjoint(s)), -1), tril(triu(real(s))));
    return {with_static_shape_of(node.input(0), as_pairs(as_lower(out)))};
  }

 private:
  TensorValues emit_numbers(TensorLowering& to, const TensorValues& in) const override {
    return {cholesky_of(to, in[0], lower, on_error, failure())};
  }
  std::int64_t when_nan() const { return on_error == "nan" ? 1 : on_error == "raise" ? 0 : 2; }
  std::vector<std::string> outputs() const override { return {"nn2"}; }
  std::optional<int> overwritten() const override { return 0; }
  std::vector<std::int64_t> flags() const override { return {lower, when_nan()}; }
  std::int64_t run(DType dtype, std::int64_t, std::int64_t n, std::span<const Array>,
                   std::span<const Array> out) const override {
    return with_float(dtype, [&]<class T>(T) {
      return runtime::complex_cholesky(n, lower, when_nan(), out[0].mutable_data_as<T>());
    });
  }
  void fail(std::int64_t minor) const override {
    raise_linalg(
        cat("cholesky: the matrix is not positive definite: its leading minor of order ", minor, " is not positive"),
        "on_error=\"nan\" gives a factor that is all nan instead");
  }
  std::string runtime_name() const override { return "complex_cholesky"; }
  const char* who() const override { return "cholesky"; }
};

std::vector<Sample> complex_cholesky_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, std::int64_t n, bool lower, const char* on_error = "raise", double scale = 3) {
    Array a = sample_values(DType::Float64, {n, n, 2}).copy();
    // Imaginary parts of the diagonal are not read; where elements are taken in reverse order, they are its real parts.
    for (std::int64_t k = 0; k < n; ++k)
      for (const std::int64_t part : {0, 1})
        a.mutable_data_as<double>()[2 * (k * n + k) + part] = scale * double(n) + double(k);
    const Variable x[] = {sample_input(dtype, {any, any, 2}, "x")};
    out.push_back({make_ref<ComplexCholesky>(lower, on_error)->make_node(x),
                   {a.astype(dtype)},
                   1e-6,
                   n > 0 && n < 9 && scale > 0 && dtype == DType::Float64});
  };
  for (const bool lower : {true, false}) {
    add(DType::Float64, 3, lower);
    add(DType::Float32, 4, lower);
    add(DType::Float64, 20, lower);
    add(DType::Float64, 3, lower, "nan", -1);
  }
  add(DType::Float64, 1, true, "raise_if_finite");
  add(DType::Float64, 0, true);
  return out;
}

BITALE_REGISTER_OP(ComplexCholesky, "The Cholesky factor of a Hermitian positive definite matrix, as pairs.",
                   complex_cholesky_samples);

}  // namespace

Variable complex_cholesky(const Variable& x, bool lower, OnError on_error) {
  return of_pairs(apply_pairs(make_ref<ComplexCholesky>(lower, on_error_name(on_error)), x).output());
}

}  // namespace bitale
