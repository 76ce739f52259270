// A FunctionGraph as Python holds it: a separate one, or the one inside a compiled function, which is read-only.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "bitale/graph/function_graph.hpp"

namespace bitale::python {

namespace nb = nanobind;

struct FunctionGraphObject {
  std::shared_ptr<const FunctionGraph> graph;
  FunctionGraph* writable = nullptr;
};

// The graph, which the caller may change. TypeError for one that belongs to a compiled function.
FunctionGraph& writable_graph(const FunctionGraphObject& object);

// A use of a variable as Python sees it: the Apply node, or the node of an op `Output` that stands for an output of the
// graph; and the position among its inputs.
nb::tuple client_object(const FunctionGraph& graph, const Client& client);
// TypeError for anything but an Apply node.
Client client_of(nb::handle node, int index);

}  // namespace bitale::python
