// While it lives, nodes know the function of the library that the user called, such as `eigh`, beside the line of the
// call: what is made of other functions' nodes is then named where one of these fails. The outermost scope wins.
#pragma once

#include "bitale/core/location.hpp"

namespace bitale {

class CallScope {
 public:
  // A text that lives as long as the process; null: none.
  explicit CallScope(const char* function);
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  Location before_;
};

}  // namespace bitale
