// The reference interpreter: runs the nodes sequentially, each by its op's `perform`.
#include "graph/evaluate.hpp"

#include <algorithm>
#include <new>

#include "bitale/core/text.hpp"
#include "graph/aliasing.hpp"
#include "graph/lazy.hpp"
#include "graph/pointer_map.hpp"
#include "graph/walk.hpp"

namespace bitale {

namespace {

// The complex array with these parts; with `is_view`, a view of the complex elements whose real parts `real` shows.
Array complex_of(const Array& real, const Array& imag, bool is_view) {
  if (is_view) return real.as_complex();
  const Array out = Array::empty(promote(real.dtype(), DType::Complex64), real.shape());
  out.component(0).assign(real);
  out.component(1).assign(imag);
  return out;
}

void perform_by_parts(const Apply& node, std::span<const Array> in, std::span<Array> out) {
  Variables inputs(node.inputs().begin(), node.inputs().end());
  for (auto& input : inputs)
    if (is_complex(input)) input = Variable(tensor_type(component_dtype(input.dtype()), input.static_shape()));
  const RuleScope no_provenance("complex");
  const Apply real = node.op().component_op()->make_node(inputs);
  std::vector<Array> parts[2];
  for (int part = 0; part < 2; ++part) {
    std::vector<Array> given(in.begin(), in.end());
    for (auto& value : given)
      if (is_complex(value.dtype())) value = value.component(part);
    parts[part].assign(out.size(), Array());
    real.op().perform(real, given, parts[part]);
  }
  for (std::size_t k = 0; k < out.size(); ++k) {
    const Array &first = parts[0][k], &second = parts[1][k];
    bool is_view = false;
    for (int i : node.op().view_of(node, int(k))) is_view |= first.shares_memory_with(in[std::size_t(i)]);
    out[k] = is_complex(node.output(int(k))) ? complex_of(first, second, is_view) : first;
  }
}

void perform_formula(const Apply& node, std::span<const Array> in, std::span<Array> out) {
  const RuleScope no_provenance("complex");
  std::vector<ComplexParts> parts;
  Variables leaves;
  std::vector<Array> values;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const Variable& input = node.input(int(i));
    const auto add = [&](int part) {
      values.push_back(in[i].component(part));
      leaves.emplace_back(tensor_type(values.back().dtype(), input.static_shape()));
      return leaves.back();
    };
    const Variable real = add(0);
    parts.push_back({real, is_complex(input) ? add(1) : Variable()});
  }
  const PartsOfOutputs found = node.op().complex_parts(node, parts);
  if (!found) throw InternalError(cat(node.op().label(), ": it has no formula of real and imaginary parts"));
  for (std::size_t k = 0; k < out.size(); ++k) {
    const auto& [real, imag] = (*found)[k];
    out[k] = imag.defined() ? complex_of(evaluate(real, leaves, values), evaluate(imag, leaves, values), false)
                            : evaluate(real, leaves, values);
  }
}

}  // namespace

void perform_node(const Apply& node, std::span<const Array> in, std::span<Array> out) {
  if (node.op().complex_form() == ComplexForm::by_parts && touches_complex(node))
    perform_by_parts(node, in, out);
  else if (node.op().complex_form() == ComplexForm::formula && touches_complex(node))
    perform_formula(node, in, out);
  else
    node.op().perform(node, in, out);
}

namespace {

// A view of an input that the op does not declare would let others write into memory of the input's owner.
void copy_undeclared_views(const Apply& node, std::span<const Array> in, std::span<Array> out) {
  for (std::size_t k = 0; k < out.size(); ++k)
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (out[k].object() || !out[k].shares_memory_with(in[i])) continue;
      const std::vector<int> viewed = node.op().view_of(node, int(k)), destroyed = node.op().destroys(node, int(k));
      const auto declares = [&](const std::vector<int>& inputs) {
        return std::find(inputs.begin(), inputs.end(), int(i)) != inputs.end();
      };
      if (declares(viewed) || declares(destroyed)) continue;
      out[k] = out[k].copy();
      break;
    }
}

}  // namespace

void evaluate_node(const Apply& node, std::span<const Array> in, std::span<Array> out) {
  try {
    perform_node(node, in, out);
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
    TypeError error(cat(node.op().label(), ": output ", i, " should be ", type.str(), ", perform made ", made));
    add_node_context(error, node, in);
    throw error;
  }
  copy_undeclared_views(node, in, out);
}

void copy_destroyed(const Apply& node, std::span<Array> in) {
  for (int i : destroyed_inputs(node)) in[std::size_t(i)] = in[std::size_t(i)].copy();
}

namespace {

// One evaluation of a graph. Nodes run in topological order. What only an alternative of a lazy node needs runs when
// the node has chosen it.
class Evaluation {
 public:
  Evaluation(std::span<const Variable> outputs, std::span<const Variable> inputs, std::span<const Array> values)
      : outputs_(outputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      Slot& given = slot(inputs[i].node());
      given.value = values[i];
      given.known = true;
      given.uses = 1;  // the caller keeps it
    }
    auto given = [&](const VariableNode* v) { return slot_of_.contains(v); };
    visit_nodes(outputs, given, [&](ApplyNode* node) { order_.push_back(node); });
    for (ApplyNode* node : order_)
      for (const Variable& input : node->inputs) ++slot(input.node()).uses;
    for (const Variable& output : outputs) ++slot(output.node()).uses;
  }

