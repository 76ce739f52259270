// The reference interpreter: one node after the other, each by its op's `perform`.
#include "graph/evaluate.hpp"

#include <new>

#include "bitale/core/text.hpp"
#include "graph/aliasing.hpp"
#include "graph/pointer_map.hpp"
#include "graph/walk.hpp"

namespace bitale {

void evaluate_node(const Apply& node, std::span<const Array> in, std::span<Array> out) {
  try {
    node.op().perform(node, in, out);
  } catch (Error& error) {
    add_node_context(error, node, in);
    throw;
  } catch (const std::bad_alloc&) {
    OutOfMemoryError error(cat(node.op().label(), ": no memory"));
    add_node_context(error, node, in);
    throw error;
  } catch (...) {
    describe_foreign_error(node, in);
    throw;
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    const TypeBase& type = *node.node()->outputs[i].type;
    const TensorType* storage = type.storage();
    const bool is_host_only = type.is_host_only();
    if (!storage ||
        (is_host_only ? type.is_valid_value(out[i])
                      : !out[i].object() && storage->dtype == out[i].dtype() && storage->ndim() == out[i].ndim()))
      continue;
    const std::string made = out[i].object() ? out[i].str()
                                             : cat("an array of dtype ", dtype_name(out[i].dtype()), " and shape ",
                                                   tuple_text(out[i].shape()));
    InternalError error(cat(node.op().label(), ": output ", i, " should be ", type.str(), ", perform made ", made));
    add_node_context(error, node, in);
    throw error;
  }
}

void copy_destroyed(const Apply& node, std::span<Array> in) {
  for (int i : destroyed_inputs(node)) in[std::size_t(i)] = in[std::size_t(i)].copy();
}

std::vector<Array> evaluate(std::span<const Variable> outputs, std::span<const Variable> inputs,
                            std::span<const Array> values) {
  if (inputs.size() != values.size())
    throw ValueError(cat("evaluate: ", inputs.size(), " inputs but ", values.size(), " values"));
  struct Slot {
    Array value;
    std::size_t uses = 0;
    bool known = false;
  };
  std::vector<Slot> slots;
  PointerMap<std::size_t> slot_of;
  auto slot = [&](const VariableNode* v) -> Slot& {
    auto [at, is_new] = slot_of.insert(v, slots.size());
    if (is_new) slots.emplace_back();
    return slots[*at];
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Slot& given = slot(inputs[i].node());
    given.value = values[i];
    given.known = true;
    given.uses = 1;  // the caller keeps it
  }
  std::vector<ApplyNode*> order;
  auto given = [&](const VariableNode* v) { return slot_of.contains(v); };
  visit_nodes(outputs, given, [&](ApplyNode* node) { order.push_back(node); });
  for (ApplyNode* node : order)
    for (const Variable& input : node->inputs) ++slot(input.node()).uses;
  for (const Variable& output : outputs) ++slot(output.node()).uses;

  auto take = [&](const Variable& v) {
    if (const Array* value = v.constant()) return *value;
    Slot& found = slot(v.node());
    if (!found.known)
      throw MissingInputError(cat("evaluate: no value is given for `", v.str(), "` of type ", v.type()->str()));
    Array value = found.value;
    if (--found.uses == 0) found.value = Array();
    return value;
  };
  std::vector<Array> in, out;
  for (ApplyNode* pointer : order) {
    Apply node = Apply::of(pointer);
    in.clear();
    for (const Variable& input : node.inputs()) in.push_back(take(input));
    out.assign(node.output_count(), Array());
    copy_destroyed(node, in);
    try {
      evaluate_node(node, in, out);
    } catch (Error& error) {
      std::vector<StoredValue> stored;
      PointerSet seen;
      for (std::size_t i = 0; i < in.size(); ++i)
        if (!node.input(int(i)).is_constant() && seen.insert(node.input(int(i)).node()))
          stored.push_back({node.input(int(i)).node(), &in[i]});
      slot_of.for_each([&](const void* v, std::size_t at) {
        if (slots[at].known && slots[at].uses && seen.insert(v))
          stored.push_back({static_cast<const VariableNode*>(v), &slots[at].value});
      });
      add_storage(error, stored);
      throw;
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
      Slot& result = slot(&pointer->outputs[i]);
      if (result.known || result.uses == 0) continue;  // a given value stands
      result.value = out[i];
      result.known = true;
    }
  }
  std::vector<Array> results;
  for (const Variable& output : outputs) results.push_back(take(output));
  return results;
}

Array evaluate(const Variable& output, std::span<const Variable> inputs, std::span<const Array> values) {
  return evaluate(std::span(&output, 1), inputs, values)[0];
}

}  // namespace bitale
