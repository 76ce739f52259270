// SparseLu: the factors of a general sparse matrix, computed by partial pivoting. Which elements they have depends on
// the values, so their lengths are known only after a call. They have no derivatives: what is computed from them does,
// by the matrix.
#include "ops/sparse/lu.hpp"

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/linalg/linalg_core.hpp"
#include "ops/sparse/factor.hpp"

namespace bitale {

namespace {

// Inputs: the elements of the matrix, its bounds and rows, the order of its columns; and perhaps the bounds and rows of
// a symmetric pattern of factors for this order, for which they are computed by fronts if the pivots allow it; empty
// vectors are no pattern.
class SparseLu final : public Op {
 public:
  std::string_view name() const override { return "SparseLu"; }
  Apply make_node(std::span<const Variable> inputs) const override {
    require_inputs(*this, inputs, inputs.size() == with_pattern ? with_pattern : 4);
    const int values[] = {0};
    const Variables own = sparse_factor::checked("lu", inputs, values);
    const auto index = tensor_type(DType::Int64, Dims(1, unknown_length));
    return Apply(OpRef(this), own, {tensor_type(own[0].dtype(), Dims(1, unknown_length)), index, index, index});
  }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    const sparse_lu_inputs::Matrix a(in);
    with_float(a.values.dtype(), [&]<class T>(T) {
      runtime::LuFactors<T> factors;
      const bool has_pattern = in.size() == with_pattern && in[4].size() + in[5].size() > 0;
      const bool done = has_pattern && by_fronts(a, sparse_factor::Columns(in[4], in[5]), factors);
      const std::int64_t failed =
          done ? 0 : runtime::sparse_lu(a.columns(), a.values.data_as<T>(), a.column_order(), factors);
      if (failed != 0)
        throw LinAlgError(cat("lu: the sparse matrix is singular: elimination finds no pivot other than 0 in column ",
                              a.column_order()[failed - 1]));
      out[0] = Array(factors.values);
      out[1] = Array(factors.bounds);
      out[2] = Array(factors.rows);
      out[3] = Array(factors.row_order);
    });
  }
  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override {
    return std::vector<std::vector<bool>>(node.inputs().size(), std::vector<bool>(4, false));
  }
  Variables pullback(const Apply& node, std::span<const Variable>) const override { return no_gradients(node); }

 private:
  static constexpr std::size_t with_pattern = 6;
  template <class T>
  static bool by_fronts(const sparse_lu_inputs::Matrix& a, const sparse_factor::Columns& pattern,
                        runtime::LuFactors<T>& out) {
    return runtime::sparse_lu_by_fronts(a.columns(), a.values.data_as<T>(), a.column_order(), pattern.pattern(), out);
  }
};

// ---- samples --------------------------------------------------------------------------------------------------------

std::vector<Sample> sparse_lu_samples() {
  const OpRef op = make_ref<SparseLu>();
  return {sparse_lu_inputs::sample(op, false, 0), sparse_lu_inputs::sample(op, false, 0, true)};
}
BITALE_REGISTER_OP(SparseLu, "The LU factors of a general sparse matrix, by partial pivoting.", sparse_lu_samples);

}  // namespace

SparseLuFactors sparse_lu(const SparseLuMatrix& a, std::span<const Variable> pattern) {
  Variables inputs = {a.values, a.bounds, a.rows, a.order};
  inputs.insert(inputs.end(), pattern.begin(), pattern.end());
  const Apply node = make_ref<SparseLu>()->make_node(inputs);
  return {node.output(0), node.output(1), node.output(2), node.output(3)};
}

}  // namespace bitale
