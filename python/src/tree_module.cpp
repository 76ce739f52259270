// bitale.tree: trees as Python sees them.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "arguments.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "define.hpp"
#include "instance.hpp"
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

// A value, taken apart.
struct Flat {
  Flat(nb::handle value, nb::handle is_leaf) : form(Tree::of(value, leaves, is_leaf)) {}
  Leaves leaves;
  const Tree form;
};

nb::list with_paths(const Flat& flat) {
  nb::list out;
  const std::vector<std::string> paths = flat.form.paths();
  for (std::size_t i = 0; i < paths.size(); ++i) out.append(nb::make_tuple(paths[i], flat.leaves[i]));
  return out;
}

// The function of each leaf, of its path before it if `by_path`, and of the leaves of other values at the same place.
nb::object mapped(const nb::object& function, nb::handle value, const nb::args& rest, nb::handle is_leaf,
                  bool by_path) {
  const Flat flat(value, is_leaf);
  const std::size_t count = flat.leaves.size();
  Leaves others;
  for (std::size_t k = 0; k < rest.size(); ++k) flat.form.leaves_of(rest[k], others, cat("tree.map: argument ", k + 2));
  const std::vector<std::string> paths = by_path ? flat.form.paths() : std::vector<std::string>();
  nb::list results;
  for (std::size_t i = 0; i < count; ++i) {
    nb::list arguments;
    if (by_path) arguments.append(paths[i]);
    arguments.append(flat.leaves[i]);
    for (std::size_t k = 0; k < rest.size(); ++k) arguments.append(others[k * count + i]);
    results.append(function(*arguments));
  }
  return unflattened(flat.form, results);
}

// `initial`: an ellipsis for none.
nb::object reduced(const nb::object& function, nb::handle value, const nb::object& initial, nb::handle is_leaf) {
  const nb::list leaves = list_of(Flat(value, is_leaf).leaves);
  const nb::object reduce = nb::module_::import_("functools").attr("reduce");
  return initial.is(nb::ellipsis()) ? reduce(function, leaves) : reduce(function, leaves, initial);
}

bool are_all(nb::handle value, nb::handle is_leaf) {
  const Flat flat(value, is_leaf);
  for (std::size_t i = 0; i < flat.leaves.size(); ++i)
    if (!nb::bool_(flat.leaves[i])) return false;
  return true;
}

nb::object transposed(const Tree& outer, const Tree& inner, nb::handle value) {
  Leaves values, leaves;
  outer.leaves_of(value, values, "tree.transpose");
  for (std::size_t i = 0; i < values.size(); ++i) inner.leaves_of(values[i], leaves, "tree.transpose: an inner value");
  return inner.build([&](std::size_t column) {
    return outer.build([&](std::size_t row) { return leaves[row * inner.leaf_count() + column]; });
  });
}

// A function of bitale.tree.
template <class F, class... Extra>
void define_tree(nb::module_& m, const char* name, const char* parameters, const char* result, F&& function,
                 const Extra&... extra) {
  const std::string in_module = cat("tree_", name);
  std::string signature = cat("def ", in_module, "(", parameters, ") -> ", result);
  constexpr std::string_view brief = "IsLeaf";
  if (const std::size_t at = signature.find(brief); at != std::string::npos)
    signature.replace(at, brief.size(), "is_leaf: collections.abc.Callable[[typing.Any], bool] | None = None");
  m.def(in_module.c_str(), function, extra..., nb::sig(signature.c_str()));
}

