// What an op is, besides an Op, that reads a generator's state and is no draw from it: any number of such nodes may
// read one state, since what they take from it differs by their other inputs and attributes.
#pragma once

#include "bitale/graph/variable.hpp"

namespace bitale {

class StateReader {
 public:
  virtual ~StateReader() = default;
  // Whether draws from the same state may stand beside it: words of such a draw are part of it, children are not.
  virtual bool is_part_of_draw() const = 0;
};

// What an op is, besides an Op, of which two nodes may stand for the same draws from one state: such as a loop, and the
// same loop with more results, which its gradient reads.
class RepeatsDraws {
 public:
  virtual ~RepeatsDraws() = default;
  // Of a node of this op: whether the other draws the same numbers from the states that both begin from.
  virtual bool draws_the_same(const Apply& node, const Apply& other) const = 0;
};

}  // namespace bitale
