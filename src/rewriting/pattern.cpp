// Compilation, matching and construction of patterns. Matching backtracks over a list of open goals (pattern node,
// variable), so that a commutative node can try its second order after everything to the right of it has failed.
#include "rewriting/pattern.hpp"

#include <algorithm>
#include <cmath>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/rewriting/rules.hpp"
#include "graph/evaluate.hpp"
#include "ops/elementwise/elemwise.hpp"

namespace bitale::rewriting {

namespace {

struct PatternConstantMark final : LeafData {};

template <class T, class Same>
int slot_of(std::vector<T>& table, const T& item, Same same) {
  auto found = std::find_if(table.begin(), table.end(), [&](const T& known) { return same(known, item); });
  if (found == table.end()) found = table.insert(table.end(), item);
  return int(found - table.begin());
}

bool is_essential(const Attribute& attribute) {
  return !std::holds_alternative<IntList>(attribute.value) && !std::holds_alternative<DType>(attribute.value);
}

Attributes essential(const Op& op) {
  Attributes out = op.attributes();
  std::erase_if(out, [](const Attribute& a) { return !is_essential(a); });
  return out;
}

}  // namespace

Variable pattern_variable(std::string name, DType dtype) {
  return Variable(tensor_type(dtype, Dims{}), std::move(name));
}

Variable pattern_constant(std::string name) {
  Variable out = pattern_variable(std::move(name));
  out.node()->leaf = make_ref<const PatternConstantMark>();
  return out;
}

bool is_pattern_constant(const Variable& leaf) {
  return dynamic_cast<const PatternConstantMark*>(leaf.node()->leaf.get()) != nullptr;
}

bool same_operation(const Op& pattern, const Op& actual) {
  return pattern.name() == actual.name() && essential(pattern) == essential(actual);
}

DType compute_dtype(const Apply& node) {
  if (node.op().elementwise()) return scalar_types(node).compute;
  const TensorType* result = as_tensor(node.output(0).type());
  return result ? result->dtype : DType::Float64;
}

Pattern::Pattern(const Variable& root, Variables& leaves, std::vector<OpRef>& ops) {
  std::vector<Variable> order = ancestors(std::span(&root, 1));
  std::unordered_map<const VariableNode*, int> position;
  std::vector<int> levels;
  for (auto& variable : order) {
    PatternNode node;
    node.source = variable;
    int level = 0;
    if (variable.has_owner()) {
      const Apply owner = variable.owner();
      node.kind = PatternNode::Kind::Apply;
      node.scalar = scalar_op_of(variable);
      node.commutative = node.scalar && node.scalar->has(bitale::commutative) && owner.inputs().size() == 2;
      if (!node.scalar)
        node.slot = slot_of(ops, owner.op_ref(), [](const OpRef& a, const OpRef& b) { return a->equals(*b); });
      for (auto& input : owner.inputs()) {
        node.inputs.push_back(position.at(input.node()));
        level = std::max(level, levels[std::size_t(node.inputs.back())]);
      }
      node.dtype = compute_dtype(owner);
      ++level;
    } else if (variable.is_constant()) {
      const std::optional<double> value = scalar_constant(variable);
      if (!value) throw ValueError(cat("a pattern's constants are numbers, got ", variable.str()));
      node.kind = PatternNode::Kind::Literal;
      node.value = *value;
    } else {
      node.kind = is_pattern_constant(variable) ? PatternNode::Kind::ConstantLeaf : PatternNode::Kind::Leaf;
      node.slot = slot_of(leaves, variable, [](const Variable& a, const Variable& b) { return a.same_as(b); });
    }
    position.emplace(variable.node(), int(nodes_.size()));
    nodes_.push_back(std::move(node));
    levels.push_back(level);
  }
  depth_ = levels.back();
  // Regions are assigned from the root down. Operands of operations that are not elementwise start regions of their
  // own.
  const auto open_region = [this](PatternNode& node) {
    node.region = regions_++;
    node.opens_region = true;
  };
  for (auto& node : nodes_) node.region = -1;
  open_region(nodes_.back());
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    const PatternNode node = nodes_[i];
    for (int at : node.inputs) {
      PatternNode& input = nodes_[std::size_t(at)];
      if (input.kind != PatternNode::Kind::Apply || input.region >= 0) continue;
      if (node.scalar)
        input.region = node.region;
      else
        open_region(input);
    }
  }
  std::vector<DType> dtypes(std::size_t(regions_), DType::Float64);
  for (auto& node : nodes_)
    if (node.opens_region) dtypes[std::size_t(node.region)] = node.dtype;
  for (auto& node : nodes_)
    node.computes_as_region = node.region >= 0 && node.dtype == dtypes[std::size_t(node.region)];
}

