// Graphs as text: what bitale/printing.py writes to a file or returns.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/printing/printing.hpp"
#include "define.hpp"
#include "function_graph.hpp"
#include "function_object.hpp"

namespace bitale::python {

namespace {

// A function says more about itself than its graph does, unless the graph is to be shown in some particular way.
bool is_default(const DprintOptions& options) {
  return options.depth == -1 && options.id_type == "CHAR" && !options.print_type && !options.print_shape &&
         !options.stop_on_name && !options.print_destroy_map && !options.print_view_map && !options.provenance &&
         !options.print_fgraph_inputs;
}

std::string print_function(const Function& function, const DprintOptions& options) {
  return is_default(options) ? function.dprint("graph") : dprint(function.graph(), options);
}

std::string print_one(nb::handle graph, const DprintOptions& options) {
  if (is_variable(graph)) return dprint(variable_of(graph), options);
  if (auto* node = instance_of<ApplyObject>(graph)) return dprint(node->apply, options);
  if (auto* held = instance_of<FunctionGraphObject>(graph)) return dprint(*held->graph, options);
  if (auto* compiled = instance_of<FunctionObject>(graph)) return print_function(compiled->function, options);
  throw TypeError(cat("dprint: expected variables, Apply nodes, FunctionGraphs or functions, got ", shown(graph)));
}

}  // namespace

void bind_printing(nb::module_& m) {
  m.def(
      "dprint_text",
      [](Any graphs, int depth, bool print_type, bool print_shape, const std::string& id_type, bool stop_on_name,
         bool print_destroy_map, bool print_view_map, bool print_fgraph_inputs, bool provenance) {
        PrintedNodes printed;
        DprintOptions options;
        options.depth = depth;
        options.print_type = print_type;
        options.print_shape = print_shape;
        options.id_type = id_type;
        options.stop_on_name = stop_on_name;
        options.print_destroy_map = print_destroy_map;
        options.print_view_map = print_view_map;
        options.print_fgraph_inputs = print_fgraph_inputs;
        options.provenance = provenance;
        options.printed = &printed;
        if (!PyList_Check(graphs.ptr()) && !PyTuple_Check(graphs.ptr())) return print_one(graphs, options);
        std::string out;
        for (nb::handle graph : graphs) out += print_one(graph, options);
        return out;
      },
      "graph_like"_a, "depth"_a = -1, "print_type"_a = false, "print_shape"_a = false, "id_type"_a = "CHAR",
      "stop_on_name"_a = false, "print_destroy_map"_a = false, "print_view_map"_a = false,
      "print_fgraph_inputs"_a = false, "provenance"_a = false);
  constexpr const char* signature =
      "def dprint(self, depth: int = -1, *, file: typing.Any = None, **options: typing.Any) -> str | None";
  constexpr const char* doc = "Prints the tree; the options are those of bitale.dprint.";
  auto variable = nb::borrow<nb::class_<VariableObject>>(m.attr("Variable"));
  auto apply = nb::borrow<nb::class_<ApplyObject>>(m.attr("Apply"));
  auto graph = nb::borrow<nb::class_<FunctionGraphObject>>(m.attr("FunctionGraph"));
  auto function = nb::borrow<nb::class_<FunctionObject>>(m.attr("Function"));
  define_in_python(variable, "dprint", "bitale.printing", "debugprint", signature, doc);
  define_in_python(apply, "dprint", "bitale.printing", "debugprint", signature, doc);
  define_in_python(graph, "dprint", "bitale.printing", "debugprint", signature, doc);
  define_in_python(
      function, "dprint", "bitale.printing", "function_dprint",
      "def dprint(self, stage: str = 'graph', *, file: typing.Any = None, **options: typing.Any) -> str | None",
      "Prints the compiled function: its graph, or another stage such as \"program\".");
  m.def(
      "pprint", [](const Variable& variable) { return pprint(variable); }, "variable"_a,
      "The expression as one would write it.");
}

}  // namespace bitale::python
