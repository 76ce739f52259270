#include "ops/control/captures.hpp"

#include <algorithm>

#include "bitale/graph/test_value.hpp"
#include "graph/held_elsewhere.hpp"
#include "graph/pointer_map.hpp"
#include "ops/control/guarded.hpp"
#include "ops/shapes/dimshuffle.hpp"

namespace bitale {

namespace {

// Whether values depend on the leaves of an expression, and if not, whether they depend on any variable at all.
class Dependence {
 public:
  enum Kind : char { on_nothing, on_outside, on_leaves };

  // `named` are treated as leaves of the surrounding graph.
  Dependence(const Variables& outputs, const Variables& own, const Variables& named = {})
      : order_(toposort(outputs, VariableSet(own.begin(), own.end()))), guarded_(guarded_values(outputs, own, order_)) {
    for (const Variable& leaf : own) kinds_.insert(leaf.node(), on_leaves);
    for (const Variable& leaf : named) kinds_.insert(leaf.node(), on_outside), named_.insert(leaf.node());
    for (const Apply& node : order_) {
      Kind most = on_nothing;
      for (const Variable& input : node.inputs()) most = std::max(most, of(input));
      for (const Variable& output : node.outputs()) kinds_.insert(output.node(), most);
    }
  }
  const std::vector<Apply>& order() const { return order_; }
  Kind of(const Variable& v) const {
    if (const Kind* known = kinds_.find(v.node())) return *known;
    return v.is_constant() ? on_nothing : on_outside;
  }
  // Whether it does not depend on the leaves, and is computed behind a choice.
  bool is_guarded(const Variable& v) const {
    return of(v) != on_leaves && guarded_.contains(v.node()) && !named_.contains(v.node());
  }
  bool is_captured(const Variable& v) const { return of(v) == on_outside && !is_guarded(v); }
  // Whether the node reads captured values.
  bool reads_captured(const Apply& node) const {
    return std::ranges::any_of(node.outputs(),
                               [&](const Variable& v) { return of(v) != on_nothing && !is_captured(v); });
  }

 private:
  const std::vector<Apply> order_;
  const PointerSet guarded_;
  PointerMap<Kind> kinds_;
  PointerSet named_;
};

}  // namespace

std::optional<Variable> transposed_from(const Variable& v) {
  constexpr std::int64_t few = 16;
  const auto* shuffle = v.has_owner() ? dynamic_cast<const DimShuffle*>(v.owner_op()) : nullptr;
  if (!shuffle || !shuffle->dropped().empty() || !shuffle->inserted().empty()) return std::nullopt;
  std::int64_t count = 1;
  for (auto length : v.static_shape()) count = length < 0 || count > few ? few + 1 : count * length;
  return count <= few ? std::nullopt : std::optional(v.owner().input(0));
}

Captured captured_by(const Variables& outputs, const Variables& own, Transposed how, const Variables& named) {
  const TestValuesOff none_are_known;
  const Dependence dependence(outputs, own, named);
  Captured out;
  Replacements to_leaves;
  PointerSet seen;
  const auto capture = [&](Variable v) {
    if (!dependence.is_captured(v)) return;
    if (how == Transposed::by_its_source)
      while (const auto source = transposed_from(v)) v = *source;
    if (!seen.insert(v.node())) return;
    out.values.push_back(v);
    out.leaves.emplace_back(v.type(), v.name());
    to_leaves.emplace_back(v, out.leaves.back());
  };
  for (const Apply& node : dependence.order())
    if (dependence.reads_captured(node))
      for (const Variable& input : node.inputs()) capture(input);
  for (const Variable& output : outputs) capture(output);
  out.outputs = clone_replace(outputs, to_leaves);
  return out;
}

Variables named_values(const Variables& outputs, const Variables& own, const Variables& named) {
  const Dependence dependence(outputs, own, named);
  const PointerSet held = held_elsewhere(dependence.order());
  Variables out;
  for (const Apply& node : dependence.order()) {
    if (!held.contains(node.node())) continue;
    for (const Variable& output : node.outputs())
      if (dependence.of(output) == Dependence::on_nothing || dependence.is_guarded(output)) out.push_back(output);
  }
  return out;
}

Captured closed(const Variables& outputs, const Variables& own) {
  return captured_by(outputs, own, Transposed::as_it_is, named_values(outputs, own));
}

}  // namespace bitale
