// Cholesky factors of symmetric, or Hermitian, positive definite matrices.
#include <cmath>

#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/complex/systems.hpp"
#include "ops/linalg/cholesky_gradient.hpp"
#include "ops/linalg/lapack_op.hpp"
#include "ops/sample_values.hpp"
#include "runtime/lapack.hpp"

namespace bitale {

namespace {

template <bool has_pairs>
class Cholesky final : public LapackOp {
 public:
  Cholesky(bool lower, std::string on_error) : LapackOp(has_pairs), lower(lower), on_error(std::move(on_error)) {
    if (on_error_name(OnError::RaiseIfFinite) != this->on_error) require_on_error("cholesky", this->on_error);
  }
  bool lower;
  std::string on_error;
  static constexpr auto fields =
      attribute_list(attribute("lower", &Cholesky::lower), attribute("on_error", &Cholesky::on_error));

  std::string_view name() const override { return has_pairs ? "ComplexCholesky" : "Cholesky"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }

  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[0].is_disconnected()) return no_gradients(node);
    const auto as_lower = [&](const Variable& x) { return lower ? x : adjoint(x); };
    const Variable factor = as_lower(numbers(node.output())), g = as_lower(numbers(cotangents[0]));
    return gradients(node, {as_lower(has_pairs ? complex_gradient(factor, g) : cholesky_gradient(factor, g))});
  }

  // L lower_half(L^-1 dA L^-T), where dA is symmetric and given by the triangle that is read.
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override {
    if (tangents[0].is_disconnected()) return {disconnected()};
    const Variable factor = lower ? node.output() : transpose(node.output());
    const Variable triangle = lower ? tril(tangents[0]) : transpose(triu(tangents[0]));
    const Variable symmetric = add(triangle, transpose(tril(triangle, -1)));
    const SolveTriangularOptions from_left{.lower = true};
    const Variable half = transpose(solve_triangular(factor, symmetric, from_left));
    const Variable inner = solve_triangular(factor, half, from_left);
    const Variable out = dot(factor, lower_half(inner));
    return {lower ? out : transpose(out)};
  }
  bool has_pushforward() const override { return !has_pairs; }
  Structure structure(const Apply&, int, InputStructures& inputs) const override {
    if (has_pairs) return {};
    Structure out{lower ? Fact::LowerTriangular : Fact::UpperTriangular, Fact::PositiveDiagonal, Fact::Square};
    if (inputs.of(0).is(Fact::Diagonal)) out.add(Fact::Diagonal);
    return out;
  }

 private:
  // dL = L phi(L^-1 dA L^-H), where phi takes the lower triangle and halves the diagonal. With P = phi(L^H g), whose
  // diagonal is real, and S = L^-H P L^-1, the loss changes by real(S o conj(dA)). Only one triangle is read, so the
  // gradient is that triangle of S + S^H, with the diagonal counted once.
  static Variable complex_gradient(const Variable& factor, const Variable& g) {
    const Variable product = dot(adjoint(factor), g);
    const Variable half = mul(cast(Operand(0.5), g.dtype()), tril(triu(real(product))));
    const ComplexTriangle of_adjoint{.lower = true, .trans = 2};
    const Variable from_left = complex_solve_triangular(factor, add(tril(product, -1), half), of_adjoint, 2);
    const Variable s = complex_solve_triangular(factor, adjoint(from_left), of_adjoint, 2);  // S^H
    return add(tril(add(s, adjoint(s)), -1), tril(triu(real(s))));
  }
  TensorValues emit_numbers(TensorLowering& to, const TensorValues& in) const override {
    return {cholesky_of(to, in[0], lower, on_error, failure())};
  }
  std::int64_t when_nan() const { return on_error == "nan" ? 1 : on_error == "raise" ? 0 : 2; }
  std::vector<std::string> outputs() const override { return {"mm"}; }
  std::optional<int> overwritten() const override { return 0; }
  std::vector<std::int64_t> flags() const override { return {lower, when_nan()}; }
  std::int64_t run(const Call& to) const override {
    return to.with_numbers<has_pairs>(
        [&]<class N>(N) { return runtime::cholesky<N>(to.m, lower, when_nan(), to.out<N>(0)); });
  }
  void fail(std::int64_t minor) const override {
    raise_linalg(
        cat("cholesky: the matrix is not positive definite: its leading minor of order ", minor, " is not positive"),
        "on_error=\"nan\" gives a factor that is all nan instead");
  }
  const char* who() const override { return "cholesky"; }
};

std::vector<Sample> cholesky_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto positive = [](std::int64_t n) {
    Array values = sample_values(DType::Float64, {n, n}).copy();
    for (std::int64_t k = 0; k < n; ++k) values.mutable_data_as<double>()[k * n + k] = 3.0 * double(n) + double(k);
    return values;
  };
  const auto add = [&](DType dtype, const Dims& type, const Array& value, bool lower = true,
                       const char* on_error = "raise", bool smooth = true) {
    const Variable x[] = {sample_input(dtype, type, "x")};
    const auto op = make_ref<Cholesky<false>>(lower, on_error);
    out.push_back({op->make_node(x), {value.astype(dtype)}, 1e-6, smooth && dtype == DType::Float64});
  };
  for (const bool lower : {true, false}) {
    add(DType::Float64, {any, any}, positive(4), lower);
    add(DType::Float64, {3, 3}, positive(3), lower);
    add(DType::Float32, {any, any}, positive(5), lower);
    add(DType::Float64, {any, any}, positive(40), lower, "raise", false);
  }
  add(DType::Float64, {any, 1}, positive(1));
  add(DType::Float64, {any, any}, Array::zeros(DType::Float64, {0, 0}));
  add(DType::Int64, {any, any}, positive(3));
  Array indefinite = positive(3);
  indefinite.mutable_data_as<double>()[4] = -1;
  add(DType::Float64, {any, any}, indefinite, true, "nan", false);
  indefinite.mutable_data_as<double>()[4] = std::nan("");
  add(DType::Float64, {any, any}, indefinite, true, "nan", false);
  add(DType::Float64, {any, any}, indefinite, false, "raise_if_finite", false);
  return out;
}

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
    out.push_back({make_ref<Cholesky<true>>(lower, on_error)->make_node(x),
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

const RegisterOp register_cholesky(
    "Cholesky", "The Cholesky factor of a symmetric positive definite matrix, of which one triangle is read.",
    cholesky_samples, make_op<Cholesky<false>>);
const RegisterOp register_complex_cholesky("ComplexCholesky",
                                           "The Cholesky factor of a Hermitian positive definite matrix, as pairs.",
                                           complex_cholesky_samples, make_op<Cholesky<true>>);

}  // namespace

Variable cholesky(const Operand& x, const CholeskyOptions& options) {
  const LocationScope here(x.where);
  return apply_lapack<Cholesky>(require_matrices("cholesky", x), options.lower,
                                std::string(on_error_name(options.on_error)))[0];
}

}  // namespace bitale
