// Declarations of rules: roots, claims, and the validation of declarations.
#include <algorithm>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/provenance.hpp"
#include "bitale/rewriting/rules.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "rewriting/equation.hpp"

namespace bitale::rewriting {

// ---- Root -----------------------------------------------------------------------------------------------------------

Root Root::op(std::initializer_list<std::string> names) {
  Root out;
  out.kind_ = Kind::Op;
  out.names_ = names;
  return out;
}

Root Root::scalar(std::initializer_list<std::string> names) {
  for (auto& name : names) scalar_op(name);  // KeyError for a name that does not exist
  Root out;
  out.kind_ = Kind::Scalar;
  out.names_ = names;
  return out;
}

Root Root::names(std::vector<std::string> names) {
  Root out;
  out.kind_ = Kind::Either;
  out.names_ = std::move(names);
  return out;
}

Root Root::traits(std::uint32_t traits) {
  Root out;
  out.kind_ = Kind::Traits;
  out.traits_ = traits;
  return out;
}

Root Root::elemwise() {
  Root out;
  out.kind_ = Kind::Elemwise;
  return out;
}

Root Root::any() { return Root(); }

Root Root::where(std::string text, std::function<bool(const Op&)> predicate) {
  Root out;
  out.kind_ = Kind::Where;
  out.names_ = {std::move(text)};
  out.predicate_ = std::move(predicate);
  return out;
}

Root Root::number() {
  Root out;
  out.kind_ = Kind::Number;
  return out;
}

bool Root::matches(const Op& op) const {
  const ScalarOp* element = op.elementwise();
  auto named = [&](std::string_view name) { return std::find(names_.begin(), names_.end(), name) != names_.end(); };
  switch (kind_) {
    case Kind::Op: return named(op.name());
    case Kind::Scalar: return element && named(element->name);
    case Kind::Either: return named(element ? element->name : op.name());
    case Kind::Traits: return element && (element->traits & traits_) == traits_;
    case Kind::Elemwise: return element != nullptr;
    case Kind::Any: return true;
    case Kind::Where: return predicate_(op);
    case Kind::Number: return !element;
  }
  return false;
}

bool Root::matches(const Variable& v) const {
  if (kind_ == Kind::Number) return may_be_number(v);
  return v.has_owner() && matches(*v.owner_op());
}

std::string Root::str() const {
  switch (kind_) {
    case Kind::Op:
    case Kind::Scalar:
    case Kind::Where:
    case Kind::Either: return join(names_, ", ");
    case Kind::Traits: return cat("elementwise with traits ", traits_);
    case Kind::Elemwise: return "elementwise";
    case Kind::Any: return "any";
    case Kind::Number: return "number";
  }
  return {};
}

// ---- Match ----------------------------------------------------------------------------------------------------------

const Variable& Match::operator()(const Variable& leaf) const {
  for (std::size_t i = 0; i < pattern_.size(); ++i)
    if (pattern_[i].same_as(leaf)) return bound_[i];
  throw KeyError(cat("`", leaf.str(), "` is not a leaf of the equation's left side"));
}

double Match::value(const Variable& leaf) const {
  if (std::optional<double> value = scalar_constant((*this)(leaf))) return *value;
  throw NotScalarConstantError(cat("`", leaf.str(), "` does not stand for a number: declare it with pattern_constant"));
}

// ---- Rule -----------------------------------------------------------------------------------------------------------

Rule::Rule(std::string name, Root root, NodeFunction function)
    : name_(std::move(name)),
      root_(std::move(root)),
      function_(std::move(function)),
      interned_name_(interned_rule(name_)) {}

Rule::Rule(std::string name, Root root, ChangeFunction function)
    : name_(std::move(name)),
      root_(std::move(root)),
      change_(std::move(function)),
      interned_name_(interned_rule(name_)) {}

Rule::Rule(std::string name, const Variable& left, const Variable& right)
    : name_(std::move(name)), interned_name_(interned_rule(name_)) {
  if (!left.defined() || !right.defined()) throw ValueError(cat("rule ", name_, ": a side of the equation is null"));
  equation_ = std::make_unique<Equation>(name_, left, right);
  root_ = equation_->root();
  depth_ = equation_->depth();
  function_ = [this](FunctionGraph& graph, const Apply& node) {
    return equation_->apply(graph, node, !assumptions().empty() && has_tag(unsafe));
  };
}

Rule::~Rule() = default;

Equation& Rule::only_equation(std::string_view what) {
  if (!equation_) throw ValueError(cat("rule ", name_, ": ", what, " is for equations"));
  return *equation_;
}

Rule& Rule::doc(std::string text) { return doc_ = std::move(text), *this; }
Rule& Rule::priority(int value) { return priority_ = value, *this; }
Rule& Rule::depth(int levels) { return depth_ = levels, *this; }
Rule& Rule::with_input(Root input) { return input_ = std::move(input), *this; }
Rule& Rule::needs(std::function<void(FunctionGraph&)> preparation) {
  return preparation_ = std::move(preparation), *this;
}
Rule& Rule::for_complex() { return for_complex_ = true, *this; }
Rule& Rule::on(std::uint32_t dtypes) { return only_equation("on").dtypes = dtypes, *this; }
Rule& Rule::when(Condition condition) {
  only_equation("when").conditions.push_back(std::move(condition));
  return *this;
}
Rule& Rule::once_used(const Variable& part) { return only_equation("once_used").require_once_used(part), *this; }
Rule& Rule::more_accurate() { return only_equation("more_accurate"), more_accurate_ = true, *this; }
Rule& Rule::wider_domain() { return wider_domain_ = true, tags(domain); }
Rule& Rule::no_signed_zeros() { return no_signed_zeros_ = true, *this; }
Rule& Rule::differs_at(std::vector<double> values) { return differences_ = std::move(values), tags(domain); }
Rule& Rule::points(std::vector<std::vector<double>> values) {
  for (auto& point : values)
    if (point.size() != only_equation("points").leaves().size())
      throw ValueError(cat("rule ", name_, ": a point has ", point.size(), " values, the left side has ",
                           equation_->leaves().size(), " leaves"));
  points_ = std::move(values);
  return *this;
}
Rule& Rule::constants(std::vector<double> values) { return constants_ = std::move(values), *this; }
Rule& Rule::assume(Variables conditions) { return only_equation("assume").assume(std::move(conditions)), *this; }
const Variables& Rule::assumptions() const {
  static const auto& none = *new Variables;
  return equation_ ? equation_->assumptions() : none;
}
Rule& Rule::sample(std::function<Variable()> expression) { return samples_.push_back(std::move(expression)), *this; }

std::optional<Variables> Rule::apply(FunctionGraph& graph, const Apply& node) const {
  if (!change_) return function_(graph, node);
  const std::optional<Change> change = change_(graph, node);
  if (!change || !change->removed.empty()) return std::nullopt;
  Variables out(node.output_count());
  for (auto& [before, after] : change->replacements) {
    if (!before.has_owner() || !before.owner().same_as(node)) return std::nullopt;
    out[std::size_t(before.index())] = after;
  }
  return out;
}

std::optional<Change> Rule::change(FunctionGraph& graph, const Apply& node) const {
  if (change_) return change_(graph, node);
  const std::optional<Variables> results = function_(graph, node);
  if (!results) return std::nullopt;
  if (results->size() != node.output_count())
    throw InconsistencyError(cat("it gave ", results->size(), " variables for ", node.output_count(), " outputs"));
  Change out;
  for (std::size_t i = 0; i < results->size(); ++i) out.replacements.emplace_back(node.output(int(i)), (*results)[i]);
  return out;
}

void Rule::prepare(FunctionGraph& graph) const {
  if (preparation_) preparation_(graph);
}

bool Rule::may_apply(const Apply& node) const {
  if (!root_.matches(node.op())) return false;
  if (equation_) return equation_->may_match(node);
  const Variables& inputs = node.inputs();
  if (!input_ || inputs.empty() || inputs.size() > inputs_looked_at) return true;
  return std::any_of(inputs.begin(), inputs.end(), [&](const Variable& v) { return input_->matches(v); });
}

bool Rule::has_tag(std::string_view tag) const {
  return name_ == tag || std::find(tags_.begin(), tags_.end(), tag) != tags_.end();
}

// ---- Rules ----------------------------------------------------------------------------------------------------------

Rule& Rules::equation(std::string name, const Variable& left, const Variable& right) {
  return *rules_.emplace_back(std::make_unique<Rule>(std::move(name), left, right));
}

Rule& Rules::function(std::string name, Root root, NodeFunction function) {
  return *rules_.emplace_back(std::make_unique<Rule>(std::move(name), std::move(root), std::move(function)));
}

}  // namespace bitale::rewriting
