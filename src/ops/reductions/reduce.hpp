// CAReduce: commutative associative reductions over some or all axes, defined by a table of combiners; and Argmax
// (argmax.cpp).
#pragma once

#include <optional>

#include "bitale/graph/op.hpp"
#include "bitale/graph/structure.hpp"
#include "bitale/program/expr.hpp"
#include "graph/batch.hpp"
#include "graph/dependencies.hpp"
#include "graph/support.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

struct Reduction {
  std::string_view name;         // "sum": the function's name
  std::string_view title;        // "Sum": how dprint shows it
  std::string_view scalar_name;  // "add": the record that combines two elements
  program::Combiner combiner;
  bool widens = false;       // sums and products of integers are int64 or uint64
  bool has_identity = true;  // an empty reduction gives the combiner's identity
};

// KeyError for an unknown name. The record is never destroyed.
const Reduction& reduction(std::string_view name);

class CAReduce final : public Op,
                       public StatesSupport,
                       public StatesStructure,
                       public StatesDependencies,
                       public VectorizesAlong,
                       public EmitsTensors {
 public:
  // `axes`: increasing and not negative, nullopt for all. `dtype`: of the output, only for reductions that widen.
  CAReduce(const Reduction& kind, std::optional<std::vector<int>> axes, std::optional<DType> dtype = {})
      : kind(kind), axes(std::move(axes)), dtype(dtype) {}
  const Reduction& kind;
  const std::optional<std::vector<int>> axes;
  const std::optional<DType> dtype;

  bool reduces(int axis) const;
  // The dtype of the accumulator: float64, int64 or uint64 for sums and products, else the input's dtype.
  DType accumulator(DType input) const;

  std::string_view name() const override { return "CAReduce"; }
  ComplexForm complex_form() const override {
    return kind.combiner == program::Combiner::add   ? ComplexForm::by_parts
           : kind.combiner == program::Combiner::mul ? ComplexForm::own
                                                     : ComplexForm::none;
  }
  OpRef component_op() const override;
  Attributes attributes() const override;
  std::string label() const override;
  Apply make_node(std::span<const Variable> inputs) const override;
  Range range(const Apply& node, int output, InputRanges& inputs) const override;
  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape> inputs) const override;
  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override;
  bool emit(Lowering& to, const Apply& node) const override;
  void emit_tensors(TensorLowering& to, const Apply& node) const override;
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override;
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override;
  bool has_pushforward() const override { return true; }
  std::vector<int> support_carriers(const Apply& node, int output) const override;
  Support support(const Apply& node, int output, std::span<const Support> inputs) const override;
  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override;
  Structure structure(const Apply& node, int output, InputStructures& inputs) const override;
  Apply vectorize_along(const Batch& batch) const override;
  std::optional<Array> dependencies(const Apply& node, int output, InputDependencies& inputs) const override;
};

// Position of the largest (or smallest) element along one axis, or in the flattened input.
class Argmax final : public Op, public EmitsTensors {
 public:
  Argmax(std::optional<int> axis, bool smallest) : axis(axis), smallest(smallest) {}
  const std::optional<int> axis;
  const bool smallest;

  std::string_view name() const override { return "Argmax"; }
  Attributes attributes() const override;
  std::string label() const override;
  Apply make_node(std::span<const Variable> inputs) const override;
  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape> inputs) const override;
  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override;
  bool emit(Lowering& to, const Apply& node) const override;
  void emit_tensors(TensorLowering& to, const Apply& node) const override;
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override;
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override;
  bool has_pushforward() const override { return true; }
  std::vector<std::vector<bool>> connection_pattern(const Apply&) const override { return {{false}}; }
  Apply vectorize(const Apply& node, std::span<const Variable> batched) const override;
};

// The dtype of sums and products of `dtype`, as in NumPy: int64 or uint64 for integers and bool.
DType accumulated_dtype(DType dtype);
// The message of reductions without an identity for an empty axis; `op` is a function's name.
std::string empty_message(std::string_view op);
// "Sum{axis=1}"
std::string axes_label(std::string_view title, const std::optional<std::vector<int>>& axes);
// The only input of a unary op, checked.
const Variable& single_input(std::string_view op, std::span<const Variable> inputs);
// Axes counted from the front, increasing. ValueError for one that does not exist or occurs twice; `op` is the name
// that the message reports.
std::vector<int> normalized_axes(std::string_view op, std::span<const int> axes, int rank);
// y, a reduction of x over `axes`, with a dimension of length 1 in place of each.
Variable keep_dimensions(const Variable& y, std::span<const int> axes, int rank);
// The largest element along `axes`, which stay as dimensions of length 1; the lowest value of the dtype where there is
// none.
Variable supremum(const Variable& x, const std::vector<int>& axes);
// The given axes normalised, or all.
std::vector<int> axes_or_all(std::string_view op, const std::optional<std::vector<int>>& axes, int rank);

}  // namespace bitale
