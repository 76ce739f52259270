// Phases of optdb that are one function over the whole graph.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "bitale/graph/function_graph.hpp"

namespace bitale::rewriting {

// A pass at a position among the phases. It runs when a query selects one of its tags or its name.
struct Pass {
  const char* name;
  double position;
  std::vector<std::string> tags;
  const char* doc;
  void (*run)(FunctionGraph&);
};
struct RegisterPasses {
  RegisterPasses(std::initializer_list<Pass> passes);
};
// The registered passes, in order of position.
std::vector<Pass> registered_passes();

}  // namespace bitale::rewriting
