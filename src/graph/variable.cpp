// Reference counting of variables and nodes, and queries on variables.
#include "bitale/graph/variable.hpp"

#include <utility>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/op.hpp"
#include "bitale/graph/test_value.hpp"
#include "graph/line_scope.hpp"
#include "graph/rule_scope.hpp"

namespace bitale {

namespace {

thread_local const char* current_rule = nullptr;
thread_local Location line_in_rule;

// Nodes whose count drops to zero while another node is being deleted are queued here, so that long chains are deleted
// by a loop instead of recursion.
using Pending = SmallVector<ApplyNode*, 64>;
thread_local Pending* pending = nullptr;

void delete_all(ApplyNode* first) noexcept {
  Pending dead{first};
  pending = &dead;
  while (!dead.empty()) {
    ApplyNode* node = dead.back();
    dead.resize(dead.size() - 1);
    delete node;
  }
  pending = nullptr;
}

}  // namespace

// ---- Variable ------------------------------------------------------------------------------------------------------

Variable::Variable(Type type, std::string name) {
  if (!type) throw ValueError("Variable: a type is needed, got none");
  auto node = std::make_unique<VariableNode>();
  node->type = std::move(type);
  node->name = std::move(name);
  node->where = current_location();
  node_ = node.release();
  node_->count = 1;
}

void Variable::discard() const noexcept {
  if (node_->owner)
    Apply::discard(node_->owner);
  else
    delete node_;
}

const Variable& Variable::set_name(std::string name) const {
  existing().name = std::move(name);
  return *this;
}

Tag& Variable::tag() const {
  if (!existing().tag) node_->tag = make_ref<Tag>();
  return *node_->tag;
}

Location Variable::where() const { return existing().owner ? node_->owner->provenance.where : node_->where; }

void Variable::refuse_as_tensor() const {
  throw TypeError(cat("expected a tensor, got `", str(), "` of type ", node_->type->str()));
}

bool Variable::is_disconnected() const {
  return !as_tensor(type()) && dynamic_cast<const DisconnectedType*>(node_->type.get());
}

bool Variable::is_null() const { return !as_tensor(type()) && dynamic_cast<const NullType*>(node_->type.get()); }

const std::string& Variable::why_null() const {
  auto* null = dynamic_cast<const NullType*>(type().get());
  if (!null) throw InternalError(cat("why_null: `", str(), "` has type ", node_->type->str()));
  return null->why;
}

std::string Variable::str() const {
  if (!node_) return "<no variable>";
  if (!node_->name.empty()) return node_->name;
  if (node_->owner) return cat(node_->owner->op->label(), ".", node_->index);
  if (const Array* value = constant())
    return value->size() <= 16 ? value->str() : cat("<constant ", node_->type->str(), ">");
  return cat("<", node_->type->str(), ">");
}

Variable constant(const Array& value, std::string name) { return constant(value.copy(), std::move(name)); }

Variable constant(Array&& value, std::string name) {
  value.require_defined();
  if (!value.is_unique() || !value.is_contiguous()) value = value.copy();  // else another owner could change it
  Variable out(tensor_type(value.dtype(), value.shape()), std::move(name));
  out.node()->leaf = make_ref<const ConstantData>(value.read_only());
  return out;
}

Variable constant_of(const Type& type, const Array& value, std::string name) {
  storage_of(type, "constant");
  Variable out(type, std::move(name));
  out.node()->leaf = make_ref<const ConstantData>(type->filter(value).copy().contiguous().read_only());
  return out;
}

Variable disconnected() { return Variable(make_ref<const DisconnectedType>()); }

Variable undefined_gradient(std::string why) { return Variable(make_ref<const NullType>(std::move(why))); }

// ---- Apply ---------------------------------------------------------------------------------------------------------

namespace {

// Checked for every node that is created: ops without support for complex numbers get none.
void require_complex_form(const Op& op, const Variables& inputs, const std::vector<Type>& output_types) {
  const auto complex_dtype = [](const Type& type) -> std::optional<DType> {
    const TensorType* tensor = as_tensor(type);
    return tensor && is_complex(tensor->dtype) ? std::optional(tensor->dtype) : std::nullopt;
  };
  std::optional<DType> found;
  for (auto& input : inputs)
    if (!found) found = complex_dtype(input.type());
  for (auto& type : output_types)
    if (!found) found = complex_dtype(type);
  if (found && op.complex_form() == ComplexForm::none)
    throw NotImplementedError(cat(op.label(), " is not implemented for complex numbers (", dtype_name(*found),
                                  "); `real`, `imag`, `abs` and `angle` give real tensors"));
}

}  // namespace

bool is_complex(const Variable& variable) {
  const TensorType* tensor = as_tensor(variable.type());
  return tensor && is_complex(tensor->dtype);
}

bool touches_complex(const Apply& node) {
  for (auto& input : node.inputs())
    if (is_complex(input)) return true;
  for (std::uint32_t k = 0; k < node.node()->output_count; ++k) {
    const TensorType* tensor = as_tensor(node.node()->outputs[k].type);
    if (tensor && is_complex(tensor->dtype)) return true;
  }
  return false;
}

Apply::Apply(OpRef op, Variables inputs, const std::vector<Type>& output_types) {
  if (!op) throw ValueError("Apply: an op is needed, got none");
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].defined()) throw ValueError(cat(op->label(), ": input ", i, " is not a variable"));
  for (std::size_t i = 0; i < output_types.size(); ++i)
    if (!output_types[i]) throw ValueError(cat(op->label(), ": output ", i, " has no type"));
  require_complex_form(*op, inputs, output_types);
  auto node = std::make_unique<ApplyNode>();
  node->output_count = std::uint32_t(output_types.size());
  node->outputs = &node->only_output;
  if (output_types.size() != 1) {
    node->several_outputs = std::make_unique<VariableNode[]>(output_types.size());
    node->outputs = node->several_outputs.get();
  }
  for (std::uint32_t i = 0; i < node->output_count; ++i) {
    node->outputs[i].index = i;
    node->outputs[i].owner = node.get();
    node->outputs[i].type = output_types[i];
  }
  node->op = std::move(op);
  node->inputs = std::move(inputs);
  // A node built by a rule was not written by the user at the rule's line; the rule's name is its provenance.
  node->provenance.rule = current_rule;
  node->provenance.where = current_rule ? line_in_rule : current_location();
  node_ = node.release();
  node_->count = 1;
  if (config::test_values() != config::TestValues::off && !current_rule) try_node();
}

