#include "ops/control/batch_last.hpp"

#include <unordered_map>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/op.hpp"
#include "bitale/ops/arrange.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"

namespace bitale {

namespace {

std::unordered_map<std::type_index, BatchLast>& declarations() {
  static auto* const table = new std::unordered_map<std::type_index, BatchLast>;  // never destroyed
  return *table;
}

BatchLast form_of(const Apply& node) {
  const Op& op = node.op();
  if (const auto found = declarations().find(typeid(op)); found != declarations().end()) return found->second;
  const bool is_view = !op.view_of(node, 0).empty();
  return is_view ? batch_between_exchanges : nullptr;
}

}  // namespace

RegisterBatchLast::RegisterBatchLast(std::type_index op, BatchLast form) { declarations().emplace(op, form); }

bool Batched::has(std::size_t i) const { return as_tensor(own(i).type()) && inputs[i].ndim() > own(i).ndim(); }

bool Batched::none_from(std::size_t first) const {
  for (std::size_t i = first; i < inputs.size(); ++i)
    if (has(i)) return false;
  return true;
}

Variable Batched::length() const {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (has(i)) return length_of(inputs[i], own(i).ndim());
  throw InternalError("a node without batches");
}

Variable Batched::behind(std::size_t i) const { return has(i) ? inputs[i] : expand_dims(inputs[i], inputs[i].ndim()); }

Variable Batched::repeated(std::size_t i) const {
  if (has(i)) return inputs[i];
  Shape shape = lengths_of(inputs[i]);
  shape.push_back(length());
  return alloc(behind(i), shape);
}

Variables Batched::with(Variables first, std::size_t rest) const {
  first.insert(first.end(), inputs.begin() + std::ptrdiff_t(rest), inputs.end());
  return first;
}

Variables batch_as_further_dimension(const Batched& batched) {
  if (!batched.none_from(1)) return {};
  return batched.node.op().make_node(batched.inputs).outputs();
}

Variables batch_of_updates(const Batched& batched) {
  if (!batched.none_from(2)) return {};
  return batched.node.op().make_node(batched.with({batched.repeated(0), batched.behind(1)}, 2)).outputs();
}

Variables batch_between_exchanges(const Batched& batched) {
  Variables first;
  for (std::size_t i = 0; i < batched.inputs.size(); ++i)
    first.push_back(batched.has(i) ? moveaxis(batched.inputs[i], -1, 0) : batched.inputs[i]);
  Variables outputs = batched.node.op().vectorize(batched.node, first).outputs();
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (as_tensor(outputs[k].type()) && outputs[k].ndim() > batched.node.output(int(k)).ndim())
      outputs[k] = moveaxis(outputs[k], 0, -1);
  return outputs;
}

Variables with_batch_last(const Apply& node, const Variables& inputs) {
  const Batched batched{node, inputs};
  if (batched.none_from(0)) return node.with_inputs(inputs).outputs();
  const BatchLast form = form_of(node);
  Variables outputs = form ? form(batched) : Variables();
  if (outputs.empty())
    throw NotImplementedError(
        cat("vectorize_graph: ", node.op().label(), " has no form for batches along the last axis"));
  return outputs;
}

}  // namespace bitale
