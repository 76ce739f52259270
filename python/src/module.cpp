// The extension module bitale._core. The package's Python files arrange its contents in modules: bitale.tensor,
// bitale.graph, ...
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "bind.hpp"
#include "bitale/core/blocking.hpp"
#include "call_errors.hpp"
#include "caller.hpp"
#include "core/library_pages.hpp"
#include "docstrings.hpp"
#include "integrate.hpp"
#include "interruption.hpp"
#include "labelled.hpp"
#include "numpy_bridge.hpp"
#include "numpy_functions.hpp"
#include "optimizers.hpp"
#include "progress.hpp"
#include "sparse.hpp"
#include "stats.hpp"
#include "tree.hpp"
#include "values.hpp"

namespace {

namespace nb = nanobind;

// Waits for other threads without the interpreter lock, which these may need.
void wait_unlocked(void (*wait)(void*) noexcept, void* context) {
  if (!PyGILState_Check()) return wait(context);
  nb::gil_scoped_release unlocked;
  wait(context);
}

}  // namespace

NB_MODULE(_core, m) {
  using namespace bitale::python;
  nb::set_leak_warnings(false);  // variables may be module globals until the end of the process
  import_numpy();
  bitale::set_blocking_hook(wait_unlocked);
  begin_interruption();
  m.def(
      "version", [] { return std::string(BITALE_VERSION); }, "The version of the package.");
  m.attr("__all__") = nb::list();
  m.def(
      "set_package_folder", [](std::string folder) { set_package_folder(std::move(folder)); }, nb::arg("folder"),
      "Lines of files in this folder are not the user's.");
  bind_hooks(m);
  bind_progress(m);
  bind_errors(m);
  bind_config(m);
  bind_types(m);
  bind_values(m);
  bind_tree(m);
  bind_call_table(m);
  bind_graph(m);
  bind_function_graph(m);
  bind_features(m);
  bind_elementwise(m);
  bind_reductions(m);
  bind_sorting(m);
  bind_special(m);
  bind_language(m);
  bind_packing(m);
  bind_formulas(m);
  bind_elementary(m);
  bind_nan_reductions(m);
  bind_arrays(m);
  bind_calculus(m);
  bind_networks(m);
  bind_linalg(m);
  bind_fft(m);
  bind_signal(m);
  bind_sparse(m);
  bind_sparse_linalg(m);
  bind_decompositions(m);
  bind_shapes(m);
  bind_indexing(m);
  bind_identity_test(m);
  bind_operators(m);
  bind_dims(m);
  bind_xtensor(m);
  bind_xtensor_windows(m);
  bind_labelled_functions(m);
  bind_xtensor_loops(m);
  bind_xtensor_selection(m);
  bind_random(m);
  bind_stats(m);
  bind_integrate(m);
  bind_ifelse(m);
  bind_op_from_graph(m);
  bind_scan(m);
  bind_linker(m);
  bind_jax(m);
  bind_function(m);
  bind_debug_mode(m);
  bind_gradient(m);
  bind_optimizers(m);
  bind_printing(m);
  bind_rewriting(m);
  bind_rewrite_databases(m);
  bind_cells(m);
  bind_lines(m);
  bind_profile(m);
  bind_debugging(m);
  bind_system(m);
  bind_docstrings(m);
  bind_call_errors(m);
  // Building these tables has touched most pages of both libraries.
  bitale::give_back_pages_of_release(reinterpret_cast<const void*>(&bitale::give_back_pages));
  bitale::give_back_pages_of_release(reinterpret_cast<const void*>(&wait_unlocked));
}
