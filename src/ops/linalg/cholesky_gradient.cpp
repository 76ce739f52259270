// The gradient of a Cholesky factor, as one function instead of a product and two triangular systems.
#include "ops/linalg/cholesky_gradient.hpp"

#include "bitale/ops/op_from_graph.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/linalg/linalg_core.hpp"
#include "ops/sample_values.hpp"
#include "ops/tensor_lowering.hpp"
#include "runtime/cholesky_gradient.hpp"

namespace bitale {

Variable lower_half(const Variable& x) {
  const Variable row = expand_dims(arange(length_of(x, 0)), 1), column = arange(length_of(x, 1));
  const Variable zero = cast(Operand(0), x.dtype()), half = cast(Operand(0.5), x.dtype());
  return switch_(lt(column, row), x, switch_(eq(column, row), mul(half, x), zero));
}

namespace {

class CholeskyGradient final : public MatrixOp, public EmitsTensors {
 public:
  std::string_view name() const override { return "CholeskyGradient"; }
  std::string signature() const override { return "(m,m),(m,m)->(m,m)"; }
  std::string_view failure() const override { return "cholesky: the gradient has failed"; }

  Apply make_node(std::span<const Variable> inputs) const override {
    require_inputs(*this, inputs, 2);
    const DType dtype = matrix_dtype(inputs);
    Variables own;
    std::int64_t n = unknown_length;
    for (auto& input : inputs) {
      own.push_back(cast(input, dtype));
      if (input.ndim() != 2) throw ShapeError(cat("CholeskyGradient: expected matrices, got ", input.str()));
      n = common_length(n, square_length("CholeskyGradient", input), 0, "CholeskyGradient");
    }
    return Apply(OpRef(this), own, {tensor_type(dtype, {n, n})});
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape> inputs) const override { return {inputs[0]}; }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    check_lengths(in);
    const std::int64_t n = in[0].shape(0);
    const Array factor = in[0].contiguous();
    out[0] = in[1].copy();
    with_float(factor.dtype(),
               [&]<class T>(T) { runtime::cholesky_gradient(n, factor.data_as<T>(), out[0].mutable_data_as<T>()); });
  }
  bool emit(Lowering& to, const Apply& node) const override {
    const Expr n = to.shape_in(0)[0];
    require_lengths(to);
    to.call(lapack_name("cholesky_gradient", node.output().dtype()), {n, InputData{0}, OutputData{0, {}, 1}});
    return true;
  }
  void emit_tensors(TensorLowering& to, const Apply& node) const override { to.express(as_formula(node).outputs()); }

  // The derivatives are those of the formula.
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[0].is_disconnected()) return no_gradients(node);
    const Apply formula = as_formula(node);
    return formula.op().pullback(formula, cotangents);
  }
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override {
    const Apply formula = as_formula(node);
    return formula.op().pushforward(formula, tangents);
  }
  bool has_pushforward() const override { return true; }
  Structure structure(const Apply&, int, InputStructures&) const override {
    return Structure{Fact::LowerTriangular, Fact::Square};
  }
  std::vector<std::vector<bool>> connection_pattern(const Apply&) const override { return {{true}, {true}}; }

 private:
  const char* who() const override { return "CholeskyGradient"; }
  // lower_half(S + S^T) with S = L^-T lower_half(L^T G) L^-1
  static Apply as_formula(const Apply& node) {
    const Variable factor(node.input(0).type()), g(node.input(1).type());
    const Variable weighted = dot(t(tril(factor)), tril(g));  // only the lower triangles are read
    const SolveTriangularOptions from_left{.lower = true, .trans = true};
    const Variable half = solve_triangular(factor, t(lower_half(weighted)), from_left);
    const Variable s = solve_triangular(factor, t(half), from_left);
    const Variable out = with_static_shape_of(node.output(), lower_half(add(s, t(s))));
    const Variable inputs[] = {node.input(0), node.input(1)};
    return op_from_graph({factor, g}, {out}, {.name = "CholeskyGradient"})->make_node(inputs);
  }
};

std::vector<Sample> cholesky_gradient_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, std::int64_t n, bool smooth = true) {
    Array factor = Array::zeros(DType::Float64, {n, n});
    const Array values = sample_values(DType::Float64, {n, n});
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j <= i; ++j)
        factor.mutable_data_as<double>()[i * n + j] =
            i == j ? 2 + double(i) / double(n) : values.data_as<double>()[i * n + j] / double(n);
    const Variable both[] = {sample_input(dtype, {any, any}, "factor"), sample_input(dtype, {any, any}, "g")};
    out.push_back({make_ref<CholeskyGradient>()->make_node(both),
                   {factor.astype(dtype), sample_values(dtype, {n, n}, 3)},
                   1e-6,
                   smooth && dtype == DType::Float64});
  };
  add(DType::Float64, 3);
  add(DType::Float64, 1);
  add(DType::Float64, 0, false);
  add(DType::Float32, 4);
  add(DType::Float64, 70, false);
  return out;
}

BITALE_REGISTER_OP(CholeskyGradient,
                   "The cotangent of a matrix's lower triangle, of its Cholesky factor and that one's cotangent.",
                   cholesky_gradient_samples);

}  // namespace

Variable cholesky_gradient(const Variable& factor, const Variable& g) {
  const Variable inputs[] = {factor, g};
  return apply_matrices(make_ref<CholeskyGradient>(), inputs);
}

}  // namespace bitale
