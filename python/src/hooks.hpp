// The functions of the package's Python files that the extension module calls. The package registers how they are found
// when it is imported (bitale/_hooks.py); the extension module imports no module of the package by name.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

namespace bitale::python {

namespace nb = nanobind;

inline constexpr std::string_view hook_names[] = {
    // function() and its results
    "stored_mode", "stored_function", "stored_function_maker", "containers_of", "get_input", "set_input",
    "profile_stats", "stored_nan_guard", "dual_linker",
    // rewriting: rules of node rewriters, queries as optdb takes them and as users see them, the rewriter of a query
    "rule_of", "core_query", "query_object", "rewriter_of_query", "database_of_query",
    // linkers that are written in Python, and classes of others
    "graph_code", "links_graphs", "linker_object",
    // graphs: copies, pickles, tags
    "clone_get_equiv", "output_node", "deepcopy_variable", "deepcopy_apply", "reduce_variable", "reduce_apply",
    "copy_op", "deepcopy_op", "reduce_op", "reduce_python_op", "reduce_type", "scratchpad",
    // ops written in Python
    "op_pullback", "op_pushforward", "op_batched", "op_infer_shape", "op_make_thunk", "op_make_py_thunk", "op_runner",
    // classes of ops
    "classes_of_ops", "classes_of_loops",
    // loops, by name
    "loops",
    // methods of variables
    "array", "array_ufunc", "array_function", "transfer",
    // printing and debugging
    "debugprint", "function_dprint", "notebook_svg", "notebook_html", "char_from_number", "print_value",
    "stop_at_breakpoint", "exception_called",
    // random generators: their methods, and their states
    "generator_methods", "words_of_generator", "generator_of_words",
    // derivatives of functions of arrays, in place of expressions
    "derivative_of_function", "kind_of_value",
    // sparse matrices: the class with its methods
    "sparse_variable",
    // JAX
    "jax_fetched", "jax_is_within", "jax_begin_to_fetch", "jax_platform", "jax_compile_module", "jax_to_device",
    "jax_copied", "jax_is_on_device"};

// A name in the table; another one does not compile.
class Hook {
 public:
  consteval Hook(const char* name) : index_(std::size_t(std::ranges::find(hook_names, name) - std::begin(hook_names))) {
    if (index_ == std::size(hook_names)) throw "the table of hooks has no such name";
  }
  std::size_t index() const { return index_; }

 private:
  std::size_t index_;
};

// The function that the package registered. InternalError when the package was not imported.
nb::object hook(Hook which);

}  // namespace bitale::python
