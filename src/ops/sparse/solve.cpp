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

// A copy of the right-hand side. ShapeError unless it has as many rows as the matrix.
Array solution_of(const Array& b, const sparse_factor::Columns& columns) {
  const std::int64_t size = columns.pattern().size;
  if (b.shape(0) != size)
    throw ShapeError(cat("sparse solve: expected a right-hand side of length ", size, ", got ", b.shape(0)));
  return b.copy();
}
std::int64_t columns_of(const Array& x) { return x.ndim() == 1 ? 1 : x.shape(1); }

// Inputs: the factor, the pattern, the right-hand side.
class SparseSolveTriangular final : public sparse_factor::FactorOp {
 public:
  explicit SparseSolveTriangular(bool transposed) : transposed(transposed) {}

  bool transposed;
  static constexpr auto fields = attribute_list(attribute("transposed", &SparseSolveTriangular::transposed));

  std::string_view name() const override { return "SparseSolveTriangular"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    const sparse_factor::Columns columns(in[1], in[2], in[0].size(), false);
    const Array factor = in[0].contiguous();
    out[0] = solution_of(in[3], columns);
    with_float(factor.dtype(), [&]<class T>(T) {
      runtime::sparse_solve_triangular(columns.pattern(), factor.data_as<T>(), transposed, columns_of(out[0]),
                                       out[0].mutable_data_as<T>());
    });
  }
  // The other triangle's solution h of the cotangent, and -h x^T (or its transpose) in the pattern.
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

 private:
  Form form() const override { return {"solve_triangular", "(p),(b),(p),(n)->(n)", {0, 3}, {0, 3}, 3}; }
};

// Inputs: the lower triangle, its factor, the pattern, the right-hand side.
class SparseSolve final : public sparse_factor::FactorOp {
 public:
  std::string_view name() const override { return "SparseSolve"; }
  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override {
    const auto columns = sparse_factor::columns_of(node, in, 2, in[1].size());
    const Array factor = in[1].contiguous();
    out[0] = solution_of(in[4], columns);
    with_float(factor.dtype(), [&]<class T>(T) {
      runtime::sparse_solve(columns.pattern(), factor.data_as<T>(), columns_of(out[0]), out[0].mutable_data_as<T>());
    });
  }
  // dx = A^-1 (db - dA x). An element below the diagonal stands for two.
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

 private:
  Form form() const override { return {"solve", "(p),(p),(b),(p),(n)->(n)", {0, 1, 4}, {0, 4}, 4, true}; }
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
