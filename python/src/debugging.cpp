// Checks, prints and breakpoints; what the library passes to Python (values to print, warnings, breakpoints, details of
// a node that failed); and users' notes on variables.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/compile/monitor.hpp"
#include "bitale/core/breakpoint.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/core/warning.hpp"
#include "bitale/graph/test_value.hpp"
#include "bitale/ops/debugging.hpp"
#include "define.hpp"
#include "graph/evaluate.hpp"
#include "hooks.hpp"
#include "notes.hpp"
#include "numpy_bridge.hpp"
#include "ops/control/breakpoint.hpp"
#include "ops/control/check_and_raise.hpp"
#include "ops/control/print.hpp"
#include "values.hpp"

namespace bitale::python {

namespace {

// ---- what the library passes to Python ------------------------------------------------------------------------------

void print_in_python(const PrintRequest& request) {
  nb::gil_scoped_acquire locked;
  hook("print_value")(request.message, request.attrs, request.function, to_numpy(request.value.copy()));
}

void warn_in_python(const std::string& message) {
  nb::gil_scoped_acquire locked;
  if (PyErr_WarnEx(PyExc_UserWarning, message.c_str(), 1) < 0) nb::raise_python_error();
}

void break_in_python(std::string_view why, std::span<Array> values) {
  nb::gil_scoped_acquire locked;
  nb::list monitored;
  for (auto& value : values) monitored.append(to_numpy(value.copy()));
  hook("stop_at_breakpoint")(std::string(why), monitored);
  if (monitored.size() != values.size())
    throw ValueError(cat("breakpoint: `monitored` has ", monitored.size(), " values now, not ", values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const TensorType type(values[i].dtype(), Dims(std::size_t(values[i].ndim()), unknown_length));
    values[i] = filter(type, value_for(type, monitored[i], Downcast::FloatLiteral));
  }
}

// Python's own exceptions keep their class; the lines are added as a note, and the node that failed as an attribute.
bool describe_python_error(const std::exception_ptr& given, const Apply* node, const std::string& lines) {
  try {
    std::rethrow_exception(given);
  } catch (nb::python_error& error) {
    nb::gil_scoped_acquire locked;
    const nb::object exception = nb::borrow(error.value());
    try {
      if (node && !nb::hasattr(exception, "node")) nb::setattr(exception, "node", wrap(*node));
      const nb::object notes = nb::getattr(exception, "__notes__", nb::none());
      const bool is_noted =
          PyList_Check(notes.ptr()) && PySequence_Contains(notes.ptr(), nb::str(lines.c_str()).ptr()) == 1;
      if (!is_noted && nb::hasattr(exception, "add_note")) exception.attr("add_note")(lines);
    } catch (nb::python_error&) {
      // an exception that accepts no attributes is raised unchanged
    }
    return true;
  } catch (...) {
    return false;
  }
}

// ---- ops ------------------------------------------------------------------------------------------------------------

OpRef make_check(const std::string& exc_type, const std::string& msg) {
  return make_ref<const CheckAndRaise>(exc_type, msg);
}
OpRef make_print(const std::string& message, const std::vector<std::string>& attrs, const std::string& function) {
  for (auto& name : attrs)
    if (name.find(',') != name.npos) throw ValueError(cat("Print: `", name, "` is not an attribute name"));
  return make_ref<const Print>(message, join(attrs, ","), function);
}
OpRef make_breakpoint(const std::string& name) { return make_ref<const PdbBreakpoint>(name); }

// ---- tags -----------------------------------------------------------------------------------------------------------

std::vector<std::tuple<std::string, std::uint32_t, std::string>> creation_trace(const Variable& variable) {
  std::vector<std::tuple<std::string, std::uint32_t, std::string>> out;
  const Location where = variable.where();
  if (!where) return out;
  std::vector<Location> lines = where.callers();
  lines.insert(lines.begin(), where);
  for (auto line = lines.rbegin(); line != lines.rend(); ++line)
    out.emplace_back(line->file, line->line, *line->function ? line->function : "<module>");
  return out;
}

nb::object test_value_of(const Variable& variable) {
  const auto value = test_value(variable);
  return value ? value_object(*variable.type(), value->copy()) : nb::none();
}

void note_test_value(const Variable& variable, Any value) {
  if (value.is_none()) {
    if (variable.node()->tag) variable.node()->tag->test_value.reset();
    return;
  }
  set_test_value(variable, value_from(*variable.type(), value));
}

}  // namespace

void bind_debugging(nb::module_& m) {
  set_print_handler(print_in_python);
  set_warning_handler(warn_in_python);
  set_break_handler(break_in_python);
  set_foreign_error_describer(describe_python_error);
  m.def("check_and_raise", make_check, "exc_type"_a, "msg"_a, "The op that raises an exception, given its name.");
  m.def(
      "checked",
      [](const Like& x, const Like& condition, const std::string& exc_type, const std::string& msg) {
        return check_and_raise(as_variable(x), {as_variable(condition)}, exc_type, msg);
      },
      "x"_a, "condition"_a, "exc_type"_a, "msg"_a, nb::call_guard<AtCaller>(),
      "The tensor; a call in which the condition does not hold raises an error of the library.");
  m.def("print_op", make_print, "message"_a, "attrs"_a, "function"_a, "The op that prints.");
  m.def("pdb_breakpoint", make_breakpoint, "name"_a, "The op that stops.");
  m.def("tag_notes", notes_of, "variable"_a, nb::sig("def tag_notes(variable: Variable) -> dict[str, typing.Any]"),
        "What is noted on a variable, apart from its test value.");
  m.def("test_value", test_value_of, "variable"_a,
        nb::sig("def test_value(variable: Variable) -> numpy.typing.NDArray[typing.Any] | None"),
        "A copy of the value to try expressions on, or None.");
  m.def(
      "set_nan_guarded", [](const Variable& variable, bool guarded) { set_nan_guarded(variable, guarded); },
      "variable"_a, "guarded"_a, "Whether NanGuardMode looks at the variable.");
  m.def("creation_trace", creation_trace, "variable"_a,
        nb::sig("def creation_trace(variable: Variable) -> list[tuple[str, int, str]]"),
        "The lines that led to the variable, the outermost first: file, line and function.");
  m.def("set_test_value", note_test_value, "variable"_a, "value"_a.none(),
        "Notes a value to try expressions on; None: none.");
  nb::borrow<nb::class_<VariableObject>>(m.attr("Variable"))
      .def_prop_ro(
          "tag", [](nb::handle self) { return hook("scratchpad")(self); }, nb::sig("def tag(self) -> typing.Any"),
          "What the user notes on the variable: any attributes; test_value is a value of its type, for "
          "compute_test_value.");
}

}  // namespace bitale::python
