// Sets the user's line for nodes that a rule creates (thread-local). It is for rules that decompose and rebuild a
// graph, where the correspondence between user nodes and new nodes is lost. Without it, a node created by a rule has no
// line until it replaces another node.
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
