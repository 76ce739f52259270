// Interface of ops that can leave out outputs which nobody reads. A transformation that would have to treat all outputs
// asks them to, since it may be impossible for some.
#pragma once

#include <vector>

#include "bitale/graph/op.hpp"

namespace bitale {

struct FewerOutputs {
  Apply node;
  std::vector<int> outputs;  // per output of the original node: the output of this node that replaces it, or -1
};

class OptionalOutputs {
 public:
  virtual ~OptionalOutputs() = default;
  // The node without some of the outputs that are not read, or the node itself.
  virtual FewerOutputs without_unread(const Apply& node, const std::vector<bool>& read) const = 0;
};

}  // namespace bitale
