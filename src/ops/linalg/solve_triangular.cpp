// Systems of equations with triangular matrices.
#include <algorithm>

#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "bitale/runtime/functions.hpp"
#include "core/call_scope.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/complex/matrices.hpp"
#include "ops/complex/systems.hpp"
#include "ops/linalg/lapack_forms.hpp"
#include "ops/linalg/linalg_core.hpp"
#include "ops/sample_values.hpp"
#include "runtime/lapack.hpp"

namespace bitale {

namespace {

class SolveTriangular final : public MatrixOp, public EmitsTensors {
 public:
  SolveTriangular(bool lower, bool trans, bool unit_diagonal, int b_ndim, std::string on_error)
      : lower(lower), trans(trans), unit_diagonal(unit_diagonal), b_ndim(b_ndim), on_error(std::move(on_error)) {
    require_on_error("solve_triangular", this->on_error);
    if (b_ndim != 1 && b_ndim != 2) throw ValueError(cat("solve_triangular: expected b_ndim 1 or 2, got ", b_ndim));
  }
  bool lower, trans, unit_diagonal;
  int b_ndim;
  std::string on_error;
  static constexpr auto fields =
      attribute_list(attribute("lower", &SolveTriangular::lower), attribute("trans", &SolveTriangular::trans),
                     attribute("unit_diagonal", &SolveTriangular::unit_diagonal),
                     attribute("b_ndim", &SolveTriangular::b_ndim), attribute("on_error", &SolveTriangular::on_error));

  std::string_view name() const override { return "SolveTriangular"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }
  std::string signature() const override { return b_ndim == 1 ? "(m,m),(m)->(m)" : "(m,m),(m,k)->(m,k)"; }
  std::string_view failure() const override { return runtime::function_named("bt_solve_triangular_f64").failure; }

  Apply make_node(std::span<const Variable> inputs) const override {
    return system_node(OpRef(this), "solve_triangular", b_ndim, inputs);
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape> inputs) const override { return {inputs[1]}; }

  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    check_lengths(in);
    const std::int64_t n = in[0].shape(0);
    const Array a = in[0].contiguous();
    out[0] = in[1].copy();
    const std::int64_t columns = b_ndim == 1 ? 1 : in[1].shape(1);
    const auto solve = [&]<class T>(const T* matrix, T* b) {
      return runtime::solve_triangular(n, columns, lower, trans, unit_diagonal, on_error == "nan", matrix, b);
    };
    const std::int64_t zero_row = a.dtype() == DType::Float32
                                      ? solve(a.data_as<float>(), out[0].mutable_data_as<float>())
                                      : solve(a.data_as<double>(), out[0].mutable_data_as<double>());
    if (zero_row)
      raise_linalg(cat("solve_triangular: the matrix is singular: its diagonal is 0 in row ", zero_row - 1),
                   "on_error=\"nan\" gives a solution that is all nan instead");
  }

  bool emit(Lowering& to, const Apply& node) const override {
    const auto b = to.shape_in(1);
    const Expr n = b[0], one = to.pool().integer(1);
    require_lengths(to);
    // If the transpose is what is stored in memory, its triangle is the other one.
    const bool transposed = to.matrix(0).transposed;
    const auto flag = [&](bool value) { return to.pool().integer(value); };
    to.call(lapack_name("solve_triangular", node.output().dtype()),
            {n, b_ndim == 1 ? one : b[1], flag(lower != transposed), flag(trans != transposed), flag(unit_diagonal),
             flag(on_error == "nan"), InputData{0}, OutputData{0, {}, 1}});
    return true;
  }

  void emit_tensors(TensorLowering& to, const Apply&) const override {
    TensorBuilder& builder = to.builder();
    const TensorValue a = to.in(0), b = to.in(1);
    check_lengths(to);
    Dims as_matrix = b.lengths;
    if (b_ndim == 1) as_matrix.push_back(1);
    const TensorValue x = solve_by_substitution(to, a, builder.reshape(b, as_matrix),
                                                {lower, TransposedForm(trans), unit_diagonal}, on_error, failure());
    to.out(0, builder.reshape(x, b.lengths));
  }
  // For x = op(a)^-1 b: g_b = op(a)^-T g, and the gradient of op(a) is -g_b x^T, which is transposed if op(a) is a^T;
  // only the triangle that is read has a gradient.
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[0].is_disconnected()) return no_gradients(node);
    const Variable x = node.output();
    const Variable of_b = solved(!trans, node.input(0), cotangents[0]);
    const Variable &left = trans ? x : of_b, &right = trans ? of_b : x;
    const Variable product = b_ndim == 1 ? outer(left, right) : dot(left, transpose(right));
    return {with_static_shape_of(node.input(0), where_read(neg(product))), with_static_shape_of(node.input(1), of_b)};
  }

  // op(a)^-1 (db - op(da) x)
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override {
    Variable right = tangents[1];
    if (!tangents[0].is_disconnected()) {
      const Variable da = where_read(tangents[0]);
      const Variable moved = dot(trans ? transpose(da) : da, node.output());
      right = right.is_disconnected() ? neg(moved) : sub(right, moved);
    }
    if (right.is_disconnected()) return {disconnected()};
    return {solved(trans, node.input(0), right)};
  }
  bool has_pushforward() const override { return true; }
  // The inverse of a triangular matrix is triangular; so is its product with another one.
  Structure structure(const Apply&, int, InputStructures& inputs) const override {
    if (b_ndim != 2) return {};
    const Structure b = inputs.of(1);
    const Fact side = lower != trans ? Fact::LowerTriangular : Fact::UpperTriangular;
    Structure out;
    if (b.is(side)) {
      out.add(side);
      if (b.is(Fact::UnitDiagonal) && unit_diagonal) out.add(Fact::UnitDiagonal);
      if (b.is(Fact::PositiveDiagonal) && (unit_diagonal || inputs.of(0).is(Fact::PositiveDiagonal)))
        out.add(Fact::PositiveDiagonal);
    }
    return out;
  }
  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override { return connect_first(node, 2); }

 private:
  const char* who() const override { return "solve_triangular"; }
  Variable solved(bool transposed, const Variable& a, const Variable& b) const {
    return (*make_ref<SolveTriangular>(lower, transposed, unit_diagonal, b_ndim, on_error))({a, b});
  }
  Variable where_read(const Variable& x) const {
    const int k = unit_diagonal ? 1 : 0;
    return lower ? tril(x, -k) : triu(x, k);
  }
};