int Pattern::region_of_leaf(int leaf_slot) const {
  int region = -1;
  bool is_operand = false;
  for (auto& node : nodes_) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const PatternNode& input = nodes_[std::size_t(node.inputs[i])];
      const bool is_leaf = input.kind == PatternNode::Kind::Leaf || input.kind == PatternNode::Kind::ConstantLeaf;
      if (!is_leaf || input.slot != leaf_slot) continue;
      if (node.scalar && node.scalar->has_condition && i == 0) continue;
      if (node.scalar && node.computes_as_region) {
        if (region >= 0 && region != node.region) return many_regions;
        region = node.region;
      } else {
        is_operand = true;
      }
    }
  }
  return is_operand && region >= 0 ? many_regions : region;
}

namespace {

bool is_square(const PatternNode& wanted) { return wanted.scalar && wanted.scalar->name == "sqr"; }

bool may_be(const PatternNode& wanted, const Variable& v) {
  switch (wanted.kind) {
    case PatternNode::Kind::Leaf: return true;
    case PatternNode::Kind::ConstantLeaf:
    case PatternNode::Kind::Literal: return may_be_number(v);
    case PatternNode::Kind::Apply:
      if (!v.has_owner()) return false;
      if (v.owner_op()->kind() == wanted.source.owner_op()->kind()) return true;
      const ScalarOp* scalar = is_square(wanted) ? v.owner_op()->elementwise() : nullptr;
      return scalar && (scalar->name == "mul" || scalar->name == "pow");
  }
  return false;
}

// sqr(x) also matches x * x and x ** 2.
bool is_other_square(const ApplyNode& node) {
  const ScalarOp* scalar = node.op->elementwise();
  if (!scalar) return false;
  if (scalar->name == "mul") return node.inputs[0].same_as(node.inputs[1]);
  return scalar->name == "pow" && scalar_constant(node.inputs[1]) == 2;
}

}  // namespace

bool Pattern::may_match(const Apply& node) const {
  const std::vector<int>& wanted = root().inputs;
  const Variables& inputs = node.inputs();
  if (inputs.size() != wanted.size()) return false;
  const auto order_fits = [&](bool swapped) {
    for (std::size_t i = 0; i < std::min(wanted.size(), inputs_looked_at); ++i)
      if (!may_be(nodes_[std::size_t(wanted[i])], inputs[swapped ? wanted.size() - 1 - i : i])) return false;
    return true;
  };
  if (wanted.size() == 2 && wanted[0] == wanted[1] && !inputs[0].same_as(inputs[1])) return false;
  return order_fits(false) || (root().commutative && order_fits(true));
}

PatternNode* Pattern::find(const Variable& part) {
  for (auto& node : nodes_)
    if (equal_computations(std::span(&node.source, 1), std::span(&part, 1))) return &node;
  return nullptr;
}

// ---- matching -------------------------------------------------------------------------------------------------------

namespace {

struct Goal {
  const PatternNode* node;
  VariableNode* subject;
};

class Matcher {
 public:
  Matcher(const Pattern& pattern, const FunctionGraph& graph, Binding& binding)
      : pattern_(pattern), graph_(graph), binding_(binding) {}

  bool run(const Variable& subject) {
    if (!subject.has_owner()) return false;
    binding_.dtypes.assign(std::size_t(pattern_.region_count()), DType::Float64);
    goals_.push_back({&pattern_.root(), subject.node()});
    return solve();
  }

 private:
  // Solves all goals; on failure goals and bindings are restored. Recursion is no deeper than the size of the pattern.
  bool solve() {
    if (goals_.empty()) return true;
    const Goal goal = goals_.back();
    goals_.pop_back();
    if (solve(*goal.node, goal.subject)) return true;
    goals_.push_back(goal);
    return false;
  }

  bool solve(const PatternNode& node, VariableNode* subject) {
    switch (node.kind) {
      case PatternNode::Kind::Leaf: return bind(node.slot, subject);
      case PatternNode::Kind::ConstantLeaf:
        return scalar_constant(Variable::of(subject)).has_value() && bind(node.slot, subject);
      case PatternNode::Kind::Literal: return scalar_constant(Variable::of(subject)) == node.value && solve();
      case PatternNode::Kind::Apply: return solve_apply(node, subject);
    }
    return false;
  }

