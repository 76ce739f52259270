// vectorize_graph: the same computation for a batch of inputs. Each op says what it does with batches.
#include <algorithm>

#include "bitale/autodiff/gradient.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "graph/evaluate.hpp"

namespace bitale {

namespace {

int batch_rank(const Variable& before, const Variable& after) {
  if (!before || !after) throw ValueError("vectorize_graph: a variable of a replacement is missing");
  int rank = after.ndim() - before.ndim();
  if (before.dtype() != after.dtype() || rank < 0)
    throw TypeError(cat("vectorize_graph: `", after.str(), "` of type ", after.type()->str(),
                        " is no batch of values like `", before.str(), "` of type ", before.type()->str()));
  return rank;
}

Apply batched_node(const Apply& node, const Variables& inputs) {
  bool any_batch = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) any_batch |= inputs[i].ndim() != node.inputs()[i].ndim();
  try {
    return any_batch ? node.op().vectorize(node, inputs) : node.with_inputs(inputs);
  } catch (Error& error) {
    add_node_context(error, node, {});
    throw;
  } catch (...) {
    describe_foreign_error(node, {});
    throw;
  }
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
    Apply copy = batched_node(node, inputs);
    for (std::size_t o = 0; o < node.output_count(); ++o) batched.emplace(node.output(int(o)), copy.output(int(o)));
  }
  Variables out;
  for (const Variable& output : outputs) out.push_back(batch_of(output));
  return out;
}

}  // namespace bitale
