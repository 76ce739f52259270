// Cholesky factors of symmetric positive definite matrices.
#include <cmath>

#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "bitale/runtime/functions.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/complex/decomposition.hpp"
#include "ops/linalg/cholesky_gradient.hpp"
#include "ops/linalg/lapack_forms.hpp"
#include "ops/linalg/linalg_core.hpp"
#include "ops/sample_values.hpp"
#include "runtime/lapack.hpp"

namespace bitale {

namespace {

class Cholesky final : public MatrixOp, public EmitsTensors {
 public:
  Cholesky(bool lower, std::string on_error) : lower(lower), on_error(std::move(on_error)) {
    if (on_error_name(OnError::RaiseIfFinite) != this->on_error) require_on_error("cholesky", this->on_error);
  }
  bool lower;
  std::string on_error;
  static constexpr auto fields =
      attribute_list(attribute("lower", &Cholesky::lower), attribute("on_error", &Cholesky::on_error));

  std::string_view name() const override { return "Cholesky"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }
  std::string signature() const override { return "(m,m)->(m,m)"; }
  std::string_view failure() const override { return runtime::function_named("bt_cholesky_f64").failure; }

  Apply make_node(std::span<const Variable> inputs) const override {
    require_inputs(*this, inputs, 1);
    const Variable x = cast(inputs[0], matrix_dtype(inputs));
    if (x.ndim() != 2)
      throw ShapeError(cat("cholesky: expected a matrix, got ", x.str(), " with ", x.ndim(), " dimensions"));
    require_square("cholesky", x);
    const Dims& shape = x.static_shape();
    const std::int64_t n = common_length(shape[0], shape[1], 0, "cholesky");
    return Apply(OpRef(this), {x}, {tensor_type(x.dtype(), {n, n})});
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape> inputs) const override { return {inputs[0]}; }

  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    check_lengths(in);
    out[0] = in[0].copy();
    const std::int64_t n = in[0].shape(0);
    const auto factor = [&]<class T>(T* data) { return runtime::cholesky(n, lower, when_nan(), data); };
    const std::int64_t minor = in[0].dtype() == DType::Float32 ? factor(out[0].mutable_data_as<float>())
                                                               : factor(out[0].mutable_data_as<double>());
    if (!minor) return;
    raise_linalg(
        cat("cholesky: the matrix is not positive definite: its leading minor of order ", minor, " is not positive"),
        "on_error=\"nan\" gives a factor that is all nan instead");
  }

  bool emit(Lowering& to, const Apply& node) const override {
    const Expr n = to.shape_in(0)[0];
    require_lengths(to);
    to.call(lapack_name("cholesky", node.output().dtype()),
            {n, to.pool().integer(lower), to.pool().integer(when_nan()), OutputData{0, {}, 0}});
    return true;
  }

  void emit_tensors(TensorLowering& to, const Apply&) const override {
    const TensorValue x = to.in(0);
    check_lengths(to);
    to.out(0, cholesky_of(to, x, lower, on_error, failure()));
  }

  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[0].is_disconnected()) return no_gradients(node);
    const Variable out = lower ? cholesky_gradient(node.output(), cotangents[0])
                               : transpose(cholesky_gradient(transpose(node.output()), transpose(cotangents[0])));
    return {with_static_shape_of(node.input(0), out)};
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
  bool has_pushforward() const override { return true; }
  Structure structure(const Apply&, int, InputStructures& inputs) const override {
    Structure out{lower ? Fact::LowerTriangular : Fact::UpperTriangular, Fact::PositiveDiagonal, Fact::Square};
    if (inputs.of(0).is(Fact::Diagonal)) out.add(Fact::Diagonal);
    return out;
  }
  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override { return connect_first(node, 1); }

 private:
  const char* who() const override { return "cholesky"; }
  std::int64_t when_nan() const { return on_error == "nan" ? 1 : on_error == "raise" ? 0 : 2; }
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
    const auto op = make_ref<Cholesky>(lower, on_error);
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

BITALE_REGISTER_OP(Cholesky,
                   "The Cholesky factor of a symmetric positive definite matrix, of which one triangle is read.",
                   cholesky_samples);

}  // namespace

Variable cholesky(const Operand& x, const CholeskyOptions& options) {
  const LocationScope here(x.where);
  if (x.ndim() < 2)
    throw ShapeError(cat("cholesky: expected a matrix, or a batch of them, got ", x.variable.str(), " with ", x.ndim(),
                         " dimensions"));
  if (is_complex(x.variable)) return complex_cholesky(x.variable, options.lower, options.on_error);
  const Variable inputs[] = {x.variable};
  return apply_matrices(make_ref<Cholesky>(options.lower, on_error_name(options.on_error)), inputs);
}

}  // namespace bitale
