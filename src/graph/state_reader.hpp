// Interface of ops that read a generator's state but are no draws from it: any number of such nodes may read one state,
// since their results differ by their other inputs and attributes.
#pragma once

#include "bitale/graph/variable.hpp"

namespace bitale {

class StateReader {
 public:
  virtual ~StateReader() = default;
  // Whether draws from the same state may coexist with it: words of such a draw are part of it, child generators are
  // not.
  virtual bool is_part_of_draw() const = 0;
};

// Interface of ops of which two nodes may stand for the same draws from one state, for example a loop and the same loop
// with additional results for its gradient.
class RepeatsDraws {
 public:
  virtual ~RepeatsDraws() = default;
  // Whether `node`, of this op, and `other` draw the same numbers from the states that both start with.
  virtual bool draws_the_same(const Apply& node, const Apply& other) const = 0;
};

}  // namespace bitale
