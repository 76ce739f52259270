// bitale.tree: trees as Python sees them, and the leaves of the arguments of a call.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "arguments.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "define.hpp"
#include "instance.hpp"
#include "numpy_api.hpp"
#include "tree.hpp"

namespace bitale::python {

namespace {

nb::list list_of(const Leaves& leaves) {
  nb::list out;
  for (std::size_t i = 0; i < leaves.size(); ++i) out.append(leaves[i]);
  return out;
}

nb::object unflattened(const Tree& tree, nb::handle given) {
  const nb::list leaves(nb::borrow(given));
  if (nb::len(leaves) != tree.leaf_count())
    throw ValueError(
        cat("tree.unflatten: expected ", tree.leaf_count(), " leaves for ", tree.str(), ", got ", nb::len(leaves)));
  return tree.build([&](std::size_t i) { return nb::object(leaves[i]); });
}

// What a compiled function depends on: NumPy's number of the dtype, and for each dimension whether its length is 1.
void append_kind(std::string& out, nb::handle leaf) {
  PyObject* p = leaf.ptr();
  if (PyArray_Check(p)) {
    auto* array = reinterpret_cast<PyArrayObject*>(p);
    out += char(PyArray_TYPE(array));
    for (int axis = 0; axis < PyArray_NDIM(array); ++axis) out += PyArray_DIM(array, axis) == 1 ? '1' : 'n';
  } else if (PyBool_Check(p)) {
    out += char(NPY_BOOL);
  } else if (PyLong_Check(p)) {
    int overflow = 0;
    PyLong_AsLongLongAndOverflow(p, &overflow);
    out += char(overflow ? NPY_UINT64 : NPY_INT64);
  } else if (PyFloat_Check(p)) {  // of NumPy, too
    out += char(NPY_FLOAT64);
  } else {
    out += cat("(", Py_TYPE(p)->tp_name);
    if (nb::hasattr(leaf, "dtype") && nb::hasattr(leaf, "shape")) {
      out += shown(leaf.attr("dtype"));
      for (nb::handle length : nb::borrow<nb::sequence>(leaf.attr("shape")))
        out += PyLong_Check(length.ptr()) && PyLong_AsLong(length.ptr()) == 1 ? '1' : 'n';
    }
    out += ')';
  }
  out += ',';
}

nb::object call_signature(nb::handle args, nb::handle kwargs) {
  Leaves leaves;
  const Tree parts[] = {Tree::of(args, leaves), Tree::of(kwargs, leaves)};
  std::string kinds;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (is_variable(leaves[i])) return nb::make_tuple(list_of(leaves), nb::none(), nb::none());
    append_kind(kinds, leaves[i]);
  }
  return nb::make_tuple(list_of(leaves), nb::cast(Tree::tuple_of(parts).in_order()),
                        nb::bytes(kinds.data(), kinds.size()));
}

void bind_structure(nb::module_& m) {
  nb::class_<Tree>(m, "TreeStructure",
                   "The structure of a value that is made of others, without its leaves; bitale.tree.structure gives "
                   "it. Equal structures have the same containers, keys (in any order) and data of registered classes.")
      .def_prop_ro("num_leaves", &Tree::leaf_count, "Number of leaves.")
      .def_prop_ro("num_nodes", &Tree::node_count, "Number of leaves, containers and None.")
      .def("children", &Tree::children, "The structures of what the outermost container has.")
      .def(
          "unflatten", [](const Tree& self, Any leaves) { return unflattened(self, leaves); }, "leaves"_a,
          nb::sig("def unflatten(self, leaves: collections.abc.Iterable[typing.Any], /) -> typing.Any"),
          "The value with these leaves.")
      .def(
          "flatten_like",
          [](const Tree& self, Any value, const std::string& where) {
            Leaves leaves;
            self.leaves_of(value, leaves, where);
            return list_of(leaves);
          },
          "value"_a.none(), "where"_a = "tree",
          nb::sig("def flatten_like(self, value: typing.Any, where: str = \"tree\") -> list[typing.Any]"),
          "The leaves of another value, in this structure's order.\n\nTypeError or ValueError for a value of another "
          "structure, which begins with `where` and the path of the part that does not fit.")
      .def(
          "paths", [](const Tree& self, const std::string& where) { return self.paths(where); }, "where"_a = "",
          "The path of each leaf, such as [\"layer1\"][\"W\"].")
      .def(
          "__eq__",
          [](const Tree& self, nb::handle other) -> nb::object {
            const Tree* tree = instance_of<Tree>(other);
            return tree ? nb::object(nb::bool_(self.equals(*tree))) : nb::borrow(Py_NotImplemented);
          },
          nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", &Tree::hash)
      .def("__repr__", [](const Tree& self) { return cat("TreeStructure(", self.str(), ")"); });
}

}  // namespace

void bind_tree(nb::module_& m) {
  bind_structure(m);
  m.def(
      "register_tree",
      [](Any cls, Any flatten, Any unflatten, Any like, Any joined, Any jacobian, Any described,
         const std::vector<std::string>& names) {
        register_tree_class({cls, flatten, unflatten, like, joined, jacobian, described, names});
      },
      "cls"_a, "flatten"_a.none(), "unflatten"_a.none(), nb::kw_only(), "like"_a = nb::none(), "joined"_a = nb::none(),
      "jacobian"_a = nb::none(), "described"_a = nb::none(), "names"_a = std::vector<std::string>(),
      nb::sig("def register_tree(cls: type, flatten: collections.abc.Callable[..., typing.Any] | None, unflatten: "
              "collections.abc.Callable[..., typing.Any] | None, *, like: "
              "collections.abc.Callable[..., typing.Any] | None = None, joined: collections.abc.Callable[..., "
              "typing.Any] | None = None, jacobian: collections.abc.Callable[..., typing.Any] | None = None, "
              "described: collections.abc.Callable[..., typing.Any] | None = None, names: "
              "collections.abc.Sequence[str] = ()) -> None"));
  m.def(
      "tree_flatten",
      [](Any value, Any is_leaf) {
        Leaves leaves;
        const Tree tree = Tree::of(value, leaves, is_leaf);
        return nb::make_tuple(list_of(leaves), nb::cast(tree));
      },
      "value"_a.none(), "is_leaf"_a = nb::none(),
      nb::sig("def tree_flatten(value: typing.Any, is_leaf: collections.abc.Callable[[typing.Any], bool] | None = "
              "None) -> tuple[list[typing.Any], TreeStructure]"));
  m.def(
      "registered_in",
      [](Any value) {
        Leaves leaves;
        Tree::of(value, leaves, {}, Tree::Stop::AtRegistered);
        nb::list out;
        for (std::size_t i = 0; i < leaves.size(); ++i)
          if (tree_class_of(leaves[i])) out.append(leaves[i]);
        return out;
      },
      "value"_a.none(), nb::sig("def registered_in(value: typing.Any) -> list[typing.Any]"),
      "The objects of registered classes in a value.");
  m.def("call_signature", call_signature, "args"_a, "kwargs"_a,
        nb::sig("def call_signature(args: tuple[typing.Any, ...], kwargs: dict[str, typing.Any]) -> tuple[typing.Any, "
                "typing.Any, typing.Any]"),
        "The leaves of the arguments of a call, their structure, and bytes that tell dtypes, ranks and lengths of 1; "
        "None "
        "in place of both where a leaf is a variable.");
  m.def(
      "is_registered", [](Any value) { return tree_class_of(value) != nullptr; }, "value"_a.none(),
      "Whether the object's class is registered.");
  m.def(
      "tree_joined",
      [](Any a, Any b) {
        const TreeClass* cls = tree_class_of(a);
        if (!cls)
          throw TypeError(cat("expected two objects of one class or two tensors, got ", shown(a), " and ", shown(b)));
        if (!cls->joined.is_none()) return nb::tuple(nb::object(cls->joined(a, b)));
        Leaves leaves, others;
        const Tree form = Tree::of(a, leaves);
        form.leaves_of(b, others, "other");
        return nb::make_tuple(list_of(leaves), list_of(others), nb::cast(form));
      },
      "a"_a, "b"_a,
      nb::sig("def tree_joined(a: typing.Any, b: typing.Any) -> tuple[typing.Any, typing.Any, typing.Any]"),
      "The children of two objects between which a condition chooses, and what the chosen one is besides.");
  m.def(
      "tree_chosen",
      [](Any a, Any aux, Any children) {
        const TreeClass* cls = tree_class_of(a);
        const Tree* form = instance_of<Tree>(aux);
        if (form) return unflattened(*form, children);
        return nb::object(cls->unflatten(aux, nb::tuple(children)));
      },
      "a"_a, "aux"_a, "children"_a,
      nb::sig("def tree_chosen(a: typing.Any, aux: typing.Any, children: typing.Any) -> typing.Any"),
      "The object of a's class that was chosen.");
  m.def(
      "is_tree", [](Any value) { return is_tree(value); }, "value"_a.none(),
      "Whether it is a container, a dataclass or an object of a registered class.");
}

}  // namespace bitale::python
