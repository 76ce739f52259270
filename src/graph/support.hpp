// The support of a derivative: where a cotangent or tangent may be other than zero. Outside it, the derivative is zero
// by structure: the branch of a switch that was not taken, elements that were overwritten or never read. The chain rule
// must not multiply such a zero by an infinite or undefined factor, since 0 * inf is nan.
//
// A support is derived from the expression of the derivative: ops that select, move or add elements state the support
// of their output, given those of their inputs (StatesSupport). Everything else may be nonzero everywhere.
#pragma once

#include <span>

#include "bitale/graph/op.hpp"
#include "graph/pointer_map.hpp"

namespace bitale {

struct Support {
  enum class Kind : std::uint8_t { everywhere, nowhere, masked };
  Kind kind = Kind::everywhere;
  // masked: true where the tensor may be nonzero. bool, of the tensor's rank, and of its shape or repeated to it.
  Variable mask = {};
  // The mask takes more than an elementwise computation next to that of the tensor: a scatter or a reduction.
  bool costly = false;

  bool is_everywhere() const { return kind == Kind::everywhere; }
  bool is_nowhere() const { return kind == Kind::nowhere; }
  bool is_masked() const { return kind == Kind::masked; }
};

// Interface of ops whose output is zero where their inputs are.
class StatesSupport {
 public:
  virtual ~StatesSupport() = default;
  // The inputs whose zeros become zeros of an output. None: the output may be nonzero everywhere.
  virtual std::vector<int> support_carriers(const Apply& node, int output) const = 0;
  // The support of an output. One support per input, of which only those of the carriers are known.
  virtual Support support(const Apply& node, int output, std::span<const Support> inputs) const = 0;
};

// The support of a variable, found through its expression. The search is iterative. Within a SupportScope, what was
// found is kept, so that the searches of one sweep take time linear in the graph.
Support support_of(const Variable& v);

class SupportScope {
 public:
  SupportScope();
  ~SupportScope();
  SupportScope(const SupportScope&) = delete;
  SupportScope& operator=(const SupportScope&) = delete;

  // States the support of a variable that has no expression: an input of an inner graph.
  void state(const Variable& v, Support support);

 private:
  friend Support support_of(const Variable& v);
  // The variable is kept alive, since entries are found by its address.
  struct Known {
    Variable variable;
    Support support;
  };
  // In this scope or one around it.
  const Known* find(const VariableNode* v) const;
  PointerMap<Known> known_;
  SupportScope* outer_;
};

}  // namespace bitale
