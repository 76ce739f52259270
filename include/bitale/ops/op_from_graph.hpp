// op_from_graph: an op that is defined by a graph of other ops. It may have derivatives of its own, is one node until
// it is inlined, and merges with equal ones.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bitale/graph/attributes.hpp"
#include "bitale/graph/op.hpp"
#include "bitale/ops/operand.hpp"

namespace bitale {

// A derivative that overrides the one derived from an op's graph. It is an attribute of the op, so ops with equal
// overrides merge.
class DerivativeOverride : public Opaque {
 public:
  // A pullback returns one cotangent per input, given one per output. A pushforward returns one tangent per output,
  // given one per input. Disconnected entries of `given` arrive as zeros. An element of the result may be
  // disconnected() or undefined_gradient(why).
  virtual Variables derive(const Variables& inputs, const Variables& outputs, const Variables& given) const = 0;
};
using DerivativeOverrideRef = Ref<const DerivativeOverride>;
using DerivativeFunction =
    std::function<Variables(const Variables& inputs, const Variables& outputs, const Variables& given)>;
// The override compares equal only to itself.
DerivativeOverrideRef derivative_override(DerivativeFunction function);

struct OpFromGraphOptions {
  // Whether the op is replaced by its graph while a function is compiled, after derivatives were taken and before loops
  // are fused. Otherwise the graph is rewritten and compiled once, however often the op occurs, and called.
  bool is_inline = true;
  std::string name = {};  // for printing and errors
  // Null: the derivative of the graph is used. With a pullback alone, tangents are computed by transposing it.
  DerivativeOverrideRef pullback = {}, pushforward = {};
  // Attributes by which programs tell the op from others of its name, such as the mode of a Pad.
  std::vector<std::pair<std::string, AttributeValue>> properties = {};
};

// The op that computes `outputs` from `inputs` (PyTensor's OpFromGraph). The graph must be closed: MissingInputError
// for a variable, shared ones included, that is not among the inputs; other errors are those of InnerGraph. A node of
// the op takes values of the inputs' types: TypeError naming the position for another dtype, rank or static length.
OpRef op_from_graph(const Variables& inputs, const Variables& outputs, const OpFromGraphOptions& options = {});

// The outputs of a node of the op.
Variables apply_op(const OpRef& op, const Operands& inputs);

}  // namespace bitale
