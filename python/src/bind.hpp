// The parts of the extension module, one function per topic.
#pragma once

#include <nanobind/nanobind.h>

namespace bitale::python {

namespace nb = nanobind;

void bind_hooks(nb::module_& m);
void bind_errors(nb::module_& m);
void bind_config(nb::module_& m);
void bind_types(nb::module_& m);
void bind_graph(nb::module_& m);  // Variable and its subclasses, Apply, Op, traversals
void bind_function_graph(nb::module_& m);
void bind_features(nb::module_& m);     // features, which can be attached to a FunctionGraph
void bind_elementwise(nb::module_& m);  // from the registry of scalar ops
void bind_reductions(nb::module_& m);
void bind_sorting(nb::module_& m);
void bind_special(nb::module_& m);
void bind_packing(nb::module_& m);   // nested lists, packed tensors, known values
void bind_language(nb::module_& m);  // rearranging, creating, searching, contracting
void bind_formulas(nb::module_& m);  // functions that are short expressions of others
void bind_linalg(nb::module_& m);
void bind_fft(nb::module_& m);
void bind_jax(nb::module_& m);
void bind_signal(nb::module_& m);
void bind_decompositions(nb::module_& m);
void bind_shapes(nb::module_& m);  // shapes, creation, conversion, products
void bind_indexing(nb::module_& m);
void bind_identity_test(nb::module_& m);  // before bind_operators
void bind_operators(nb::module_& m);
void bind_random(nb::module_& m);
void bind_ifelse(nb::module_& m);
void bind_op_from_graph(nb::module_& m);
void bind_call_table(nb::module_& m);
void bind_scan(nb::module_& m);
void bind_gradient(nb::module_& m);
void bind_printing(nb::module_& m);
void bind_rewriting(nb::module_& m);          // users' rules, traces, reports; after bind_function
void bind_rewrite_databases(nb::module_& m);  // optdb, queries, stages; after bind_rewriting
void bind_linker(nb::module_& m);             // before bind_function
void bind_function(nb::module_& m);           // function, Function, shared, In, Out, Mode
void bind_mode(nb::module_& m);               // of bind_function
void bind_compilation(nb::module_& m);
void bind_cells(nb::module_& m);       // functions that connect the cells of PyTensor's functions
void bind_lines(nb::module_& m);       // a scope in which nodes carry given lines
void bind_profile(nb::module_& m);     // profiles of functions; after bind_function
void bind_debug_mode(nb::module_& m);  // after bind_function
void bind_debugging(nb::module_& m);   // checks, prints, breakpoints, tags, and handlers in Python
void bind_system(nb::module_& m);      // what was detected on the machine, and the directory of compiled code

}  // namespace bitale::python
