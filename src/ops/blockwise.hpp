// Blockwise: any op on matrices (or vectors, ...), its core, applied to each of a batch. Its signature says how many
// trailing dimensions of each input and output belong to the core; those before them are batch dimensions, which
// broadcast as those of elementwise operations do. Native code is that of the core in a loop over the batch;
// derivatives are the core's, vectorized.
#pragma once

#include <string>
#include <vector>

#include "bitale/graph/op.hpp"
#include "bitale/graph/structure.hpp"
#include "bitale/ops/vectorize.hpp"
#include "ops/own_error.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

// "(m,m),(m,k)->(m,k)" as numbers of dimensions. ValueError for a text that is no signature.
struct Signature {
  std::vector<int> inputs, outputs;
};
Signature parse_signature(std::string_view text);

class Blockwise final : public Op, public OwnError, public StatesStructure, public EmitsTensors {
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
  bool emit(Lowering& to, const Apply& node) const override;
  void emit_tensors(TensorLowering& to, const Apply& node) const override;
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override;
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override;
  bool has_pushforward() const override { return core->has_pushforward(); }
  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override;
  Apply vectorize(const Apply& node, std::span<const Variable> batched) const override;
  [[noreturn]] void raise() const override;
  Structure structure(const Apply& node, int output, InputStructures& inputs) const override;

  int batch_ndim(const Apply& node) const { return node.input(0).ndim() - dims_.inputs[0]; }

 private:
  std::string kind_name() const override { return "Blockwise " + std::string(core->name()); }
  void require_equal_batches(std::span<const Variable> inputs) const;
  // What the core's node says in terms of its own variables, for the whole batch.
  Variables vectorized(const Apply& node, const Apply& inner, const Variables& of_core,
                       Replacements replacements) const;
  // The core on inputs of its own, with the lengths that are known.
  Apply core_node(std::span<const Variable> inputs) const;

  const Signature dims_;
};

// The node of the core where no input has batch dimensions, else that of a Blockwise. Inputs with fewer batch
// dimensions than others get more of length 1.
Apply blockwise(const OpRef& core, const std::string& signature, std::span<const Variable> inputs);

}  // namespace bitale
