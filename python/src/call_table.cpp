// The functions that bitale.jit has compiled, by the kinds of arguments of calls. A call walks the arguments once,
// along the structure that they had before.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "define.hpp"
#include "hooks.hpp"
#include "instance.hpp"
#include "numpy_api.hpp"
#include "tree.hpp"

namespace bitale::python {

namespace {

// What a compiled function depends on: NumPy's number of the dtype, and for each dimension whether its length is 1.
struct Leaf {
  int type = NPY_NOTYPE;
  std::uint64_t ones = 1;  // a bit for each dimension, and one more above
  // Of an object that is neither an array nor a number: its class, and what else the function depends on.
  PyTypeObject* cls = nullptr;
  nb::object kind;

  bool equals(const Leaf& other) const {
    if (type != other.type || ones != other.ones || cls != other.cls) return false;
    if (!kind.is_valid() || kind.is(other.kind)) return true;
    const int same = PyObject_RichCompareBool(kind.ptr(), other.kind.ptr(), Py_EQ);
    if (same < 0) nb::raise_python_error();
    return same > 0;
  }
};

Leaf leaf_of(PyObject* p) {
  Leaf out;
  if (PyArray_Check(p)) {
    auto* array = reinterpret_cast<PyArrayObject*>(p);
    out.type = PyArray_TYPE(array);
    for (int axis = 0; axis < PyArray_NDIM(array); ++axis)
      out.ones = out.ones << 1 | std::uint64_t(PyArray_DIM(array, axis) == 1);
  } else if (PyBool_Check(p)) {
    out.type = NPY_BOOL;
  } else if (PyLong_Check(p)) {
    int overflow = 0;
    PyLong_AsLongLongAndOverflow(p, &overflow);
    out.type = overflow ? NPY_UINT64 : NPY_INT64;
  } else if (PyFloat_Check(p)) {  // of NumPy, too
    out.type = NPY_FLOAT64;
  } else if (PyArray_CheckScalar(p)) {
    const nb::object descriptor = nb::steal(reinterpret_cast<PyObject*>(PyArray_DescrFromScalar(p)));
    out.type = reinterpret_cast<PyArray_Descr*>(descriptor.ptr())->type_num;
  } else {
    out.cls = Py_TYPE(p);
    out.kind = hook("kind_of_value")(nb::handle(p));
  }
  return out;
}

struct Entry {
  Tree args, kwargs;
  std::vector<Leaf> leaves;
  nb::object fixed, function;  // what is static, and what was compiled

  bool match(nb::handle given_args, nb::handle given_kwargs, nb::handle given_fixed, Leaves& out) const {
    out.reserve(leaves.size());
    if (!args.match(given_args, out) || !kwargs.match(given_kwargs, out)) return false;
    for (std::size_t i = 0; i < leaves.size(); ++i)
      if (!leaf_of(out.span()[i]).equals(leaves[i])) return false;
    if (fixed.is(given_fixed)) return true;
    const int same = PyObject_RichCompareBool(fixed.ptr(), given_fixed.ptr(), Py_EQ);
    if (same < 0) nb::raise_python_error();
    return same > 0;
  }
};

using Entries = std::vector<std::shared_ptr<const Entry>>;

class CallTable {
 public:
  // The entry of the arguments, and their leaves; null if there is none. The entry of the last call is looked at first.
  std::shared_ptr<const Entry> find(nb::handle args, nb::handle kwargs, nb::handle fixed, Leaves& leaves) {
    const auto known = entries_;  // comparisons run code of Python, which may call the function
    const std::size_t last = last_;
    for (std::size_t i = 0; i < known->size(); ++i) {
      const std::size_t at = i == 0 ? last : i <= last ? i - 1 : i;
      Leaves own;
      if (!(*known)[at]->match(args, kwargs, fixed, own)) continue;
      if (known == entries_) last_ = at;
      leaves.swap(own);
      return (*known)[at];
    }
    return nullptr;
  }
  void add(nb::object args, nb::object kwargs, nb::object fixed, nb::object function, std::size_t most) {
    if (PyObject_Hash(fixed.ptr()) == -1) nb::raise_python_error();
    auto made = std::make_shared<Entry>();
    Leaves leaves;
    made->args = Tree::of(args, leaves), made->kwargs = Tree::of(kwargs, leaves);
    for (PyObject* leaf : leaves.span()) made->leaves.push_back(leaf_of(leaf));
    made->fixed = std::move(fixed), made->function = std::move(function);
    auto all = std::make_shared<Entries>(*entries_);
    all->push_back(std::move(made));
    while (all->size() > std::max<std::size_t>(most, 1)) all->erase(all->begin());
    last_ = all->size() - 1;
    entries_ = std::move(all);
  }
  void clear() {
    const auto before = std::exchange(entries_, std::make_shared<Entries>());
    last_ = 0;
  }
  std::size_t size() const { return entries_->size(); }
  const Entries& entries() const { return *entries_; }

 private:
  std::shared_ptr<const Entries> entries_ = std::make_shared<Entries>();  // the oldest first
  std::size_t last_ = 0;
};

// A static argument may refer to the object that has the table.
int visit_entries(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  auto* self = instance_of<CallTable>(object);
  if (!self) return 0;
  for (auto& entry : self->entries()) {
    Py_VISIT(entry->fixed.ptr());
    Py_VISIT(entry->function.ptr());
  }
  return 0;
}

int clear_entries(PyObject* object) {
  if (auto* self = instance_of<CallTable>(object)) self->clear();
  return 0;
}

PyType_Slot table_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(visit_entries)},
                             {Py_tp_clear, reinterpret_cast<void*>(clear_entries)},
                             {0, nullptr}};

}  // namespace

void bind_call_table(nb::module_& m) {
  nb::class_<CallTable>(m, "CallTable", nb::type_slots(table_slots), "Compiled functions by the kinds of arguments.")
      .def(nb::init<>())
      .def(
          "call",
          [](CallTable& self, nb::handle args, nb::handle kwargs, nb::handle fixed) -> nb::object {
            Leaves leaves;
            const auto entry = self.find(args, kwargs, fixed, leaves);
            if (!entry) return nb::borrow(Py_NotImplemented);
            PyObject* result = PyObject_Vectorcall(entry->function.ptr(), leaves.span().data(), leaves.size(), nullptr);
            if (!result) nb::raise_python_error();
            return nb::steal(result);
          },
          "args"_a, "kwargs"_a, "fixed"_a, "The result of the function of such arguments; NotImplemented without one.")
      .def(
          "find",
          [](CallTable& self, nb::handle args, nb::handle kwargs, nb::handle fixed) -> nb::object {
            Leaves leaves;
            const auto entry = self.find(args, kwargs, fixed, leaves);
            return entry ? entry->function : nb::none();
          },
          "args"_a, "kwargs"_a, "fixed"_a, "The function of such arguments, or None.")
      .def("add", &CallTable::add, "args"_a, "kwargs"_a, "fixed"_a, "function"_a, "most"_a,
           "Keep a function; the oldest ones are removed if there are more than `most`.")
      .def("clear", &CallTable::clear)
      .def("__len__", &CallTable::size);
}

}  // namespace bitale::python
