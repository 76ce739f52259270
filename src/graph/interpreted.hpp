// Interface of ops whose `perform` runs in an interpreter that has a lock, such as ops written in Python. A caller that
// holds the lock need not release it for such an op.
#pragma once

namespace bitale {

class Interpreted {
 public:
  virtual ~Interpreted() = default;
};

}  // namespace bitale
