// A function that reads its arguments from cells and stores its results in cells: lists of one element, in which
// PyTensor's functions hold their inputs and outputs. It is written in C++ because it is part of every call of a
// compiled PyTensor function.
#include <nanobind/nanobind.h>

#include <cstddef>
#include <vector>

#include "bind.hpp"
#include "bitale/core/error.hpp"
#include "define.hpp"

namespace bitale::python {

namespace {

struct CellFunction {
  vectorcallfunc entry;
  nb::object function;  // takes the arguments, returns a list with one result per output cell
  std::vector<nb::object> inputs, outputs;
  nb::object on_error;  // called with the exception; an exception that it raises replaces the original
};

// The content of the cell. A new reference, since the function may run Python code that changes the cell.
PyObject* content(PyObject* cell) {
  PyObject* found = PyList_GET_SIZE(cell) > 0 ? PyList_GET_ITEM(cell, 0) : Py_None;
  Py_INCREF(found);
  return found;
}

// Returns whether all results were stored. They are moved out of the list, which has no other owner.
bool store(const CellFunction& self, PyObject* results) {
  if (!PyList_CheckExact(results) || std::size_t(PyList_GET_SIZE(results)) != self.outputs.size()) {
    PyErr_SetString(PyExc_TypeError, "CellFunction: the function must return a list with a value for each output");
    return false;
  }
  for (std::size_t i = 0; i < self.outputs.size(); ++i) {
    PyObject* value = PyList_GET_ITEM(results, Py_ssize_t(i));
    Py_INCREF(value);
    if (PyList_SetItem(self.outputs[i].ptr(), 0, value) != 0) return false;
  }
  return true;
}

void handle_error(const CellFunction& self) {
  if (self.on_error.is_none()) return;
  nb::python_error error;  // fetches the exception
  nb::object handled = nb::steal(PyObject_CallOneArg(self.on_error.ptr(), error.value().ptr()));
  if (handled.is_valid()) error.restore();
}

PyObject* call(PyObject* callable, PyObject* const*, std::size_t, PyObject*) {
  const auto& self = *nb::inst_ptr<CellFunction>(nb::handle(callable));
  constexpr std::size_t on_stack = 16;
  PyObject* few[on_stack + 1];
  std::vector<PyObject*> many;
  const std::size_t count = self.inputs.size();
  PyObject** arguments = few + 1;  // the callee may use the slot before them
  if (count > on_stack) {
    many.resize(count + 1);
    arguments = many.data() + 1;
  }
  for (std::size_t i = 0; i < count; ++i) arguments[i] = content(self.inputs[i].ptr());
  PyObject* results =
      PyObject_Vectorcall(self.function.ptr(), arguments, count | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
  for (std::size_t i = 0; i < count; ++i) Py_DECREF(arguments[i]);
  const bool stored = results && store(self, results);
  Py_XDECREF(results);
  if (!stored) {
    handle_error(self);
    return nullptr;
  }
  Py_RETURN_NONE;
}

std::vector<nb::object> cells(nb::handle given, const char* what) {
  std::vector<nb::object> found;
  for (nb::handle cell : given) {
    if (!PyList_Check(cell.ptr()) || PyList_GET_SIZE(cell.ptr()) != 1)
      throw TypeError(std::string("CellFunction: ") + what + " must be lists of one element");
    found.push_back(nb::borrow(cell));
  }
  return found;
}

// The cycle collector must see what the object holds, because cells hold what users store.
int traverse(PyObject* self, visitproc visit, void* arg) {
#if PY_VERSION_HEX >= 0x03090000
  Py_VISIT(Py_TYPE(self));
#endif
  if (PyObject** dict = _PyObject_GetDictPtr(self)) Py_VISIT(*dict);
  if (!nb::inst_ready(self)) return 0;
  const auto& held = *nb::inst_ptr<CellFunction>(nb::handle(self));
  Py_VISIT(held.function.ptr());
  Py_VISIT(held.on_error.ptr());
  for (auto& cell : held.inputs) Py_VISIT(cell.ptr());
  for (auto& cell : held.outputs) Py_VISIT(cell.ptr());
  return 0;
}

int clear(PyObject* self) {
  if (PyObject** dict = _PyObject_GetDictPtr(self)) Py_CLEAR(*dict);
  if (!nb::inst_ready(self)) return 0;
  auto& held = *nb::inst_ptr<CellFunction>(nb::handle(self));
  held.function = nb::none();
  held.on_error = nb::none();
  held.inputs.clear();
  held.outputs.clear();
  return 0;
}

const PyType_Slot cell_slots[] = {{Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                                  {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                                  {Py_tp_clear, reinterpret_cast<void*>(clear)},
                                  {0, nullptr}};

}  // namespace

void bind_cells(nb::module_& m) {
  nb::class_<CellFunction> cls(
      m, "CellFunction", nb::type_slots(cell_slots), nb::dynamic_attr(),
      "A function without arguments that calls another with the contents of its input cells, and "
      "stores the results in its output cells. Cells are lists of one element.");
  cls.def(
      "__init__",
      [](CellFunction* self, nb::object function, nb::handle inputs, nb::handle outputs, nb::object on_error) {
        new (self) CellFunction{call, std::move(function), cells(inputs, "inputs"), cells(outputs, "outputs"),
                                std::move(on_error)};
      },
      "function"_a, "inputs"_a, "outputs"_a, "on_error"_a.none() = nb::none(),
      nb::sig("def __init__(self, function: typing.Callable[..., list[typing.Any]], inputs: "
              "collections.abc.Sequence[list[typing.Any]], outputs: collections.abc.Sequence[list[typing.Any]], "
              "on_error: typing.Callable[[BaseException], typing.Any] | None = None) -> None"));
  auto* type = reinterpret_cast<PyTypeObject*>(cls.ptr());
  const nb::object instance = nb::inst_alloc(cls);
  type->tp_vectorcall_offset = reinterpret_cast<char*>(nb::inst_ptr<CellFunction>(instance)) -
                               reinterpret_cast<char*>(instance.ptr()) + Py_ssize_t(offsetof(CellFunction, entry));
  type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
  PyType_Modified(type);
}

}  // namespace bitale::python
