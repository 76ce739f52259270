// Phases of optdb that are one function over the whole graph.
#pragma once

#include <functional>
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
// The library's passes, in order of position.
std::vector<Pass> registered_passes();

// What happens to an entry of the same name: a ValueError, or it is replaced.
enum class Overwrite : bool { No, Yes };

// Adds a pass to optdb at run time. Queries find it by its name and these tags. ValueError for a name that is taken
// (unless `overwrite`).
void register_pass(const std::string& name, double position, std::vector<std::string> tags,
                   std::function<void(FunctionGraph&)> run, Overwrite overwrite = Overwrite::No);

}  // namespace bitale::rewriting
