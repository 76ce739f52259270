#include "debug_mode.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/compile/debug_mode.hpp"
#include "define.hpp"
#include "errors.hpp"
#include "numpy_bridge.hpp"

namespace bitale::python {

namespace {

class DebugModeClass final : public Mode {
 public:
  explicit DebugModeClass(const DebugModeOptions& options) : Mode(debug_mode(options)) {}
};

nb::list arrays(const std::vector<Array>& values) {
  nb::list out;
  for (auto& value : values) out.append(to_numpy(value.copy()));
  return out;
}

// Every exception gets the attributes of its C++ class.
void fill_thunk_output(nb::handle to, const Error& error) {
  auto& bad = static_cast<const BadThunkOutput&>(error);
  to.attr("r") = nb::cast(bad.r);
  to.attr("thunk1") = bad.thunk1;
  to.attr("val1") = to_numpy(bad.val1.copy());
  to.attr("thunk2") = bad.thunk2;
  to.attr("val2") = to_numpy(bad.val2.copy());
  to.attr("inputs_val") = arrays(bad.inputs_val);
}
void fill_optimization(nb::handle to, const Error& error) {
  auto& bad = static_cast<const BadOptimization&>(error);
  to.attr("old_r") = nb::cast(bad.old_r);
  to.attr("new_r") = nb::cast(bad.new_r);
  to.attr("old_r_val") = to_numpy(bad.old_r_val.copy());
  to.attr("new_r_val") = to_numpy(bad.new_r_val.copy());
  to.attr("reason") = bad.reason;
  to.attr("old_graph") = bad.old_graph;
  to.attr("new_graph") = bad.new_graph;
}
void fill_destroy_map(nb::handle to, const Error& error) {
  auto& bad = static_cast<const BadDestroyMap&>(error);
  to.attr("node") = nb::cast(bad.node);
  to.attr("idx") = bad.idx;
  to.attr("old_val") = to_numpy(bad.old_val.copy());
  to.attr("new_val") = to_numpy(bad.new_val.copy());
  to.attr("perform") = bad.perform;
}
void fill_view_map(nb::handle to, const Error& error) {
  auto& bad = static_cast<const BadViewMap&>(error);
  to.attr("node") = nb::cast(bad.node);
  to.attr("output_idx") = bad.output_idx;
  to.attr("out_storage") = to_numpy(bad.out_storage.copy());
  to.attr("in_alias_idx") = bad.in_alias_idx;
  to.attr("out_alias_idx") = bad.out_alias_idx;
}
void fill_invalid_value(nb::handle to, const Error& error) {
  auto& bad = static_cast<const InvalidValueError&>(error);
  to.attr("r") = nb::cast(bad.r);
  to.attr("v") = to_numpy(bad.v.copy());
  to.attr("hint") = bad.hint;
  to.attr("specific_hint") = bad.specific_hint;
}

template <class E>
bool is_a(const Error& error) {
  return dynamic_cast<const E*>(&error) != nullptr;
}

void bind_debug_errors(nb::module_& m) {
  PyObject* base = new_error(m, "DebugModeError", PyExc_Exception, "Something that DebugMode has found.",
                             is_a<DebugModeError>, nullptr);
  new_error(m, "BadThunkOutput", base,
            "Two ways to compute a value differ. Attributes: r, thunk1, val1, thunk2, val2, inputs_val.",
            is_a<BadThunkOutput>, fill_thunk_output);
  new_error(m, "BadOptimization", base,
            "A rewrite has changed a value. Attributes: old_r, new_r, old_r_val, new_r_val, reason, old_graph, "
            "new_graph.",
            is_a<BadOptimization>, fill_optimization);
  new_error(m, "BadDestroyMap", base,
            "An op has overwritten an input that it does not declare to destroy. Attributes: node, idx, old_val, "
            "new_val, perform.",
            is_a<BadDestroyMap>, fill_destroy_map);
  new_error(m, "BadViewMap", base,
            "An output shares memory that the op does not declare. Attributes: node, output_idx, out_storage, "
            "in_alias_idx, out_alias_idx.",
            is_a<BadViewMap>, fill_view_map);
  new_error(m, "StochasticOrder", base, "Rewriting the same graph again went another way.", is_a<StochasticOrder>,
            nullptr);
  new_error(m, "InvalidValueError", base,
            "A value is not of its variable's type, or not finite. Attributes: r, v, hint, specific_hint.",
            is_a<InvalidValueError>, fill_invalid_value);
}

}  // namespace

nb::object stored_debug_options(const Mode& mode) {
  const std::optional<DebugModeOptions> options = debug_options(mode);
  if (!options) return nb::none();
  nb::dict out;
  out["linker"] = options->linker;
  out["optimizer"] = options->optimizer;
  out["stability_patience"] = options->stability_patience;
  out["check_c_code"] = options->check_c_code;
  out["check_py_code"] = options->check_py_code;
  out["check_isfinite"] = options->check_isfinite;
  out["warn_input_not_reused"] = options->warn_input_not_reused;
  out["check_preallocated_output"] = options->check_preallocated_output;
  out["check_preallocated_output_ndim"] = options->check_preallocated_output_ndim;
  out["native_linkers"] = options->native_linkers;
  return out;
}

void bind_debug_mode(nb::module_& m) {
  bind_debug_errors(m);
  nb::class_<DebugModeClass, Mode>(
      m, "DebugMode",
      "Compiles so that every call checks itself: each node by perform and by native code, repeatedly and on memory of "
      "various layouts; aliasing and destroyed inputs against what ops declare; every rewrite by the values before and "
      "after; rewriting by doing it again. What is left out is as the flags DebugMode__* say. What it finds is raised "
      "as a DebugModeError.\n\n"
      "optimizer: which rewrites. stability_patience: how often rewriting is done. check_c_code: native code, by "
      "native_linkers. check_py_code: perform. check_isfinite: nan and inf are errors. check_preallocated_output: "
      "initial, previous, c_contiguous, f_contiguous, strided, wrong_size, ALL, separated by colons or as a list. "
      "linker: "
      "what runs the whole graph in the end. ValueError for unknown names and a patience below 1.")
      .def(
          "__init__",
          [](DebugModeClass* self, const std::string& optimizer, std::optional<int> stability_patience,
             std::optional<bool> check_c_code, std::optional<bool> check_py_code, std::optional<bool> check_isfinite,
             Any check_preallocated_output, std::optional<int> check_preallocated_output_ndim,
             std::optional<bool> warn_input_not_reused, const std::string& linker,
             const std::vector<std::string>& native_linkers) {
            std::optional<std::string> memory;
            if (nb::isinstance<nb::str>(check_preallocated_output))
              memory = nb::cast<std::string>(check_preallocated_output);
            else if (!check_preallocated_output.is_none())
              memory = nb::cast<std::string>(nb::str(":").attr("join")(check_preallocated_output));
            new (self) DebugModeClass({.linker = linker,
                                       .optimizer = optimizer,
                                       .stability_patience = stability_patience,
                                       .check_c_code = check_c_code,
                                       .check_py_code = check_py_code,
                                       .check_isfinite = check_isfinite,
                                       .warn_input_not_reused = warn_input_not_reused,
                                       .check_preallocated_output = memory,
                                       .check_preallocated_output_ndim = check_preallocated_output_ndim,
                                       .native_linkers = native_linkers});
          },
          "optimizer"_a = "fast_run", "stability_patience"_a = nb::none(), "check_c_code"_a = nb::none(),
          "check_py_code"_a = nb::none(), "check_isfinite"_a = nb::none(), "check_preallocated_output"_a = nb::none(),
          "check_preallocated_output_ndim"_a = nb::none(), "warn_input_not_reused"_a = nb::none(), "linker"_a = "",
          "native_linkers"_a = std::vector<std::string>{"jit", "c"},
          nb::sig(
              "def __init__(self, optimizer: str = 'fast_run', stability_patience: int | None = None, check_c_code: "
              "bool | None = None, check_py_code: bool | None = None, check_isfinite: bool | None = None, "
              "check_preallocated_output: str | collections.abc.Sequence[str] | None = None, "
              "check_preallocated_output_ndim: int | None = None, warn_input_not_reused: bool | None = None, linker: "
              "str = '', native_linkers: collections.abc.Sequence[str] = ['jit', 'c']) -> None"));
}

}  // namespace bitale::python
