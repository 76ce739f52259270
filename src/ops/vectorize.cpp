// vectorize_graph: the same computation for a batch of inputs. Each op says what it does with batches.
#include <algorithm>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/vectorize.hpp"
#include "graph/evaluate.hpp"
#include "ops/lengths.hpp"
#include "ops/shape.hpp"

namespace bitale {

namespace {

int batch_rank(const Variable& before, const Variable& after) {
  if (!before || !after) throw ValueError("vectorize_graph: a variable of a replacement is missing");
  if (!as_tensor(before.type()) && before.type()->is_super(*after.type())) return 0;
  int rank = after.ndim() - before.ndim();
  if (before.dtype() != after.dtype() || rank < 0)
    throw TypeError(cat("vectorize_graph: `", after.str(), "` of type ", after.type()->str(),
                        " is no batch of values like `", before.str(), "` of type ", before.type()->str()));
  return rank;
}

// How many dimensions a batch has more. Values that are no tensors have none: there is one for the whole batch.
int gained(const Variable& before, const Variable& after) {
  return as_tensor(before.type()) && as_tensor(after.type()) ? after.ndim() - before.ndim() : 0;
}

Apply batched_node(const Apply& node, const Variables& inputs) {
  bool any_batch = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) any_batch |= gained(node.inputs()[i], inputs[i]) != 0;
  return with_node_context(node,
                           [&] { return any_batch ? node.op().vectorize(node, inputs) : node.with_inputs(inputs); });
}

// The lengths of the batch dimensions, of which an input may have some with length 1.
Shape lengths_of_batch(const Replacements& replacements, const VariableMap& batched, int ranks) {
  Shape out;
  for (int axis = 0; axis < ranks; ++axis) {
    Variable length = int64_constant(1);
    for (auto& [before, after] : replacements) {
      const Variable& aligned = batched.at(before);
      if (gained(before, aligned) == 0 || aligned.tensor().broadcasts(axis)) continue;
      length = length_of(aligned, axis);
      break;
    }
    out.push_back(length);
  }
  return out;
}

}  // namespace

Variables vectorize_graph(const Variables& outputs, const Replacements& replacements) {
  int ranks = 0;
  for (auto& [before, after] : replacements) ranks = std::max(ranks, batch_rank(before, after));
  VariableMap batched;
  VariableSet replaced;
  for (auto& [before, after] : replacements) {
    // An op is promised that all its batched inputs have the same number of batch dimensions.
    Variable aligned = after;
    if (int own = batch_rank(before, after))
      for (; own < ranks; ++own) aligned = expand_dims(aligned, 0);
    batched.emplace(before, aligned);
    replaced.insert(before);
  }
  auto batch_of = [&](const Variable& v) {
    auto found = batched.find(v);
    return found == batched.end() ? v : found->second;
  };
  for (const Apply& node : toposort(outputs, replaced)) {
    Variables inputs;
    bool changed = false;
    for (const Variable& input : node.inputs()) {
      inputs.push_back(batch_of(input));
      changed |= !inputs.back().same_as(input);
    }
    if (!changed) continue;
    // A length is the same for all of the batch: what is built of lengths has no batch dimensions.
    if (auto* length = dynamic_cast<const ShapeI*>(&node.op())) {
      const int gained = inputs[0].ndim() - node.input(0).ndim();
      batched.emplace(node.output(), length_of(inputs[0], length->i + gained));
      continue;
    }
    Apply copy = batched_node(node, inputs);
    for (std::size_t o = 0; o < node.output_count(); ++o) batched.emplace(node.output(int(o)), copy.output(int(o)));
  }
  Variables out;
  for (const Variable& output : outputs) {
    out.push_back(batch_of(output));
    if (out.back().same_as(output) || !as_tensor(output.type()) || gained(output, out.back())) continue;
    Shape shape = lengths_of_batch(replacements, batched, ranks);
    for (auto& length : lengths_of(out.back())) shape.push_back(length);
    out.back() = alloc(out.back(), shape);
  }
  return out;
}

}  // namespace bitale
