// Each error class of the library is mapped to one Python exception class: a builtin one where Python has a suitable
// one.
#include "errors.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bind.hpp"
#include "bitale/compile/monitor.hpp"
#include "bitale/compile/shared.hpp"
#include "bitale/core/error.hpp"
#include "bitale/graph/failing_node.hpp"
#include "bitale/graph/features.hpp"
#include "bitale/graph/structure.hpp"
#include "bitale/link/linker.hpp"
#include "bitale/ops/debugging.hpp"
#include "bitale/ops/linalg.hpp"
#include "hooks.hpp"
#include "variable_object.hpp"

namespace bitale::python {

namespace {

struct Mapping {
  bool (*matches)(const Error&);
  PyObject* exception;
  void (*fill)(nb::handle exception, const Error& error) = nullptr;
};

// The most derived class first.
std::vector<Mapping>& mappings() {
  static auto& table = *new std::vector<Mapping>;
  return table;
}

template <class E>
void map_to(PyObject* exception) {
  mappings().push_back({[](const Error& e) { return dynamic_cast<const E*>(&e) != nullptr; }, exception});
}

// A class of NumPy, kept under its name.
PyObject* numpy_class(nb::module_& m, const char* name) {
  nb::object numpy = nb::module_::import_("numpy");
  if (nb::hasattr(numpy.attr("linalg"), name))
    numpy = numpy.attr("linalg");
  else if (nb::hasattr(numpy, "exceptions"))
    numpy = numpy.attr("exceptions");  // from NumPy 1.25 on
  m.attr(name) = numpy.attr(name);
  return nb::object(m.attr(name)).ptr();
}

PyObject* new_class(nb::module_& m, const char* name, PyObject* base, const char* doc) {
  std::string full = nb::cast<std::string>(m.attr("__name__")) + "." + name;
  PyObject* exception = PyErr_NewExceptionWithDoc(full.c_str(), doc, base, nullptr);
  if (!exception) nb::raise_python_error();
  m.attr(name) = nb::borrow(exception);
  return exception;
}

template <class E>
void map_to_new(nb::module_& m, const char* name, PyObject* base, const char* doc) {
  map_to<E>(new_class(m, name, base, doc));
}

void raise(const Mapping& mapping, const Error& error) {
  if (!mapping.fill) return PyErr_SetString(mapping.exception, error.what());
  try {
    nb::object exception = nb::handle(mapping.exception)(error.what());
    mapping.fill(exception, error);
    PyErr_SetObject(mapping.exception, exception.ptr());
  } catch (nb::python_error& other) {
    other.restore();
  }
}

// The class that a user's check raises.
PyObject* exception_of(const RaisedError& error) {
  const nb::object found = hook("exception_called")(error.exc_type());
  return found.ptr();  // classes that were found once are cached
}

// Sets the attribute `node` of the exception that is being raised.
void note_node(const Apply& node) {
  nb::python_error raised;  // fetches the exception
  const nb::object exception = nb::borrow(raised.value());
  nb::setattr(exception, "node", wrap(node));
  raised.restore();
}

void translate(const std::exception_ptr& caught, void*) {
  try {
    std::rethrow_exception(caught);
  } catch (const Error& error) {
    const auto& known = mappings();
    const auto found =
        std::find_if(known.begin(), known.end(), [&](const Mapping& mapping) { return mapping.matches(error); });
    if (auto* raised = dynamic_cast<const RaisedError*>(&error))
      PyErr_SetString(exception_of(*raised), error.what());
    else if (found != known.end())
      raise(*found, error);
    else
      PyErr_SetString(PyExc_RuntimeError, error.what());
    if (const Apply* node = failing_node(error)) note_node(*node);
  } catch (const std::bad_cast&) {
    PyErr_SetString(PyExc_TypeError, "an argument of another type was expected, or one that is initialised");
  }
}

}  // namespace

PyObject* new_error(nb::module_& m, const char* name, PyObject* base, const char* doc, bool (*matches)(const Error&),
                    void (*fill)(nb::handle exception, const Error& error)) {
  PyObject* exception = new_class(m, name, base, doc);
  mappings().insert(mappings().begin(), {matches, exception, fill});
  return exception;
}

void bind_errors(nb::module_& m) {
  map_to_new<ShapeError>(m, "ShapeError", PyExc_ValueError, "Lengths that don't fit.");
  map_to_new<MissingInputError>(m, "MissingInputError", PyExc_Exception,
                                "A graph needs a variable that nobody provides.");
  map_to_new<UnusedInputError>(m, "UnusedInputError", PyExc_Exception,
                               "An input that no output depends on, or the same input twice.");
  map_to_new<ConflictingAssumptionsError>(m, "ConflictingAssumptionsError", PyExc_ValueError,
                                          "Facts stated of a matrix that contradict each other.");
  map_to_new<DisconnectedInputError>(m, "DisconnectedInputError", PyExc_ValueError,
                                     "A gradient with respect to something that the cost does not depend on.");
  map_to_new<NullTypeGradError>(m, "NullTypeGradError", PyExc_TypeError,
                                "A gradient that is undefined or not implemented.");
  map_to_new<GradientError>(m, "GradientError", PyExc_Exception, "Analytic and numeric gradient differ.");
  map_to_new<ReplacementDidNotRemoveError>(m, "ReplacementDidNotRemoveError", PyExc_Exception,
                                           "A node that was to leave a graph is still there.");
  map_to_new<AlreadyThere>(m, "AlreadyThere", PyExc_Exception, "A graph has such a feature already.");
  map_to_new<InconsistencyError>(m, "InconsistencyError", PyExc_Exception,
                                 "A graph that can't be ordered, or that a rewrite broke.");
  map_to_new<NotScalarConstantError>(m, "NotScalarConstantError", PyExc_Exception, "Not a constant of one element.");
  map_to_new<UpdateConflictError>(m, "UpdateConflictError", PyExc_RuntimeError,
                                  "A call inside a call that would change what the outer one changes.");
  map_to_new<DualLinkerError>(m, "DualLinkerError", PyExc_Exception,
                              "Two linkers give different values for the same node.");
  map_to_new<NanGuardError>(m, "NanGuardError", PyExc_AssertionError, "A value that NanGuardMode does not let pass.");
  map_to_new<InternalError>(m, "InternalError", PyExc_RuntimeError, "A broken promise of Bitale itself.");
  map_to<AssertionError>(PyExc_AssertionError);
  map_to<AttributeError>(PyExc_AttributeError);
  map_to<NotImplementedError>(PyExc_NotImplementedError);
  map_to<OutOfMemoryError>(PyExc_MemoryError);
  map_to<AxisError>(numpy_class(m, "AxisError"));
  map_to<LinAlgError>(numpy_class(m, "LinAlgError"));
  map_to<KeyError>(PyExc_KeyError);
  map_to<IndexError>(PyExc_IndexError);
  map_to<ValueError>(PyExc_ValueError);
  map_to<TypeError>(PyExc_TypeError);
  nb::register_exception_translator(translate);
}

void set_python_error(const std::exception_ptr& caught) noexcept {
  try {
    try {
      std::rethrow_exception(caught);
    } catch (nb::python_error& error) {
      error.restore();
    } catch (const Error&) {
      translate(caught, nullptr);
    } catch (const std::bad_alloc&) {
      PyErr_NoMemory();
    } catch (const std::exception& error) {
      PyErr_SetString(PyExc_RuntimeError, error.what());
    }
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "an unknown error");
  }
}

}  // namespace bitale::python
