// Blockwise applies an op on matrices (or vectors, ...), its core, to each element of a batch. The signature gives the
// number of trailing dimensions of each input and output that belong to the core; those before them are batch
// dimensions, which broadcast as in elementwise operations. Native code is that of the core in a loop over the batch;
// derivatives are the core's, vectorized.
#pragma once

#include <string>
#include <vector>

#include "bitale/graph/op.hpp"
#include "bitale/graph/structure.hpp"
#include "bitale/ops/vectorize.hpp"
#include "graph/dependencies.hpp"
#include "graph/expansion.hpp"
#include "ops/own_error.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

// The numbers of dimensions in "(m,m),(m,k)->(m,k)". Throws a ValueError for text that is not a signature.
struct Signature {
  std::vector<int> inputs, outputs;
};
Signature parse_signature(std::string_view text);

class Blockwise final : public Op,
                        public OwnError,
                        public StatesStructure,
                        public StatesDependencies,
                        public Expansion,
                        public EmitsTensors {
 public:
  Blockwise(OpRef core, std::string signature);
  const OpRef core;
  const std::string signature;

  std::string_view name() const override { return "Blockwise"; }
  // The core's name, the signature, and the core's attributes.
  Attributes attributes() const override;
  std::string label() const override;
  Apply make_node(std::span<const Variable> inputs) const override;
  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape> inputs) const override;
  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override;
  // The core's, vectorized.
  std::optional<Variables> expansion(const Apply& node) const override;
  bool emit(Lowering& to, const Apply& node) const override;
  void emit_tensors(TensorLowering& to, const Apply& node) const override;
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override;
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override;
  bool has_pushforward() const override { return core->has_pushforward(); }
  bool has_linear_pullback() const override { return core->has_linear_pullback(); }
  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override;
  Apply vectorize(const Apply& node, std::span<const Variable> batched) const override;
  std::optional<Array> dependencies(const Apply& node, int output, InputDependencies& inputs) const override;
  [[noreturn]] void raise() const override;
  Structure structure(const Apply& node, int output, InputStructures& inputs) const override;

  int batch_ndim(const Apply& node) const { return node.input(0).ndim() - dims_.inputs[0]; }

 private:
  std::string kind_name() const override { return "Blockwise " + std::string(core->name()); }
  void require_equal_batches(std::span<const Variable> inputs) const;
  // Vectorizes `of_core`, expressions in the variables of the core's node, over the whole batch.
  Variables vectorized(const Apply& node, const Apply& inner, const Variables& of_core,
                       Replacements replacements) const;
  // A node of the core on new inputs with the lengths that are known.
  Apply core_node(std::span<const Variable> inputs) const;

  const Signature dims_;
};

// The core's node if no input has batch dimensions, otherwise the node of a Blockwise. Inputs with fewer batch
// dimensions than others get additional ones of length 1.
Apply blockwise(const OpRef& core, const std::string& signature, std::span<const Variable> inputs);

}  // namespace bitale
