// One side of an equation as a small tree that can be laid over a graph. Elementwise operations match by their scalar
// op, commutative ones in either order; other operations match by name and by the attributes that say what they do
// (lists of axes and dtypes belong to the instance: they are taken from what was matched).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bitale/graph/function_graph.hpp"
#include "ops/scalar_op.hpp"

namespace bitale::rewriting {

struct PatternNode {
  enum class Kind { Leaf, ConstantLeaf, Literal, Apply };
  Kind kind = Kind::Leaf;
  int slot = -1;                     // of a leaf, or of a matched op that is not elementwise
  double value = 0;                  // of a literal
  Variable source;                   // the pattern's own variable
  const ScalarOp* scalar = nullptr;  // of an elementwise operation
  std::vector<int> inputs;           // nodes of the pattern
  bool commutative = false, once_used = false;
};

// The nodes of an expression over pattern leaves, inputs first; the root is the last.
class Pattern {
 public:
  // Leaves and non-elementwise ops get slots in order of occurrence; those already in the tables keep theirs.
  Pattern(const Variable& root, Variables& leaves, std::vector<OpRef>& ops);
  const PatternNode& root() const { return nodes_.back(); }
  const std::vector<PatternNode>& nodes() const { return nodes_; }
  // How many levels of operations.
  int depth() const { return depth_; }
  // Whether it may match, judged by what RuleIndex sorts nodes by.
  bool may_match(const Apply& node) const;
  // The node of a part of the expression, or nullptr.
  PatternNode* find(const Variable& part);

 private:
  std::vector<PatternNode> nodes_;
  int depth_ = 0;
};

bool is_pattern_constant(const Variable& leaf);
// Whether a node's op is the one that the pattern means, whatever its axes and dtypes.
bool same_operation(const Op& pattern, const Op& actual);

// What a pattern's slots stand for.
struct Binding {
  Variables leaves;
  std::vector<OpRef> ops;
};

// Lays the pattern over a variable. The binding is filled when it fits.
bool match(const Pattern& pattern, const FunctionGraph& graph, const Variable& subject, Binding& binding);

// Builds the expression on the bound leaves, anew: dtypes and ranks are those of the leaves. Floating literals become
// `literal_dtype` where they would widen the result.
Variable build(const Pattern& pattern, const Binding& binding, DType literal_dtype);

}  // namespace bitale::rewriting
