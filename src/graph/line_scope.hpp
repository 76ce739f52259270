// The line that nodes have which a rule makes in place of a node of the user's, when the rule takes a graph apart and
// builds it anew, so that nobody sees which node stands for which (thread-local). Without one, what a rule makes has no
// line until it replaces something.
#pragma once

#include "bitale/core/location.hpp"

namespace bitale {

class LineScope {
 public:
  explicit LineScope(const Location& where);
  ~LineScope();
  LineScope(const LineScope&) = delete;
  LineScope& operator=(const LineScope&) = delete;

 private:
  Location before_;
};

}  // namespace bitale