  bool bind(int slot, VariableNode* subject) {
    Variable& bound = binding_.leaves[std::size_t(slot)];
    if (bound.defined()) return bound.node() == subject && solve();
    bound = Variable::of(subject);
    if (solve()) return true;
    bound = Variable();
    return false;
  }

  bool solve_apply(const PatternNode& node, VariableNode* subject) {
    ApplyNode* owner = subject->owner;
    if (!owner || !same_op(node, *owner)) return false;
    if (!keeps_dtype(node, *owner)) return false;
    if (node.once_used && graph_.clients(Variable::of(subject)).size() != 1) return false;
    OpRef* slot = node.scalar ? nullptr : &binding_.ops[std::size_t(node.slot)];
    const OpRef before = slot ? *slot : OpRef();
    if (slot) *slot = owner->op;
    if (solve_inputs(node, *owner, false) || (node.commutative && solve_inputs(node, *owner, true))) return true;
    if (slot) *slot = before;
    return false;
  }

  bool same_op(const PatternNode& node, const ApplyNode& owner) const {
    if (is_square(node) && is_other_square(owner)) return true;
    if (owner.inputs.size() != node.inputs.size()) return false;
    if (node.scalar) return owner.op->elementwise() == node.scalar;
    const OpRef& bound = binding_.ops[std::size_t(node.slot)];
    return bound ? bound->equals(*owner.op) : same_operation(*node.source.owner_op(), *owner.op);
  }

  bool keeps_dtype(const PatternNode& node, ApplyNode& owner) {
    const DType dtype = compute_dtype(Apply::of(&owner));
    DType& of_region = binding_.dtypes[std::size_t(node.region)];
    if (node.opens_region) of_region = dtype;
    return dtype == (node.computes_as_region ? of_region : node.dtype);
  }

  bool solve_inputs(const PatternNode& node, const ApplyNode& owner, bool swapped) {
    const std::size_t n = node.inputs.size(), open = goals_.size();
    for (std::size_t i = n; i-- > 0;)
      goals_.push_back({&pattern_.nodes()[std::size_t(node.inputs[i])], owner.inputs[swapped ? n - 1 - i : i].node()});
    if (solve()) return true;
    goals_.resize(open);
    return false;
  }

  const Pattern& pattern_;
  const FunctionGraph& graph_;
  Binding& binding_;
  std::vector<Goal> goals_;
};

// For floats, whole numbers become small integers, which do not widen the dtype of the result.
Variable literal(double value, DType dtype) {
  if (is_integer(dtype)) return constant_like(value, dtype);
  if (!std::isfinite(value)) return constant_like(value, is_float(dtype) ? dtype : DType::Float64);
  if (value == std::trunc(value) && std::abs(value) < 1e15) return Operand::number(std::int64_t(value));
  const Variable plain = Operand::number(value);
  const bool widens = is_float(dtype) && !can_cast_safely(plain.dtype(), dtype);
  return widens ? constant_like(value, dtype) : plain;
}

}  // namespace

bool match(const Pattern& pattern, const FunctionGraph& graph, const Variable& subject, Binding& binding) {
  return Matcher(pattern, graph, binding).run(subject);
}

namespace {

// The number that an operation on numbers computes. Modes without constant folding would apply other rules to it
// forever: -2 * x, with -2 as the negation of 2, is -(2 * x), which is -2 * x again.
Variable folded(const Variable& v) {
  const auto is_number = [](const Variable& input) { return input.ndim() == 0 && input.is_constant(); };
  return std::ranges::all_of(v.owner().inputs(), is_number) ? constant(evaluate(v)) : v;
}

}  // namespace

Variable build(const Pattern& pattern, const Binding& binding) {
  Variables built;
  for (auto& node : pattern.nodes()) {
    switch (node.kind) {
      case PatternNode::Kind::Leaf:
      case PatternNode::Kind::ConstantLeaf: built.push_back(binding.leaves[std::size_t(node.slot)]); break;
      case PatternNode::Kind::Literal: built.push_back(literal(node.value, binding.dtypes[0])); break;
      case PatternNode::Kind::Apply: {
        Variables inputs;
        for (int input : node.inputs) inputs.push_back(built[std::size_t(input)]);
        built.push_back(node.scalar ? folded(apply_elemwise(node.scalar->name, inputs))
                                    : (*binding.ops[std::size_t(node.slot)])(inputs));
        break;
      }
    }
  }
  return built.back();
}

}  // namespace bitale::rewriting
