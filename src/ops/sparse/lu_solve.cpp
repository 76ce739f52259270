// SparseLuSolve: systems with a general sparse matrix, or with its transpose, whose LU factors are given.
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/from_attributes.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/linalg/linalg_core.hpp"
#include "ops/sparse/factor.hpp"
#include "ops/sparse/lu.hpp"

namespace bitale {

namespace {

constexpr std::size_t right_hand_side = sparse_lu_inputs::count;

// Row order[k] of `from` becomes row k of the result, or inversely.
template <class T>
void reorder(const std::int64_t* order, bool inversely, std::int64_t size, std::int64_t columns, const T* from, T* to) {
  for (std::int64_t k = 0; k < size; ++k) {
    const T* source = from + (inversely ? k : order[k]) * columns;
    std::copy(source, source + columns, to + (inversely ? order[k] : k) * columns);
  }
}

// Inputs: the matrix, its factors, the right-hand side.
class SparseLuSolve final : public sparse_factor::FactorOp {
 public:
  explicit SparseLuSolve(bool transposed) : transposed(transposed) {}

  bool transposed;
  static constexpr auto fields = attribute_list(attribute("transposed", &SparseLuSolve::transposed));

  std::string_view name() const override { return "SparseLuSolve"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    const sparse_lu_inputs::Matrix a(in);
    const std::int64_t size = a.columns().size;
    const sparse_lu_inputs::Factors factors(in, size);
    const Array b = in[right_hand_side].contiguous();
    if (b.shape(0) != size)
      throw ShapeError(cat("sparse lu: solve: expected a right-hand side of length ", size, ", got ", b.shape(0)));
    const std::int64_t columns = b.ndim() == 1 ? 1 : b.shape(1);
    const std::int64_t *first = factors.order(), *last = a.column_order();
    if (transposed) std::swap(first, last);
    Array x = Array::zeros(b.dtype(), b.shape());
    out[0] = Array::zeros(b.dtype(), b.shape());
    with_float(b.dtype(), [&]<class T>(T) {
      reorder(first, false, size, columns, b.data_as<T>(), x.mutable_data_as<T>());
      runtime::sparse_lu_solve(factors.pattern(), factors.values.data_as<T>(), transposed, columns,
                               x.mutable_data_as<T>());
      reorder(last, true, size, columns, x.data_as<T>(), out[0].mutable_data_as<T>());
    });
  }
  // dx = A^-1 (db - dA x).
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    Variables out = no_gradients(node);
    if (cotangents[0].is_disconnected()) return out;
    const SparseLuMatrix a = sparse_lu_inputs::matrix(node);
    const Variable h = sparse_lu_solve(a, sparse_lu_inputs::factors(node), cotangents[0], !transposed);
    const Variable& x = node.output();
    out[0] = -(transposed ? sparse_factor::products(x, h, a.bounds, a.rows)
                          : sparse_factor::products(h, x, a.bounds, a.rows));
    out[right_hand_side] = h;
    return out;
  }

 private:
  Form form() const override { return {"lu: solve", "(p),(b),(p),(n),(f),(g),(f),(n),(n)->(n)", {0, 4, 8}, {0, 8}, 8}; }
};

// ---- samples --------------------------------------------------------------------------------------------------------

std::vector<Sample> sparse_lu_solve_samples() {
  std::vector<Sample> out;
  for (const bool transposed : {false, true})
    for (const int ndim : {1, 2})
      out.push_back(sparse_lu_inputs::sample(make_ref<SparseLuSolve>(transposed), true, ndim));
  return out;
}
BITALE_REGISTER_OP(SparseLuSolve, "The solution of a system with a sparse matrix whose LU factors are given.",
                   sparse_lu_solve_samples);

}  // namespace

Variable sparse_lu_solve(const SparseLuMatrix& a, const SparseLuFactors& factors, const Variable& b, bool transposed) {
  Variables inputs = sparse_lu_inputs::of(a, factors);
  inputs.push_back(b);
  return (*make_ref<SparseLuSolve>(transposed))(inputs);
}

}  // namespace bitale