void Apply::try_node() {
  try {
    compute_test_values(*this);
  } catch (...) {
    *this = Apply();  // no destructor runs if a constructor fails
    throw;
  }
}

void Apply::discard(ApplyNode* node) noexcept {
  if (pending)
    pending->push_back(node);
  else
    delete_all(node);
}

void Apply::refuse_position(int i, std::size_t count, const char* what) const {
  throw IndexError(cat(op().label(), " has ", count, " ", what, ", numbered from 0: there is no number ", i));
}

Variables Apply::outputs() const {
  Variables out;
  out.reserve(output_count());
  for (std::size_t i = 0; i < output_count(); ++i) out.push_back(output(int(i)));
  return out;
}

Apply Apply::with_inputs(Variables inputs) const {
  Apply out = op().make_node(inputs);
  Provenance& provenance = out.node_->provenance;
  provenance.where = node_->provenance.where;
  if (!provenance.rule) provenance.rule = node_->provenance.rule;
  return out;
}

bool is_in_rule() { return current_rule != nullptr; }

RuleScope::RuleScope(const char* rule) : before_(current_rule) { current_rule = rule; }
RuleScope::~RuleScope() { current_rule = before_; }

LineScope::LineScope(const Location& where) : before_(std::exchange(line_in_rule, where)) {}
LineScope::~LineScope() { line_in_rule = before_; }

}  // namespace bitale
