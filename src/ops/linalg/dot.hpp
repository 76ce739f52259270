// Products that sum over one dimension. Dot: vectors and matrices, as numpy.dot. BatchedDot: stacks of matrices, as
// numpy.matmul. float32 and float64 go through BLAS (runtime/blas.hpp), integers through loops.
#pragma once

#include "bitale/graph/op.hpp"
#include "bitale/graph/structure.hpp"
#include "graph/batch.hpp"
#include "graph/dependencies.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

// Whether a BLAS library has products of this dtype.
bool uses_blas(DType dtype);
// Whether it is a constant matrix of few and long rows, of a dtype that BLAS takes: products of it with vectors are
// loops, which fuse with others, rather than calls.
bool has_few_long_rows(const Variable& x);
bool are_few_long_rows(std::int64_t rows, std::int64_t length);

// Inputs of 1 or 2 dimensions; converted to a common dtype.
class Dot final : public Op,
                  public StatesStructure,
                  public StatesDependencies,
                  public VectorizesAlong,
                  public EmitsTensors {
 public:
  std::string_view name() const override { return "Dot"; }
  ComplexForm complex_form() const override { return ComplexForm::formula; }
  PartsOfOutputs complex_parts(const Apply& node, std::span<const ComplexParts> inputs) const override;
  Apply make_node(std::span<const Variable> inputs) const override;
  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape> inputs) const override;
  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override;
  bool emit(Lowering& to, const Apply& node) const override;
  void emit_tensors(TensorLowering& to, const Apply& node) const override;
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override;
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override;
  bool has_pushforward() const override { return true; }
  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override;
  Apply vectorize_along(const Batch& batch) const override;
  std::optional<Array> dependencies(const Apply& node, int output, InputDependencies& inputs) const override;
  Structure structure(const Apply& node, int output, InputStructures& inputs) const override;
};

// Inputs [batch..., m, k] and [batch..., k, n] of equal rank, at least 3. If all batch lengths of one input are
// statically 1, its matrix is used for every batch.
class BatchedDot final : public Op, public StatesStructure, public StatesDependencies, public EmitsTensors {
 public:
  std::string_view name() const override { return "BatchedDot"; }
  ComplexForm complex_form() const override { return ComplexForm::formula; }
  PartsOfOutputs complex_parts(const Apply& node, std::span<const ComplexParts> inputs) const override;
  Apply make_node(std::span<const Variable> inputs) const override;
  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape> inputs) const override;
  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override;
  bool emit(Lowering& to, const Apply& node) const override;
  void emit_tensors(TensorLowering& to, const Apply& node) const override;
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override;
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override;
  bool has_pushforward() const override { return true; }
  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override;
  Apply vectorize(const Apply& node, std::span<const Variable> batched) const override;
  std::optional<Array> dependencies(const Apply& node, int output, InputDependencies& inputs) const override;
  Structure structure(const Apply& node, int output, InputStructures& inputs) const override;
};

}  // namespace bitale