void bind_functions(nb::module_& m) {
  const auto tree = "tree"_a.none();
  const auto is_leaf = "is_leaf"_a.none() = nb::none();
  define_tree(
      m, "flatten", "tree: typing.Any, IsLeaf", "tuple[list[typing.Any], TreeStructure]",
      [](Any value, Any is_leaf) {
        const Flat flat(value, is_leaf);
        return nb::make_tuple(list_of(flat.leaves), nb::cast(flat.form));
      },
      tree, is_leaf,
      R"(>>> bt.tree.flatten({"W": 1.0, "b": (2.0, None)})
([1.0, 2.0], TreeStructure({'W': *, 'b': (*, None)})))");
  define_tree(
      m, "unflatten", "treedef: TreeStructure, leaves: collections.abc.Iterable[typing.Any]", "typing.Any",
      [](const Tree& form, Any leaves) { return unflattened(form, leaves); }, "treedef"_a, "leaves"_a);
  define_tree(
      m, "leaves", "tree: typing.Any, IsLeaf", "list[typing.Any]",
      [](Any value, Any is_leaf) { return list_of(Flat(value, is_leaf).leaves); }, tree, is_leaf);
  define_tree(
      m, "structure", "tree: typing.Any, IsLeaf", "TreeStructure",
      [](Any value, Any is_leaf) { return Flat(value, is_leaf).form; }, tree, is_leaf);
  define_tree(
      m, "map", "f: collections.abc.Callable[..., typing.Any], tree: typing.Any, *rest: typing.Any, IsLeaf",
      "typing.Any", [](Any f, Any value, nb::args rest, Any is_leaf) { return mapped(f, value, rest, is_leaf, false); },
      "f"_a, tree, "rest"_a, is_leaf,
      R"(>>> bt.tree.map(lambda x, dx: x - 0.5 * dx, {"W": 1.0, "b": 2.0}, {"b": 2.0, "W": 4.0})
{'W': -1.0, 'b': 1.0})");
  define_tree(
      m, "flatten_with_path", "tree: typing.Any, IsLeaf", "tuple[list[tuple[str, typing.Any]], TreeStructure]",
      [](Any value, Any is_leaf) {
        const Flat flat(value, is_leaf);
        return nb::make_tuple(with_paths(flat), nb::cast(flat.form));
      },
      tree, is_leaf,
      R"(>>> bt.tree.flatten_with_path({"W": [1.0, 2.0]})[0]
[("['W'][0]", 1.0), ("['W'][1]", 2.0)])");
  define_tree(
      m, "leaves_with_path", "tree: typing.Any, IsLeaf", "list[tuple[str, typing.Any]]",
      [](Any value, Any is_leaf) { return with_paths(Flat(value, is_leaf)); }, tree, is_leaf);
  define_tree(
      m, "map_with_path", "f: collections.abc.Callable[..., typing.Any], tree: typing.Any, *rest: typing.Any, IsLeaf",
      "typing.Any", [](Any f, Any value, nb::args rest, Any is_leaf) { return mapped(f, value, rest, is_leaf, true); },
      "f"_a, tree, "rest"_a, is_leaf);
  define_tree(
      m, "reduce",
      "function: collections.abc.Callable[[typing.Any, typing.Any], typing.Any], tree: typing.Any, initializer: "
      "typing.Any = ..., IsLeaf",
      "typing.Any",
      [](Any function, Any value, Any initial, Any is_leaf) { return reduced(function, value, initial, is_leaf); },
      "function"_a, tree, "initializer"_a.none() = nb::ellipsis(), is_leaf,
      R"(>>> bt.tree.reduce(lambda total, x: total + x, {"W": 1.0, "b": 2.0}, 0.0)
3.0)");
  define_tree(
      m, "all", "tree: typing.Any, *, IsLeaf", "bool", [](Any value, Any is_leaf) { return are_all(value, is_leaf); },
      tree, nb::kw_only(), is_leaf);
  define_tree(
      m, "transpose", "outer_treedef: TreeStructure, inner_treedef: TreeStructure, pytree_to_transpose: typing.Any",
      "typing.Any", [](const Tree& outer, const Tree& inner, Any value) { return transposed(outer, inner, value); },
      "outer_treedef"_a, "inner_treedef"_a, "pytree_to_transpose"_a.none(),
      R"(>>> outer, inner = bt.tree.structure([0, 0]), bt.tree.structure({"W": 0, "b": 0})
>>> bt.tree.transpose(outer, inner, [{"W": 1, "b": 2}, {"W": 3, "b": 4}])
{'W': [1, 3], 'b': [2, 4]})");
}

}  // namespace

void bind_tree(nb::module_& m) {
  bind_structure(m);
  bind_functions(m);
  m.def(
      "register_tree",
      [](Any cls, Any flatten, Any unflatten, Any like, Any joined, Any jacobian, Any described, Any looped,
         Any names) {
        register_tree_class({cls, flatten, unflatten, like, joined, jacobian, described, looped,
                             nb::cast<std::vector<std::string>>(nb::list(nb::object(names)))});
      },
      "cls"_a, "flatten"_a.none(), "unflatten"_a.none(), nb::kw_only(), "like"_a = nb::none(), "joined"_a = nb::none(),
      "jacobian"_a = nb::none(), "described"_a = nb::none(), "looped"_a = nb::none(), "names"_a = nb::make_tuple(),
      nb::sig("def register_tree(cls: type, flatten: collections.abc.Callable[..., typing.Any] | None, unflatten: "
              "collections.abc.Callable[..., typing.Any] | None, *, like: "
              "collections.abc.Callable[..., typing.Any] | None = None, joined: collections.abc.Callable[..., "
              "typing.Any] | None = None, jacobian: collections.abc.Callable[..., typing.Any] | None = None, "
              "described: collections.abc.Callable[..., typing.Any] | None = None, looped: "
              "collections.abc.Callable[..., typing.Any] | None = None, names: "
              "collections.abc.Iterable[str] = ()) -> None"),
      R"(>>> class Line:
...     def __init__(self, slope, start):
...         self.slope, self.start = slope, start
>>> bt.register_tree(Line, lambda x: ((x.slope, x.start), None), lambda _, parts: Line(*parts))
>>> line, x = Line(pt.dscalar("slope"), pt.dscalar("start")), pt.dscalar("x")
>>> f = bt.function([line, x], line.slope * x + line.start)
>>> f(Line(2.0, 1.0), 3.0)
array(7.))");
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
  m.def(
      "tree_in_loop",
      [](Any value, const std::string& use) {
        Leaves leaves;
        const Tree form = Tree::in_loop(value, leaves, nb::str(use.c_str()));
        return nb::make_tuple(list_of(leaves), nb::cast(form));
      },
      "value"_a.none(), "use"_a,
      nb::sig("def tree_in_loop(value: typing.Any, use: str) -> tuple[list[typing.Any], TreeStructure]"),
      "The leaves and the structure of a sequence, a state or a result of a loop, which `use` names.");
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
