// A FunctionGraph as Python holds it: a separate one, or the one inside a compiled function, which is read-only.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "bitale/graph/function_graph.hpp"

namespace bitale::python {

struct FunctionGraphObject {
  std::shared_ptr<const FunctionGraph> graph;
  FunctionGraph* writable = nullptr;
};

// The graph, which the caller may change. TypeError for one that belongs to a compiled function.
FunctionGraph& writable_graph(const FunctionGraphObject& object);

}  // namespace bitale::python
