// What an op is, besides an Op, that reads a generator's state and is no draw from it: any number of such nodes may
// read one state, since what they take from it differs by their other inputs and attributes.
#pragma once

namespace bitale {

class StateReader {
 public:
  virtual ~StateReader() = default;
  // Whether draws from the same state may stand beside it: words of such a draw are part of it, children are not.
  virtual bool is_part_of_draw() const = 0;
};

}  // namespace bitale
