// What an op is, besides an Op, whose `perform` runs in an interpreter that has a lock, such as one written in Python.
// A call that holds the lock needs not let go of it on the op's account.
#pragma once

namespace bitale {

class Interpreted {
 public:
  virtual ~Interpreted() = default;
};

}  // namespace bitale
