// SparseLu: the factors of a general sparse matrix, computed by partial pivoting. Which elements they have depends on
// the values, so their lengths are known only after a call. They have no derivatives: what is computed from them does,
// by the matrix.
#include "ops/sparse/lu.hpp"

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/linalg/linalg_core.hpp"

namespace bitale {

namespace {

// Inputs: the elements of the matrix, its bounds and rows, the order of its columns.
class SparseLu final : public Op {
 public:
  std::string_view name() const override { return "SparseLu"; }
  Apply make_node(std::span<const Variable> inputs) const override {
    require_inputs(*this, inputs, 4);
    const int values[] = {0};
    const Variables own = sparse_lu_inputs::checked("lu", inputs, values);
    const auto index = tensor_type(DType::Int64, Dims(1, unknown_length));
    return Apply(OpRef(this), own, {tensor_type(own[0].dtype(), Dims(1, unknown_length)), index, index, index});
  }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    const sparse_lu_inputs::Matrix a(in);
    with_float(a.values.dtype(), [&]<class T>(T) {
      runtime::LuFactors<T> factors;
      const std::int64_t failed = runtime::sparse_lu(a.columns(), a.values.data_as<T>(), a.column_order(), factors);
      if (failed != 0)
        throw LinAlgError(cat("lu: the sparse matrix is singular: elimination finds no pivot other than 0 in column ",
                              a.column_order()[failed - 1]));
      out[0] = Array(factors.values);
      out[1] = Array(factors.bounds);
      out[2] = Array(factors.rows);
      out[3] = Array(factors.row_order);
    });
  }
  std::vector<std::vector<bool>> connection_pattern(const Apply&) const override {
    return std::vector<std::vector<bool>>(4, std::vector<bool>(4, false));
  }
  Variables pullback(const Apply& node, std::span<const Variable>) const override { return no_gradients(node); }
};

// ---- samples --------------------------------------------------------------------------------------------------------

std::vector<Sample> sparse_lu_samples() { return {sparse_lu_inputs::sample(make_ref<SparseLu>(), false, 0)}; }
REGISTER_OP(SparseLu, "The LU factors of a general sparse matrix, by partial pivoting.", sparse_lu_samples);

}  // namespace

SparseLuFactors sparse_lu(const SparseLuMatrix& a) {
  const Variable inputs[] = {a.values, a.bounds, a.rows, a.order};
  const Apply node = make_ref<SparseLu>()->make_node(inputs);
  return {node.output(0), node.output(1), node.output(2), node.output(3)};
}

}  // namespace bitale
