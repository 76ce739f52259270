// Postorder walks over expression graphs, all on an explicit stack: a variable is visited after everything it needs.
#include "bitale/graph/traversal.hpp"

#include <algorithm>
#include <utility>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/test_value.hpp"
#include "graph/copy.hpp"
#include "graph/hash.hpp"
#include "graph/walk.hpp"

namespace bitale {

namespace {

// Calls visit(variable) for every variable that the outputs need, after those it needs itself; visit returns whether to
// continue.
template <class Blocked, class Visit>
void visit_variables(std::span<const Variable> outputs, Blocked&& blocked, Visit&& visit) {
  PointerSet seen;
  std::vector<std::pair<VariableNode*, std::size_t>> stack;
  auto enter = [&](const Variable& v) {
    if (seen.insert(v.node())) stack.push_back({v.node(), 0});
  };
  for (const Variable& output : outputs) {
    if (!output.defined()) refuse_null_handle("Variable");
    enter(output);
    while (!stack.empty()) {
      auto& [variable, next] = stack.back();
      ApplyNode* owner = blocked(variable) ? nullptr : variable->owner;
      if (owner && next < owner->inputs.size()) {
        enter(owner->inputs[next++]);
      } else {
        VariableNode* done = variable;
        stack.pop_back();
        if (!visit(done, owner == nullptr)) return;
      }
    }
  }
}

auto member_of(const VariableSet& blockers) {
  return [&blockers](VariableNode* node) { return !blockers.empty() && blockers.contains(Variable::of(node)); };
}

bool is_constant(const VariableNode* node) { return node->leaf && node->leaf->constant(); }

}  // namespace

std::vector<Apply> toposort(std::span<const Variable> outputs, const VariableSet& blockers) {
  std::vector<Apply> order;
  visit_nodes(outputs, member_of(blockers), [&](ApplyNode* node) { order.push_back(Apply::of(node)); });
  return order;
}

Variables ancestors(std::span<const Variable> outputs, const VariableSet& blockers) {
  Variables found;
  visit_variables(outputs, member_of(blockers), [&](VariableNode* node, bool) {
    found.push_back(Variable::of(node));
    return true;
  });
  return found;
}

Variables graph_inputs(std::span<const Variable> outputs, const VariableSet& blockers) {
  Variables found;
  visit_variables(outputs, member_of(blockers), [&](VariableNode* node, bool leaf) {
    if (leaf && !is_constant(node)) found.push_back(Variable::of(node));
    return true;
  });
  return found;
}

Variables explicit_graph_inputs(std::span<const Variable> outputs) {
  Variables found = graph_inputs(outputs);
  std::erase_if(found, [](const Variable& v) { return bool(v.node()->leaf); });
  return found;
}

bool depends_on(const Variable& output, std::span<const Variable> candidates) {
  VariableSet wanted(candidates.begin(), candidates.end());
  bool found = false;
  visit_variables({&output, 1}, NoBlockers(), [&](VariableNode* node, bool) {
    found = wanted.contains(Variable::of(node));
    return !found;
  });
  return found;
}

std::size_t node_count(std::span<const Variable> outputs) {
  std::size_t count = 0;
  visit_nodes(outputs, NoBlockers(), [&](ApplyNode*) { ++count; });
  return count;
}

// ---- copies --------------------------------------------------------------------------------------------------------

Apply copy_node(const Apply& node, Variables inputs) {
  std::vector<Type> types;
  for (std::size_t i = 0; i < node.output_count(); ++i) types.push_back(node.node()->outputs[i].type);
  const TestValuesOff as_it_is;
  Apply copy(node.op_ref(), std::move(inputs), types);
  copy.node()->provenance = node.provenance();
  return copy;
}

void copy_names(const Apply& from, const Apply& to) {
  for (std::size_t i = 0; i < from.output_count(); ++i) {
    if (to.node()->outputs[i].name.empty()) to.node()->outputs[i].name = from.node()->outputs[i].name;
    const Tag* tag = from.node()->outputs[i].tag.get();
    if (tag && !tag->is_guarded) to.output(int(i)).tag().is_guarded = false;
  }
}

namespace {

Variable copy_leaf(const Variable& leaf) {
  Variable copy(leaf.type(), leaf.name());
  copy.node()->leaf = leaf.node()->leaf;
  copy.node()->where = leaf.node()->where;
  if (leaf.node()->tag) copy.node()->tag = make_ref<Tag>(*leaf.node()->tag);
  return copy;
}

}  // namespace

Variables copy_graph(std::span<const Variable> outputs, CopyMemo& memo, ClonedLeaves leaves) {
  auto known = [&](VariableNode* node) { return memo.indices.contains(node); };
  auto copy_of = [&](const Variable& v) {
    if (const Variable* copy = memo.find(v)) return *copy;
    if (v.has_owner() || v.is_constant() || leaves == ClonedLeaves::Keep) return v;
    Variable copy = copy_leaf(v);
    memo.insert(v, copy);
    return copy;
  };
  std::vector<ApplyNode*> order;
  visit_nodes(outputs, known, [&](ApplyNode* node) { order.push_back(node); });
  for (ApplyNode* node : order) {
    Apply original = Apply::of(node);
    Variables inputs;
    inputs.reserve(node->inputs.size());
    for (const Variable& input : node->inputs) inputs.push_back(copy_of(input));
    Apply copy = copy_node(original, std::move(inputs));
    copy_names(original, copy);
    for (std::size_t i = 0; i < original.output_count(); ++i) memo.insert(original.output(int(i)), copy.output(int(i)));
  }
  Variables copies;
  for (const Variable& output : outputs) copies.push_back(copy_of(output));
  return copies;
}

Variables clone(std::span<const Variable> outputs, VariableMap& memo, ClonedLeaves leaves) {
  CopyMemo copies;
  for (auto& [original, copy] : memo) copies.insert(original, copy);
  Variables out = copy_graph(outputs, copies, leaves);
  memo.insert(copies.pairs.begin(), copies.pairs.end());
  return out;
}

// ---- replacement ---------------------------------------------------------------------------------------------------

namespace {

void require_fitting_type(const Variable& before, const Variable& after) {
  if (!after.defined()) throw ValueError(cat("replacement of `", before.str(), "`: there is no variable"));
  if (!before.type()->is_super(*after.type()))
    throw TypeError(cat("cannot replace `", before.str(), "` of type ", before.type()->str(), " by `", after.str(),
                        "` of type ", after.type()->str()));
}

// The node with replaced inputs; types are inferred again only if the type of an input has changed.
Apply rebuild(const Apply& node, Variables inputs) {
  bool same_types = true;
  for (std::size_t i = 0; i < inputs.size(); ++i) same_types &= inputs[i].type()->equals(*node.inputs()[i].type());
  Apply out = same_types ? copy_node(node, std::move(inputs)) : node.with_inputs(std::move(inputs));
  copy_names(node, out);
  if (same_types && config::test_values() != config::TestValues::off) compute_test_values(out);
  return out;
}

}  // namespace

Variables clone_replace(std::span<const Variable> outputs, const Replacements& replacements) {
  VariableMap memo;
  for (auto& [before, after] : replacements) {
    if (!before.defined()) throw ValueError("replacement: there is no variable to replace");
    require_fitting_type(before, after);
    memo.emplace(before, after);
  }
  auto replaced = [&](const Variable& v) {
    auto found = memo.find(v);
    return found == memo.end() ? v : found->second;
  };
  // Nodes that depend on no replaced variable are kept as they are.
  auto known = [&](VariableNode* node) { return memo.contains(Variable::of(node)); };
  std::vector<ApplyNode*> order;
  visit_nodes(outputs, known, [&](ApplyNode* node) { order.push_back(node); });
  for (ApplyNode* pointer : order) {
    Apply node = Apply::of(pointer);
    Variables inputs;
    bool changed = false;
    for (const Variable& input : node.inputs()) {
      inputs.push_back(replaced(input));
      changed |= !inputs.back().same_as(input);
    }
    if (!changed) continue;
    Apply copy = rebuild(node, std::move(inputs));
    for (std::size_t i = 0; i < node.output_count(); ++i) memo.emplace(node.output(int(i)), copy.output(int(i)));
  }
  Variables out;
  for (const Variable& output : outputs) out.push_back(replaced(output));
  return out;
}

Variables graph_replace(std::span<const Variable> outputs, const Replacements& replacements, Strict strict) {
  if (strict == Strict::Yes && !replacements.empty()) {
    PointerSet present;
    visit_variables(outputs, NoBlockers(), [&](VariableNode* node, bool) { return present.insert(node), true; });
    for (auto& [before, after] : replacements)
      if (!present.contains(before.node()))
        throw ValueError(cat("graph_replace: `", before.defined() ? before.str() : "<no variable>",
                             "` is to be replaced but does not occur in the graph"));
  }
  return clone_replace(outputs, replacements);
}

// ---- equality ------------------------------------------------------------------------------------------------------

namespace {

// Value numbering: two variables compute the same exactly if their numbers are equal. Nodes are numbered by op and the
// numbers of their inputs, so each graph is traversed once.
class Numbering {
 public:
  using Number = std::size_t;