  std::vector<Array> run() {
    const bool is_lazy = std::ranges::any_of(order_, [](ApplyNode* node) { return lazy_inputs(Apply::of(node)); });
    const PointerSet needed = is_lazy ? needed_nodes() : PointerSet();
    for (ApplyNode* node : order_)
      if (!is_lazy)
        step(node);
      else if (needed.contains(node))
        demand(node);
    std::vector<Array> results;
    for (const Variable& output : outputs_) results.push_back(take(output));
    return results;
  }

 private:
  struct Slot {
    Array value;
    std::size_t uses = 0;
    bool known = false;
  };
  Slot& slot(const VariableNode* v) {
    auto [at, is_new] = slot_of_.insert(v, slots_.size());
    if (is_new) slots_.emplace_back();
    return slots_[*at];
  }
  bool is_known(const Variable& v) { return v.is_constant() || !v.node()->owner || slot(v.node()).known; }

  // The nodes that are needed whatever lazy nodes choose.
  PointerSet needed_nodes() const {
    PointerSet out;
    const auto need = [&](const Variable& v) {
      if (v.node()->owner) out.insert(v.node()->owner);
    };
    for (const Variable& output : outputs_) need(output);
    for (auto node = order_.rbegin(); node != order_.rend(); ++node) {
      if (!out.contains(*node)) continue;
      const Apply apply = Apply::of(*node);
      if (const LazyInputs* lazy = lazy_inputs(apply))
        for (int input : needed_first(apply, *lazy)) need(apply.input(input));
      else
        for (const Variable& input : (*node)->inputs) need(input);
    }
    return out;
  }

  // Runs the node after all nodes that it depends on and that have not run yet.
  void demand(ApplyNode* wanted) {
    std::vector<ApplyNode*> waiting{wanted};
    while (!waiting.empty()) {
      ApplyNode* const node = waiting.back();
      const std::size_t before = waiting.size();
      if (!done_.contains(node)) push_missing(node, waiting);
      if (waiting.size() != before) continue;
      if (done_.insert(node)) step(node);
      waiting.pop_back();
    }
  }
  void push_missing(ApplyNode* node, std::vector<ApplyNode*>& waiting) {
    const auto push = [&](const Variable& v) {
      if (!is_known(v)) waiting.push_back(v.node()->owner);
    };
    const Apply apply = Apply::of(node);
    const LazyInputs* lazy = lazy_inputs(apply);
    if (!lazy) {
      for (const Variable& input : node->inputs) push(input);
      return;
    }
    const std::size_t before = waiting.size();
    std::vector<Array> in(node->inputs.size());
    for (int input : needed_first(apply, *lazy)) push(apply.input(input));
    if (waiting.size() != before) return;
    for (int input : needed_first(apply, *lazy)) in[std::size_t(input)] = value_of(apply.input(input));
    const auto alternatives = lazy->alternatives(apply);
    for (int input : alternatives.at(lazy->chosen(apply, in))) push(apply.input(input));
  }

  const Array& value_of(const Variable& v) {
    if (const Array* value = v.constant()) return *value;
    const Slot& found = slot(v.node());
    if (!found.known && !v.node()->owner)
      throw MissingInputError(cat("evaluate: no value is given for `", v.str(), "` of type ", v.type()->str()));
    return found.value;
  }
  Array take(const Variable& v) {
    Array value = value_of(v);
    if (v.is_constant()) return value;
    if (Slot& found = slot(v.node()); --found.uses == 0) found.value = Array();
    return value;
  }

  void step(ApplyNode* pointer) {
    const Apply node = Apply::of(pointer);
    std::vector<Array> in, out(node.output_count());
    for (const Variable& input : node.inputs()) in.push_back(take(input));
    copy_destroyed(node, in);
    try {
      evaluate_node(node, in, out);
    } catch (Error& error) {
      add_values(error, node, in);
      throw;
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
      Slot& result = slot(&pointer->outputs[i]);
      if (result.known) continue;  // given values are not overwritten
      if (result.uses > 0) result.value = out[i];
      result.known = true;
    }
  }
  void add_values(Error& error, const Apply& node, std::span<const Array> in) {
    std::vector<StoredValue> stored;
    PointerSet seen;
    for (std::size_t i = 0; i < in.size(); ++i)
      if (!node.input(int(i)).is_constant() && seen.insert(node.input(int(i)).node()))
        stored.push_back({node.input(int(i)).node(), &in[i]});
    slot_of_.for_each([&](const void* v, std::size_t at) {
      if (slots_[at].known && slots_[at].uses && seen.insert(v))
        stored.push_back({static_cast<const VariableNode*>(v), &slots_[at].value});
    });
    add_storage(error, stored);
  }

  const std::span<const Variable> outputs_;
  std::vector<Slot> slots_;
  PointerMap<std::size_t> slot_of_;
  std::vector<ApplyNode*> order_;
  PointerSet done_;
};

}  // namespace

std::vector<Array> evaluate(std::span<const Variable> outputs, std::span<const Variable> inputs,
                            std::span<const Array> values) {
  if (inputs.size() != values.size())
    throw ValueError(cat("evaluate: ", inputs.size(), " inputs but ", values.size(), " values"));
  return Evaluation(outputs, inputs, values).run();
}

Array evaluate(const Variable& output, std::span<const Variable> inputs, std::span<const Array> values) {
  return evaluate(std::span(&output, 1), inputs, values)[0];
}

}  // namespace bitale
