// While an instance lives, nodes record the library function that the user called, such as `eigh`, in addition to the
// line of the call: an error of a node that this function builds by calling other functions then names it. The
// outermost scope wins.
#pragma once

#include "bitale/core/location.hpp"

namespace bitale {

class CallScope {
 public:
  // `function`: a text that lives as long as the process; null: none.
  explicit CallScope(const char* function);
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  Location before_;
};

}  // namespace bitale