  Number fresh() { return ++last_; }

  Number of_constant(const Array& value) {
    std::size_t hash = hash_array(value);
    auto [from, to] = constants_.equal_range(hash);
    for (auto it = from; it != to; ++it)
      if (identical(it->second.first, value)) return it->second.second;
    return constants_.emplace(hash, std::pair(value, fresh()))->second.second;
  }

  // The number of the first output; those of the other outputs follow.
  Number of_node(const ApplyNode* node, std::vector<Number> inputs) {
    std::size_t hash = node->op->hash();
    for (Number n : inputs) hash = hash_mix(hash, n);
    auto [from, to] = nodes_.equal_range(hash);
    for (auto it = from; it != to; ++it)
      if (it->second.inputs == inputs && it->second.node->op->equals(*node->op)) return it->second.first;
    Number first = fresh();
    last_ += node->output_count;
    nodes_.emplace(hash, Known{node, std::move(inputs), first});
    return first;
  }

 private:
  struct Known {
    const ApplyNode* node;
    std::vector<Number> inputs;
    Number first;
  };
  Number last_ = 0;
  std::unordered_multimap<std::size_t, std::pair<Array, Number>> constants_;
  std::unordered_multimap<std::size_t, Known> nodes_;
};

// The numbers of the outputs; some variables (of one of the two graphs) are numbered already.
std::vector<std::size_t> number_outputs(std::span<const Variable> outputs, PointerMap<std::size_t>& numbers,
                                        PointerMap<std::size_t>& leaves, Numbering& numbering) {
  auto known = [&](VariableNode* node) { return numbers.contains(node); };
  auto number_of = [&](const Variable& v) {
    if (auto* n = numbers.find(v.node())) return *n;
    if (const Array* value = v.constant()) return *numbers.insert(v.node(), numbering.of_constant(*value)).first;
    auto [n, is_new] = leaves.insert(v.node());  // an ordinary leaf is equal only to itself, in both graphs
    if (is_new) *n = numbering.fresh();
    return *n;
  };
  visit_nodes(outputs, known, [&](ApplyNode* node) {
    std::vector<std::size_t> inputs;
    for (const Variable& input : node->inputs) inputs.push_back(number_of(input));
    std::size_t first = numbering.of_node(node, std::move(inputs));
    for (std::size_t i = 0; i < node->output_count; ++i) numbers.insert(&node->outputs[i], first + i);
  });
  std::vector<std::size_t> out;
  for (const Variable& output : outputs) out.push_back(number_of(output));
  return out;
}

bool same_types(std::span<const Variable> xs, std::span<const Variable> ys) {
  return std::ranges::equal(xs, ys, [](auto& x, auto& y) { return x.type()->equals(*y.type()); });
}

}  // namespace

bool equal_computations(std::span<const Variable> xs, std::span<const Variable> ys, std::span<const Variable> in_xs,
                        std::span<const Variable> in_ys) {
  if (xs.size() != ys.size()) throw ValueError(cat("equal_computations: ", xs.size(), " outputs against ", ys.size()));
  if (in_xs.size() != in_ys.size())
    throw ValueError(cat("equal_computations: ", in_xs.size(), " inputs against ", in_ys.size()));
  if (!same_types(xs, ys) || !same_types(in_xs, in_ys)) return false;
  Numbering numbering;
  PointerMap<std::size_t> in_x, in_y, leaves;
  for (std::size_t i = 0; i < in_xs.size(); ++i) {
    std::size_t number = numbering.fresh();
    in_x.insert(in_xs[i].node(), number);
    in_y.insert(in_ys[i].node(), number);
  }
  return number_outputs(xs, in_x, leaves, numbering) == number_outputs(ys, in_y, leaves, numbering);
}

}  // namespace bitale
