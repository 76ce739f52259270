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
  // Of an operation: the dtype that the pattern's own node computes in; the region of elementwise operations that it
  // belongs to, of which the one nearest to the root opens it; and whether it computes in the same dtype as that one.
  // Then it must do so in what is matched.
  DType dtype = DType::Float64;
  int region = 0;
  bool opens_region = false, computes_as_region = true;
};

// The dtype in which a node computes: elementwise operations convert their operands to it. Of other operations, the
// dtype of the result.
DType compute_dtype(const Apply& node);

// The nodes of an expression over pattern leaves, inputs first; the root is the last.
class Pattern {
 public:
  // Leaves and non-elementwise ops get slots in order of occurrence; those already in the tables keep theirs.
  Pattern(const Variable& root, Variables& leaves, std::vector<OpRef>& ops);
  const PatternNode& root() const { return nodes_.back(); }
  const std::vector<PatternNode>& nodes() const { return nodes_; }
  // The region in which every use of the leaf converts it to the region's dtype, so that this may as well be done
  // beforehand; -1 of what serves as a condition only, and of operands of operations that are not elementwise.
  // `many_regions` where uses differ.
  static constexpr int many_regions = -2;
  int region_of_leaf(int leaf_slot) const;
  int region_count() const { return regions_; }
  // How many levels of operations.
  int depth() const { return depth_; }
  // Whether it may match, judged by what RuleIndex sorts nodes by.
  bool may_match(const Apply& node) const;
  // The node of a part of the expression, or nullptr.
  PatternNode* find(const Variable& part);

 private:
  std::vector<PatternNode> nodes_;
  int depth_ = 0, regions_ = 0;
};

bool is_pattern_constant(const Variable& leaf);
// Whether a node's op is the one that the pattern means, whatever its axes and dtypes.
bool same_operation(const Op& pattern, const Op& actual);

// What a pattern's slots stand for.
struct Binding {
  Variables leaves;
  std::vector<OpRef> ops;
  std::vector<DType> dtypes;  // in which each region computes, the root's first
};

// Lays the pattern over a variable. The binding is filled when it fits. All steps of a region must compute in one
// dtype: of uint8 u and float64 d, the sign of u may not leave (-u) * d, in which it wraps.
bool match(const Pattern& pattern, const FunctionGraph& graph, const Variable& subject, Binding& binding);

// Builds the expression on the bound leaves, anew: dtypes and ranks are those of the leaves. Floating literals become
// the root's dtype where they would widen the result.
Variable build(const Pattern& pattern, const Binding& binding);

}  // namespace bitale::rewriting
