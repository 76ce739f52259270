// SparseSolve and SparseSolveTriangular: systems with a sparse matrix whose factor is known, and with the factor
// itself.
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/from_attributes.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/linalg/linalg_core.hpp"
#include "ops/sparse/factor.hpp"

namespace bitale {

namespace {

void require_system(const Variable& b) {
  if (b.ndim() != 1 && b.ndim() != 2)
    throw TypeError(cat("sparse solve: expected a vector or a matrix, got ", b.str(), " of type ", b.type()->str()));
}

// A copy of the right-hand side. ShapeError unless it has as many rows as the matrix.
Array solution_of(const Array& b, const sparse_factor::Columns& columns) {
  const std::int64_t size = columns.pattern().size;
  if (b.shape(0) != size)
    throw ShapeError(cat("sparse solve: expected a right-hand side of length ", size, ", got ", b.shape(0)));
  return b.copy();
}
std::int64_t columns_of(const Array& x) { return x.ndim() == 1 ? 1 : x.shape(1); }

// Inputs: the factor, the pattern, the right-hand side.
class SparseSolveTriangular final : public OpOf<SparseSolveTriangular> {
 public:
  explicit SparseSolveTriangular(bool transposed) : transposed(transposed) {}

  bool transposed;
  static constexpr auto fields = attribute_list(attribute("transposed", &SparseSolveTriangular::transposed));

  std::string_view name() const override { return "SparseSolveTriangular"; }
  Apply make_node(std::span<const Variable> inputs) const override {
    require_inputs(*this, inputs, 4);
    require_system(inputs[3]);
    const Variable values[] = {inputs[0], inputs[3]};
    const Variables own = sparse_factor::checked_values("solve_triangular", values, inputs.subspan(1, 2));
    return Apply(OpRef(this), {own[0], own[2], own[3], own[1]}, {own[1].type()});
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape> inputs) const override { return {inputs[3]}; }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    const sparse_factor::Columns columns(in[1], in[2], in[0].size(), false);
    const Array factor = in[0].contiguous();
    out[0] = solution_of(in[3], columns);
    with_float(factor.dtype(), [&]<class T>(T) {
      runtime::sparse_solve_triangular(columns.pattern(), factor.data_as<T>(), transposed, columns_of(out[0]),
                                       out[0].mutable_data_as<T>());
    });
  }
  Apply vectorize(const Apply& node, std::span<const Variable> batched) const override {
    return blockwise(OpRef(this), node.input(3).ndim() == 1 ? "(p),(b),(p),(n)->(n)" : "(p),(b),(p),(n,k)->(n,k)",
                     batched);
  }
  // The other triangle's solution h of the cotangent, and -h x^T (or its transpose) in the pattern.
  bool has_linear_pullback() const override { return true; }
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    Variables out = no_gradients(node);
    if (cotangents[0].is_disconnected()) return out;
    const Variable &bounds = node.input(1), &rows = node.input(2);
    const Variable h = sparse_solve_triangular(node.input(0), bounds, rows, cotangents[0], !transposed);
    const Variable& x = node.output();
    out[0] = -(transposed ? sparse_factor::products(x, h, bounds, rows) : sparse_factor::products(h, x, bounds, rows));
    out[3] = h;
    return out;
  }
  std::vector<std::vector<bool>> connection_pattern(const Apply&) const override {
    return {{true}, {false}, {false}, {true}};
  }
};

// Inputs: the lower triangle, its factor, the pattern, the right-hand side.
class SparseSolve final : public Op {
 public:
  std::string_view name() const override { return "SparseSolve"; }
  Apply make_node(std::span<const Variable> inputs) const override {
    require_inputs(*this, inputs, 5);
    require_system(inputs[4]);
    const Variable values[] = {inputs[0], inputs[1], inputs[4]};
    const Variables own = sparse_factor::checked_with_factor("solve", values, inputs.subspan(2, 2));
    return Apply(OpRef(this), {own[0], own[1], own[3], own[4], own[2]}, {own[2].type()});
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape> inputs) const override { return {inputs[4]}; }
  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override {
    const auto columns = sparse_factor::columns_of(node, in, 2, in[1].size());
    const Array factor = in[1].contiguous();
    out[0] = solution_of(in[4], columns);
    with_float(factor.dtype(), [&]<class T>(T) {
      runtime::sparse_solve(columns.pattern(), factor.data_as<T>(), columns_of(out[0]), out[0].mutable_data_as<T>());
    });
  }
  Apply vectorize(const Apply& node, std::span<const Variable> batched) const override {
    return blockwise(OpRef(this),
                     node.input(4).ndim() == 1 ? "(p),(p),(b),(p),(n)->(n)" : "(p),(p),(b),(p),(n,k)->(n,k)", batched);
  }
  // dx = A^-1 (db - dA x). An element below the diagonal stands for two.
  bool has_linear_pullback() const override { return true; }
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    Variables out = no_gradients(node);
    if (cotangents[0].is_disconnected()) return out;
    const Variable &triangle = node.input(0), &bounds = node.input(2), &rows = node.input(3), &x = node.output();
    const Variable h = sparse_solve(triangle, node.input(1), bounds, rows, cotangents[0]);
    const Variable on_diagonal = eq(rows, sparse_factor::column_of(bounds, rows));
    const Variable one_way = sparse_factor::products(h, x, bounds, rows);
    out[0] = -switch_(on_diagonal, one_way, one_way + sparse_factor::products(x, h, bounds, rows));
    out[4] = h;
    return out;
  }
  std::vector<std::vector<bool>> connection_pattern(const Apply&) const override {
    return {{true}, {false}, {false}, {false}, {true}};
  }
};

// ---- samples --------------------------------------------------------------------------------------------------------

std::vector<Sample> sparse_solve_triangular_samples() {
  return {sparse_factor::sample(make_ref<SparseSolveTriangular>(false), "lpv", true),
          sparse_factor::sample(make_ref<SparseSolveTriangular>(false), "lpm", true),
          sparse_factor::sample(make_ref<SparseSolveTriangular>(true), "lpv", true),
          sparse_factor::sample(make_ref<SparseSolveTriangular>(true), "lpm", true)};
}
BITALE_REGISTER_OP(SparseSolveTriangular, "The solution of a system with a sparse triangular matrix.",
                   sparse_solve_triangular_samples);

std::vector<Sample> sparse_solve_samples() {
  return {sparse_factor::sample(make_ref<SparseSolve>(), "tlpv", false),
          sparse_factor::sample(make_ref<SparseSolve>(), "tlpm", false)};
}
BITALE_REGISTER_OP(SparseSolve, "The solution of a system with a sparse matrix whose Cholesky factor is given.",
                   sparse_solve_samples);

}  // namespace

Variable sparse_solve_triangular(const Variable& factor, const Variable& bounds, const Variable& rows,
                                 const Variable& b, bool transposed) {
  return (*make_ref<SparseSolveTriangular>(transposed))({factor, bounds, rows, b});
}

Variable sparse_solve(const Variable& triangle, const Variable& factor, const Variable& bounds, const Variable& rows,
                      const Variable& b) {
  return (*make_ref<SparseSolve>())({triangle, factor, bounds, rows, b});
}

}  // namespace bitale
