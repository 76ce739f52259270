// An equation between two patterns, read from left to right: where the left side matches, the right side is built over
// the bound leaves and converted to the type of the variable that it replaces.
#pragma once

#include <string>
#include <vector>

#include "bitale/rewriting/rules.hpp"
#include "rewriting/pattern.hpp"

namespace bitale::rewriting {

class Equation {
 public:
  Equation(const std::string& rule, const Variable& left, const Variable& right);

  // None if the left side does not match, a condition refuses, or an assumption is not proven. `granted`: the
  // assumptions are taken to hold.
  std::optional<Variables> apply(FunctionGraph& graph, const Apply& node, bool granted) const;

  // The left side as an expression of other leaves (one per entry of leaves()).
  Variable left_on(const Variables& leaves) const;

  const Variables& leaves() const { return leaves_; }
  const Variable& left() const { return left_source_; }
  const Variable& right() const { return right_source_; }
  Root root() const;
  int depth() const { return left_.depth(); }
  bool may_match(const Apply& node) const { return left_.may_match(node); }

  std::uint32_t dtypes = floats;
  std::vector<Condition> conditions;
  void require_once_used(const Variable& part);
  // ValueError if a condition uses a leaf that the left side lacks.
  void assume(Variables conditions);
  const Variables& assumptions() const { return assumptions_; }
  // The assumptions as expressions over other leaves.
  Variables assumptions_on(const Variables& leaves, DType literal_dtype) const;

 private:
  Variable right_side(const Binding& binding, DType result) const;
  bool convert_leaves(Binding& binding) const;  // false if that is impossible

  std::string rule_;
  Variable left_source_, right_source_;
  Variables leaves_;
  std::vector<OpRef> ops_;
  Variables assumptions_;
  std::vector<Pattern> assumption_patterns_;
  Pattern left_, right_;
};

}  // namespace bitale::rewriting
