#include "ops/sparse/order.hpp"

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/op.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/sample_values.hpp"
#include "runtime/sparse_ordering.hpp"

namespace bitale {

namespace {

// The elements of a square matrix in a call.
class PositionsInCall {
 public:
  PositionsInCall(std::string_view who, std::span<const Array> in) {
    const Array bounds = in[0].astype(DType::Int64).contiguous(), indices = in[1].astype(DType::Int64).contiguous();
    const std::int64_t *const at = bounds.data_as<std::int64_t>(), *const index = indices.data_as<std::int64_t>();
    const std::int64_t length = *in[2].astype(DType::Int64).contiguous().data_as<std::int64_t>();
    size_ = bounds.size() - 1;
    bool fits = bounds.size() > 0 && at[0] == 0 && at[size_] == indices.size();
    for (std::int64_t k = 0; fits && k < size_; ++k) fits = at[k] <= at[k + 1];
    if (fits && length != size_)
      throw ShapeError(cat("sparse: ", who, ": expected a square matrix, got one of lengths ", size_, " and ", length));
    for (std::int64_t k = 0; fits && k < size_; ++k)
      for (std::int64_t p = at[k]; fits && p < at[k + 1]; ++p) {
        fits = index[p] >= 0 && index[p] < size_;
        minor_.push_back(index[p]);
        major_.push_back(k);
      }
    if (!fits)
      throw ValueError(cat("sparse: ", who,
                           ": expected bounds that ascend from 0 to the number of positions, and "
                           "positions in range"));
  }
  runtime::SparsePositions in_columns() const { return {size_, minor_, major_}; }

 private:
  std::int64_t size_ = 0;
  std::vector<std::int64_t> major_, minor_;
};

// Inputs: bounds, indices, length of the other axis. All outputs are vectors of integers.
class OrderOp : public Op {
 public:
  Apply make_node(std::span<const Variable> inputs) const override {
    require_inputs(*this, inputs, 3);
    for (int k = 0; k < 3; ++k)
      if (inputs[std::size_t(k)].ndim() != (k < 2 ? 1 : 0) || !is_integer(inputs[std::size_t(k)].dtype()))
        throw TypeError(cat(who(), ": expected two vectors of integers and an integer, got ",
                            inputs[std::size_t(k)].str(), " of type ", inputs[std::size_t(k)].type()->str()));
    std::vector<Type> types(outputs(), tensor_type(DType::Int64, Dims(1, unknown_length)));
    return Apply(OpRef(this), {inputs.begin(), inputs.end()}, std::move(types));
  }
  std::vector<std::vector<bool>> connection_pattern(const Apply&) const override {
    return std::vector<std::vector<bool>>(3, std::vector<bool>(outputs(), false));
  }
  Variables pullback(const Apply& node, std::span<const Variable>) const override { return no_gradients(node); }

 protected:
  virtual const char* who() const = 0;
  virtual std::size_t outputs() const = 0;
};

class SparseCholeskyOrder final : public OrderOp {
 public:
  std::string_view name() const override { return "SparseCholeskyOrder"; }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    const runtime::CholeskyPlan plan = runtime::cholesky_plan(PositionsInCall(who(), in).in_columns());
    out[0] = Array(plan.order);
    out[1] = Array(plan.inverse);
    out[2] = Array(plan.columns.bounds);
    out[3] = Array(plan.columns.rows);
    out[4] = Array(plan.slots);
  }

 protected:
  const char* who() const override { return "cholesky"; }
  std::size_t outputs() const override { return 5; }
};

class SparseLuOrder final : public OrderOp {
 public:
  std::string_view name() const override { return "SparseLuOrder"; }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    const runtime::LuPlan plan = runtime::lu_plan(PositionsInCall(who(), in).in_columns(), true);
    out[0] = Array(plan.order);
    out[1] = Array(plan.factors.bounds);
    out[2] = Array(plan.factors.rows);
  }

 protected:
  const char* who() const override { return "lu"; }
  std::size_t outputs() const override { return 3; }
};

// ---- samples --------------------------------------------------------------------------------------------------------

template <class Kind>
std::vector<Sample> order_samples() {
  std::vector<Sample> out;
  const auto add = [&](const std::vector<std::int64_t>& bounds, const std::vector<std::int64_t>& indices) {
    std::vector<Array> values = {Array(bounds), Array(indices), Array(std::int64_t(bounds.size()) - 1)};
    Variables inputs;
    for (const Array& value : values)
      inputs.push_back(sample_input(value.dtype(), Dims(std::size_t(value.ndim()), unknown_length)));
    out.push_back({.node = make_ref<Kind>()->make_node(inputs), .values = std::move(values), .smooth = false});
  };
  add({0, 2, 4, 6}, {0, 1, 0, 2, 1, 2});
  add({0, 3, 5, 7}, {0, 1, 2, 0, 1, 0, 2});
  add({0}, {});
  return out;
}
BITALE_REGISTER_OP(SparseCholeskyOrder,
                   "The order of elimination of a symmetric sparse matrix, and its factor's pattern.",
                   order_samples<SparseCholeskyOrder>);
BITALE_REGISTER_OP(SparseLuOrder, "The order of elimination of a general sparse matrix, and a pattern of its factors.",
                   order_samples<SparseLuOrder>);

}  // namespace

OrderForCholesky sparse_cholesky_order(const Variable& bounds, const Variable& indices, const Variable& length) {
  const Variable inputs[] = {bounds, indices, length};
  const Apply node = make_ref<SparseCholeskyOrder>()->make_node(inputs);
  return {node.output(0), node.output(1), node.output(2), node.output(3), node.output(4)};
}

OrderForLu sparse_lu_order(const Variable& bounds, const Variable& rows, const Variable& length) {
  const Variable inputs[] = {bounds, rows, length};
  const Apply node = make_ref<SparseLuOrder>()->make_node(inputs);
  return {node.output(0), node.output(1), node.output(2)};
}

}  // namespace bitale