std::vector<Sample> solve_triangular_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto regular = [](std::int64_t n) {
    Array values = sample_values(DType::Float64, {n, n}).copy();
    for (std::int64_t k = 0; k < n; ++k) values.mutable_data_as<double>()[k * n + k] = double(n) + double(k);
    return values;
  };
  const auto add = [&](DType dtype, std::int64_t n, const Dims& b_type, const Dims& b_shape, bool lower, bool trans,
                       bool unit, bool smooth = true) {
    const Variable both[] = {sample_input(dtype, {any, any}, "a"), sample_input(dtype, b_type, "b")};
    const auto op = make_ref<SolveTriangular>(lower, trans, unit, int(b_type.size()), unit ? "nan" : "raise");
    out.push_back({op->make_node(both),
                   {regular(n).astype(dtype), sample_values(dtype, b_shape, 1)},
                   1e-6,
                   smooth && dtype == DType::Float64});
  };
  for (const bool lower : {true, false})
    for (const bool trans : {true, false}) {
      for (const bool unit : {true, false}) {
        add(DType::Float64, 3, {any}, {3}, lower, trans, unit);
        add(DType::Float64, 3, {any, 2}, {3, 2}, lower, trans, unit);
      }
      add(DType::Float32, 4, {any, any}, {4, 3}, lower, trans, false);
      add(DType::Float64, 33, {any}, {33}, lower, trans, false, false);
      add(DType::Float64, 33, {any, any}, {33, 5}, lower, trans, false, false);
    }
  add(DType::Float64, 1, {1, any}, {1, 3}, true, false, false);
  add(DType::Float64, 0, {any, any}, {0, 3}, true, false, false);
  add(DType::Float64, 3, {any, any}, {3, 0}, true, false, false);
  add(DType::Int64, 3, {any}, {3}, true, false, false);
  return out;
}

BITALE_REGISTER_OP(SolveTriangular, "The solution of a system of equations with a triangular matrix.",
                   solve_triangular_samples);

}  // namespace

Variable solve_triangular(const Operand& a, const Operand& b, const SolveTriangularOptions& options) {
  const LocationScope here(a.where);
  if (a.ndim() < 2 || b.ndim() < 1)
    throw ShapeError(cat("solve_triangular: expected a matrix a and a vector or matrix b, or batches of them, got ",
                         a.variable.str(), " with ", a.ndim(), " dimensions and ", b.variable.str(), " with ",
                         b.ndim()));
  if (any_complex({a.variable, b.variable}))
    return complex_solve_triangular(
        a.variable, b.variable,
        {.lower = options.lower, .unit_diagonal = options.unit_diagonal, .trans = options.trans},
        core_ndim(options.b_ndim, b.variable), options.on_error);
  const Variable inputs[] = {a.variable, b.variable};
  return apply_matrices(
      make_ref<SolveTriangular>(options.lower, options.trans, options.unit_diagonal,
                                core_ndim(options.b_ndim, b.variable), on_error_name(options.on_error)),
      inputs);
}

Variable cho_solve(const Operand& factor, const Operand& b, const CholeskySolveOptions& options) {
  const LocationScope here(factor.where);
  const CallScope call("cho_solve");
  const bool lower = options.lower;
  const int core = core_ndim(options.b_ndim, b.variable);
  if (any_complex({factor.variable, b.variable})) {
    const auto solved = [&](const Variable& right, int trans) {
      return complex_solve_triangular(factor.variable, right, {.lower = lower, .trans = trans}, core);
    };
    return solved(solved(b.variable, lower ? 0 : 2), lower ? 2 : 0);
  }
  const Variable half = solve_triangular(factor, b, {.lower = lower, .trans = !lower, .b_ndim = core});
  return solve_triangular(factor, half, {.lower = lower, .trans = lower, .b_ndim = core});
}

}  // namespace bitale
