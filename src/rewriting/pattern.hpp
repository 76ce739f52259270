// One side of an equation as a small tree that is matched against a graph. Elementwise operations match by their scalar
// op, commutative ones in either order; other operations match by name and by the attributes that define their
// behaviour (lists of axes and dtypes belong to the instance: they are taken from the matched op).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bitale/graph/function_graph.hpp"
#include "ops/elementwise/scalar_op.hpp"

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
  // For an operation: the dtype in which the pattern's own node computes; the region of elementwise operations that it
  // belongs to, which is opened by the node nearest to the root; and whether it computes in the same dtype as that
  // node. If so, the matched nodes must, too.
  DType dtype = DType::Float64;
  int region = 0;
  bool opens_region = false, computes_as_region = true;
};

// The dtype in which a node computes: elementwise operations convert their operands to it. For other operations, the
// dtype of the result.
DType compute_dtype(const Apply& node);

// The nodes of an expression over pattern leaves, inputs first; the root is last.
class Pattern {
 public:
  // Leaves and non-elementwise ops get slots in order of occurrence; those already in the tables keep theirs.
  Pattern(const Variable& root, Variables& leaves, std::vector<OpRef>& ops);
  const PatternNode& root() const { return nodes_.back(); }
  const std::vector<PatternNode>& nodes() const { return nodes_; }
  // The region to whose dtype every use converts the leaf, so that it can be converted beforehand; -1 for leaves used
  // only as a condition, and for operands of operations that are not elementwise. `many_regions` if uses differ.
  static constexpr int many_regions = -2;
  int region_of_leaf(int leaf_slot) const;
  int region_count() const { return regions_; }
  // The number of levels of operations.
  int depth() const { return depth_; }
  // Whether the pattern may match, judged by the keys of RuleIndex.
  bool may_match(const Apply& node) const;
  // The pattern node of a part of the expression, or nullptr.
  PatternNode* find(const Variable& part);

 private:
  std::vector<PatternNode> nodes_;
  int depth_ = 0, regions_ = 0;
};

bool is_pattern_constant(const Variable& leaf);
// Whether a node's op is the op of the pattern, up to axes and dtypes.
bool same_operation(const Op& pattern, const Op& actual);

// The values bound to a pattern's slots.
struct Binding {
  Variables leaves;
  std::vector<OpRef> ops;
  std::vector<DType> dtypes;  // the dtype of each region, the root's first
};

// Matches the pattern against a variable, and fills the binding on success. All steps of a region must compute in one
// dtype: for uint8 u and float64 d, the sign must not be moved out of (-u) * d, where it wraps in uint8.
bool match(const Pattern& pattern, const FunctionGraph& graph, const Variable& subject, Binding& binding);

// Builds the expression over the bound leaves, with dtypes and ranks inferred from these. Floating literals are
// converted to the root's dtype where they would widen the result.
Variable build(const Pattern& pattern, const Binding& binding);

}  // namespace bitale::rewriting
