// A compilation that takes long shows its stage in a line of the terminal or notebook, from where the library polls for
// signals. The end of each stage is logged. How lines are written is Python's part, of which nothing runs where nothing
// is shown or logged.
#include "progress.hpp"

#include <nanobind/nanobind.h>

#include <chrono>
#include <string_view>

#include "bitale/core/config.hpp"
#include "core/compile_stage.hpp"
#include "core/stopwatch.hpp"
#include "define.hpp"

namespace bitale::python {

namespace {

constexpr double between_lines = 0.1;  // seconds
constexpr int debug_level = 10;        // logging.DEBUG

// Of the main thread, which alone shows anything.
struct Shown {
  bool is_shown = false;
  std::chrono::steady_clock::time_point last{};
};
thread_local Shown shown_here;

PyObject* reporter = nullptr;

// what: "show", "end" or "log".
template <class... Arguments>
void report_to_package(const char* what, const Arguments&... arguments) {
  const nb::handle function(reporter);
  if (function.is_valid()) function(what, arguments...);
}

nb::str text(std::string_view name) { return nb::str(name.data(), name.size()); }

// The logger, which nobody can have set up before `logging` was imported.
nb::object logger() {
  static PyObject* found = nullptr;
  if (!found) {
    PyObject* logging = PyDict_GetItemString(PyImport_GetModuleDict(), "logging");
    if (!logging || !PyObject_HasAttrString(logging, "getLogger")) return nb::none();
    found = nb::object(nb::handle(logging).attr("getLogger")("bitale").attr("getChild")("compile")).release().ptr();
  }
  return nb::borrow(found);
}

void report(const CompileStage& ended, double seconds) {
  if (!ended.within && shown_here.is_shown) {
    shown_here.is_shown = false;
    report_to_package("end", seconds);
  }
  const nb::object log = logger();
  if (log.is_none() || !nb::cast<bool>(log.attr("isEnabledFor")(debug_level))) return;
  report_to_package("log", text(ended.name), ended.nodes, seconds);
}

// Threads of Python only: others must not wait for the interpreter lock.
void observe(const CompileStage& ended, double seconds) {
  if (!Py_IsInitialized() || !PyGILState_GetThisThreadState()) return;
  const nb::gil_scoped_acquire locked;
  const nb::error_scope keep;  // an exception may be on its way
  try {
    report(ended, seconds);
  } catch (nb::python_error& error) {
    if (error.matches(PyExc_KeyboardInterrupt))
      PyErr_SetInterrupt();  // raised again at the next opportunity
    else
      error.discard_as_unraisable("the report on a compilation");
  }
}

}  // namespace

void bind_progress(nb::module_& m) {
  set_compile_stage_observer(observe);
  m.def(
      "register_progress",
      [](nb::object function) {
        Py_XDECREF(reporter);
        reporter = function.release().ptr();
      },
      "function"_a, nb::sig("def register_progress(function: collections.abc.Callable[..., None]) -> None"),
      "Register what is called of compilations: function(what, ...), where what is a function of bitale._progress.");
}

void show_progress() {
  const CompileStage* stage = compile_stage();
  if (!stage) return;
  const CompileStage* whole = stage;
  while (whole->within) whole = whole->within;
  const double seconds = seconds_since(whole->start);
  if (seconds_since(shown_here.last) < between_lines || !(seconds >= config::get_float("progress_after"))) return;
  shown_here = {true, std::chrono::steady_clock::now()};
  report_to_package("show", text(stage->name), stage->nodes, seconds);
}

}  // namespace bitale::python
