// Systems of equations with positive definite matrices, of which one triangle is read. The op is one node so that its
// derivative is that of a solution, which needs no derivative of the factor; functions are compiled from its formula.
#include "ops/linalg/solve_definite.hpp"

#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "graph/evaluate.hpp"
#include "graph/expansion.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/linalg/cholesky_gradient.hpp"
#include "ops/linalg/linalg_core.hpp"
#include "ops/sample_values.hpp"
#include "runtime/lapack.hpp"

namespace bitale {

namespace {

class SolveDefinite final : public MatrixOp, public Expansion, public EmitsTensors {
 public:
  SolveDefinite(bool lower, int b_ndim, std::string on_error)
      : lower(lower), b_ndim(b_ndim), on_error(std::move(on_error)) {
    require_on_error("solve", this->on_error);
    if (b_ndim != 1 && b_ndim != 2) throw ValueError(cat("solve: expected b_ndim 1 or 2, got ", b_ndim));
  }
  bool lower;
  int b_ndim;
  std::string on_error;
  static constexpr auto fields =
      attribute_list(attribute("lower", &SolveDefinite::lower), attribute("b_ndim", &SolveDefinite::b_ndim),
                     attribute("on_error", &SolveDefinite::on_error));

  std::string_view name() const override { return "SolveDefinite"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }
  std::string signature() const override { return b_ndim == 1 ? "(m,m),(m)->(m)" : "(m,m),(m,k)->(m,k)"; }
  std::string_view failure() const override { return "solve: the matrix is not positive definite"; }

  Apply make_node(std::span<const Variable> inputs) const override {
    return system_node(OpRef(this), "solve", b_ndim, inputs);
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape> inputs) const override { return {inputs[1]}; }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    check_lengths(in);
    out[0] = evaluate(solution(constant(in[0]), constant(in[1])));
  }
  std::optional<Variables> expansion(const Apply& node) const override {
    return Variables{solution(node.input(0), node.input(1))};
  }
  void emit_tensors(TensorLowering& to, const Apply& node) const override {
    to.express({solution(node.input(0), node.input(1))});
  }

  // g_b = a^-1 g, and the gradient of the whole matrix is -g_b x^T (Giles 2008), of which an element of the triangle
  // gets its own and that of its mirror image.
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[0].is_disconnected()) return no_gradients(node);
    const Variable x = node.output(), of_b = solved(node.input(0), cotangents[0]);
    const Variable whole = b_ndim == 1 ? outer(of_b, x) : dot(of_b, t(x));
    const Variable both = lower_half(add(whole, t(whole)));
    const Variable of_a = neg(lower ? both : t(both));
    return {with_static_shape_of(node.input(0), of_a), with_static_shape_of(node.input(1), of_b)};
  }
  // a^-1 (db - da x)
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override {
    Variable right = tangents[1];
    if (!tangents[0].is_disconnected()) {
      const Variable moved = dot(mirrored(tangents[0], lower), node.output());
      right = right.is_disconnected() ? neg(moved) : sub(right, moved);
    }
    if (right.is_disconnected()) return {disconnected()};
    return {solved(node.input(0), right)};
  }
  bool has_pushforward() const override { return true; }
  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override { return connect_first(node, 2); }

 private:
  const char* who() const override { return "solve"; }
  Variable solution(const Variable& a, const Variable& b) const {
    return cho_solve(cholesky(a, {.lower = lower, .on_error = on_error == "nan" ? OnError::Nan : OnError::Raise}), b,
                     {.lower = lower, .b_ndim = b_ndim});
  }
  Variable solved(const Variable& a, const Variable& b) const {
    return (*make_ref<SolveDefinite>(lower, b_ndim, on_error))({a, b});
  }
};

std::vector<Sample> solve_definite_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, std::int64_t n, const Dims& b_type, const Dims& b_shape, bool lower = true,
                       bool smooth = true, const char* on_error = "raise") {
    Array a = sample_values(DType::Float64, {n, n}).copy();  // not symmetric: one triangle is read
    for (std::int64_t k = 0; k < n; ++k) a.mutable_data_as<double>()[k * (n + 1)] = 3 * double(n) + double(k);
    const Variable both[] = {sample_input(dtype, {any, any}, "a"), sample_input(dtype, b_type, "b")};
    out.push_back({make_ref<SolveDefinite>(lower, int(b_type.size()), on_error)->make_node(both),
                   {a.astype(dtype), sample_values(dtype, b_shape, 1)},
                   1e-6,
                   smooth && dtype == DType::Float64});
  };
  for (const bool lower : {true, false}) {
    add(DType::Float64, 3, {any}, {3}, lower);
    add(DType::Float64, 4, {any, 2}, {4, 2}, lower);
    add(DType::Float32, 5, {any, any}, {5, 3}, lower);
  }
  add(DType::Float64, 40, {any}, {40}, true, false);
  add(DType::Float64, 0, {any, any}, {0, 3}, true, false);
  add(DType::Float64, 3, {any, any}, {3, 0}, true, false);
  add(DType::Int64, 3, {any}, {3}, true, false);
  add(DType::Float64, 3, {any, any}, {3, 2}, true, true, "nan");
  return out;
}

BITALE_REGISTER_OP(SolveDefinite,
                   "The solution of a system with a positive definite matrix, of which one triangle is read.",
                   solve_definite_samples);

}  // namespace

Variable solve_definite(const Variable& a, const Variable& b, bool lower, int b_ndim, OnError on_error) {
  const Variable inputs[] = {a, b};
  return apply_matrices(make_ref<SolveDefinite>(lower, b_ndim, on_error_name(on_error)), inputs);
}

}  // namespace bitale
