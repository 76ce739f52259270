#include "rewriting/equation.hpp"

#include <algorithm>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/range.hpp"

namespace bitale::rewriting {

Equation::Equation(const std::string& rule, const Variable& left, const Variable& right)
    : rule_(rule), left_source_(left), right_source_(right), left_(left, leaves_, ops_), right_(left, leaves_, ops_) {
  if (left_.root().kind != PatternNode::Kind::Apply)
    throw ValueError(cat("rule ", rule, ": the left side must be an operation, got ", left.str()));
  const std::size_t leaves = leaves_.size(), ops = ops_.size();
  right_ = Pattern(right, leaves_, ops_);
  if (leaves_.size() > leaves)
    throw ValueError(
        cat("rule ", rule, ": the right side uses `", leaves_.back().str(), "`, which the left side lacks"));
  if (ops_.size() > ops)
    throw ValueError(cat("rule ", rule, ": the right side uses ", ops_.back()->label(), ", which the left side lacks"));
}

Root Equation::root() const {
  const PatternNode& root = left_.root();
  return root.scalar ? Root::scalar({std::string(root.scalar->name)})
                     : Root::op({std::string(root.source.owner_op()->name())});
}

void Equation::require_once_used(const Variable& part) {
  PatternNode* node = left_.find(part);
  if (!node) throw ValueError(cat("rule ", rule_, ": once_used(", part.str(), ") is not a part of the left side"));
  node->once_used = true;
}

void Equation::assume(Variables conditions) {
  assumption_patterns_.clear();
  for (auto& condition : conditions) {
    Variables leaves = leaves_;
    std::vector<OpRef> ops = ops_;
    assumption_patterns_.emplace_back(condition, leaves, ops);
    if (leaves.size() > leaves_.size())
      throw ValueError(
          cat("rule ", rule_, ": an assumption is about `", leaves.back().str(), "`, which the left side lacks"));
    if (ops.size() > ops_.size())
      throw ValueError(cat("rule ", rule_, ": an assumption uses ", ops.back()->label(),
                           ", which the left side lacks: assume something elementwise"));
  }
  assumptions_ = std::move(conditions);
}

Variables Equation::assumptions_on(const Variables& leaves, DType literal_dtype) const {
  Variables out;
  for (auto& pattern : assumption_patterns_) out.push_back(build(pattern, Binding{leaves, ops_, {literal_dtype}}));
  return out;
}

namespace {

// Whether the assumptions are proven to hold. Leaves of incompatible lengths raise an error: then nothing is proven.
bool are_shown(const Equation& equation, const Variables& leaves, DType dtype) {
  try {
    const Variables conditions = equation.assumptions_on(leaves, dtype);
    return std::all_of(conditions.begin(), conditions.end(), [](const Variable& condition) {
      const Range range = range_of(condition);
      return range.low > 0 || range.high < 0;
    });
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::optional<Variables> Equation::apply(FunctionGraph& graph, const Apply& node, bool granted) const {
  Binding binding{Variables(leaves_.size()), std::vector<OpRef>(ops_.size()), {}};
  const Variable output = node.output();
  if (!match(left_, graph, output, binding)) return std::nullopt;
  // An integer that the operations of the left side convert to a float is converted for those of the right side.
  const auto fits = [&](std::size_t slot) {
    const Variable& leaf = binding.leaves[slot];
    if (is_among(leaf.dtype(), dtypes) || scalar_constant(leaf)) return true;
    const int region = left_.region_of_leaf(int(slot));
    return region >= 0 && is_discrete(leaf.dtype()) && is_among(binding.dtypes[std::size_t(region)], dtypes & floats);
  };
  for (std::size_t slot = 0; slot < binding.leaves.size(); ++slot)
    if (!fits(slot)) return std::nullopt;
  if (!is_among(output.dtype(), dtypes | bools)) return std::nullopt;
  const Match found(graph, node, leaves_, binding.leaves);
  for (auto& condition : conditions)
    if (!condition(found)) return std::nullopt;
  if (!granted && !assumptions_.empty() && !are_shown(*this, binding.leaves, output.dtype())) return std::nullopt;
  if (!convert_leaves(binding)) return std::nullopt;
  std::optional<Variable> result = fit(right_side(binding, output.dtype()), output);
  if (!result) return std::nullopt;
  return Variables{*result};
}

// Converts the leaves as the left side's operations convert their operands, so that all steps of the right side compute
// in the dtype of the left side's. A repeated constant becomes its number: views of constants are not folded, and rules
// on them would never terminate.
bool Equation::convert_leaves(Binding& binding) const {
  for (std::size_t slot = 0; slot < binding.leaves.size(); ++slot) {
    Variable& leaf = binding.leaves[slot];
    const int region = left_.region_of_leaf(int(slot));
    const auto is_own = [&](DType dtype) { return dtype == leaf.dtype(); };
    if (region == Pattern::many_regions && !std::all_of(binding.dtypes.begin(), binding.dtypes.end(), is_own))
      return false;
    if (region < 0) continue;
    const DType dtype = binding.dtypes[std::size_t(region)];
    if (is_pattern_constant(leaves_[slot]) || (leaf.ndim() == 0 && leaf.is_constant())) {
      if (const auto value = scalar_constant(leaf)) leaf = constant_like(*value, dtype);
    } else if (leaf.dtype() != dtype) {
      leaf = cast(leaf, dtype);
    }
  }
  return true;
}

Variable Equation::right_side(const Binding& binding, DType result) const {
  const PatternNode& root = right_.root();
  return root.kind == PatternNode::Kind::Literal ? constant_like(root.value, result) : build(right_, binding);
}

namespace {

Variable on(const Pattern& pattern, const Variables& leaves, const std::vector<OpRef>& ops) {
  DType dtype = leaves.empty() ? DType::Float64 : leaves[0].dtype();
  for (auto& leaf : leaves)
    if (is_float(leaf.dtype())) dtype = leaf.dtype();
  return build(pattern, Binding{leaves, ops, {dtype}});
}

}  // namespace

Variable Equation::left_on(const Variables& leaves) const { return on(left_, leaves, ops_); }

}  // namespace bitale::rewriting
