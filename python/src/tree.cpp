#include "tree.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

#include "arguments.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "instance.hpp"
#include "numpy_api.hpp"

namespace bitale::python {

namespace {

// ---- classes --------------------------------------------------------------------------------------------------------

struct Registry {
  std::shared_mutex mutex;
  std::unordered_map<PyTypeObject*, std::unique_ptr<const TreeClass>> classes;  // which they keep alive
};

Registry& registry() {  // never destroyed
  static auto& found = *new Registry;
  return found;
}

const TreeClass* tree_class(PyTypeObject* type) {
  Registry& all = registry();
  const std::shared_lock lock(all.mutex);
  const auto found = all.classes.find(type);
  return found == all.classes.end() ? nullptr : found->second.get();
}

// Whether the class is a dataclass that is registered to be a leaf.
bool is_leaf_class(PyTypeObject* type) {
  Registry& all = registry();
  const std::shared_lock lock(all.mutex);
  const auto found = all.classes.find(type);
  return found != all.classes.end() && !found->second;
}

// The children and the aux that a class's function gives; `use`: of a part of a loop, or null.
std::pair<nb::tuple, nb::object> flattened(const TreeClass& cls, nb::handle value, nb::handle use = {}) {
  const nb::object parts = use.is_valid() && !cls.looped.is_none() ? cls.looped(use, value) : cls.flatten(value);
  if (!PyTuple_Check(parts.ptr()) || nb::len(parts) != 2)
    throw TypeError(
        cat("register_tree: flatten of ", shown(cls.cls), ": expected (children, aux), got ", shown(parts)));
  return {nb::tuple(nb::borrow(parts[0])), nb::borrow(parts[1])};
}

nb::tuple children_like(const TreeClass& cls, const nb::object& aux, nb::handle value) {
  if (!cls.like.is_none()) return nb::tuple(nb::object(cls.like(aux, value)));
  if (!value.type().is(cls.cls))
    throw TypeError(
        cat("expected an object of ", nb::cast<std::string>(cls.cls.attr("__name__")), ", got ", shown(value)));
  auto [children, other] = flattened(cls, value);
  if (!aux.equal(other)) throw ValueError(cat("expected an object with the data ", shown(aux), ", got ", shown(other)));
  return children;
}

nb::object fields_of(PyTypeObject* type) {
  nb::object found = nb::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__dataclass_fields__"));
  if (!found) PyErr_Clear();
  return found && is_leaf_class(type) ? nb::object() : found;
}

// (class, names of the fields with children, names of static fields, values of these), of an instance.
nb::tuple dataclass_data(nb::handle value, nb::handle fields) {
  nb::list own, fixed, values;
  const nb::object pseudo = nb::module_::import_("dataclasses").attr("_FIELD");
  for (nb::handle field : fields.attr("values")()) {
    if (!field.attr("_field_type").is(pseudo)) continue;  // a ClassVar
    const nb::object name = field.attr("name");
    const nb::object is_static = field.attr("metadata").attr("get")("static", false);
    const int truth = PyObject_IsTrue(is_static.ptr());
    if (truth < 0) nb::raise_python_error();
    if (truth) {
      fixed.append(name);
      values.append(nb::getattr(value, name));
    } else {
      own.append(name);
    }
  }
  return nb::make_tuple(value.type(), nb::tuple(own), nb::tuple(fixed), nb::tuple(values));
}

// Kinds of values that are looked at in each call, and of which none is registered.
bool is_plain_leaf(nb::handle value) {
  PyObject* p = value.ptr();
  return PyArray_CheckExact(p) || PyFloat_CheckExact(p) || PyLong_CheckExact(p) || PyUnicode_CheckExact(p);
}

bool is_named_tuple(nb::handle value) {
  return !PyTuple_CheckExact(value.ptr()) && PyObject_HasAttrString(value.ptr(), "_fields") == 1;
}

// An error of Python's with a path before its message.
[[noreturn]] void rethrow_at(nb::python_error& error, const std::string& path) {
  if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError)) throw error;
  const std::string message = cat(path, ": ", nb::cast<std::string>(nb::str(error.value())));
  if (error.matches(PyExc_TypeError)) throw TypeError(message);
  throw ValueError(message);
}

std::string names_of(nb::handle keys) {
  std::vector<std::string> out;
  for (nb::handle key : nb::borrow<nb::tuple>(keys)) out.push_back(shown(key));
  return join(out, ", ");
}

}  // namespace

void register_tree_class(TreeClass cls) {
  if (!PyType_Check(cls.cls.ptr())) throw TypeError(cat("register_tree: expected a class, got ", shown(cls.cls)));
  const bool is_leaf = cls.flatten.is_none() && cls.unflatten.is_none();
  for (nb::handle function : {cls.flatten, cls.unflatten})
    if (!is_leaf && !PyCallable_Check(function.ptr()))
      throw TypeError(cat("register_tree: expected functions flatten and unflatten, got ", shown(function)));
  auto* type = reinterpret_cast<PyTypeObject*>(cls.cls.ptr());
  cls.cls.inc_ref();  // the table keeps it alive
  auto made = is_leaf ? nullptr : std::make_unique<const TreeClass>(std::move(cls));
  Registry& all = registry();
  const std::unique_lock lock(all.mutex);
  if (all.classes.contains(type)) throw ValueError(cat("register_tree: ", type->tp_name, " is registered already"));
  all.classes.emplace(type, std::move(made));
}

const TreeClass* tree_class_of(nb::handle object) { return tree_class(Py_TYPE(object.ptr())); }

bool is_tree(nb::handle object) {
  PyObject* p = object.ptr();
  if (PyList_Check(p) || PyTuple_Check(p) || PyDict_Check(p)) return true;
  if (object.is_none() || is_plain_leaf(object) || is_variable(object) || PyType_Check(p)) return false;
  return tree_class_of(object) || fields_of(Py_TYPE(p)).is_valid();
}

void Leaves::remove(std::size_t i) {
  Py_XDECREF(objects_[i]);
  for (std::size_t k = i + 1; k < objects_.size(); ++k) objects_[k - 1] = objects_[k];
  objects_.resize(objects_.size() - 1);
}

namespace {

// The values of a dict's keys in a known order, which are found without a search while it is also the dict's own.
class DictWalk {
 public:
  DictWalk(PyObject* dict, const nb::object& keys) : dict_(dict), keys_(keys.ptr()) {}
  bool next() {
    if (++at_ == PyTuple_GET_SIZE(keys_)) return false;
    PyObject *key = nullptr, *expected = PyTuple_GET_ITEM(keys_, at_);
    if (PyDict_Next(dict_, &position_, &key, &value_) && key == expected) return true;
    value_ = PyDict_GetItemWithError(dict_, expected);
    if (!value_ && PyErr_Occurred()) nb::raise_python_error();
    return true;
  }
  std::size_t at() const { return std::size_t(at_); }
  PyObject* value() const { return value_; }  // borrowed; null if there is no such key

 private:
  PyObject *dict_, *keys_, *value_ = nullptr;
  Py_ssize_t at_ = -1, position_ = 0;
};

// Whether both have the same elements; an error of a comparison is thrown.
bool are_equal(nb::handle a, nb::handle b) {
  const int same = PyObject_RichCompareBool(a.ptr(), b.ptr(), Py_EQ);
  if (same < 0) nb::raise_python_error();
  return same > 0;
}

}  // namespace

// ---- structures -----------------------------------------------------------------------------------------------------

struct Tree::Path {
  const Path* before;
  const Tree* tree;
  const Node* node;  // of which the child is one
  std::size_t child;
  std::string_view where;  // of the first

  std::string str() const {
    return before ? cat(before->str(), node ? tree->step(*node, child) : std::string()) : std::string(where);
  }
};

Tree::Tree() {
  static const auto& leaf = *new std::shared_ptr<const std::vector<Node>>(std::make_shared<std::vector<Node>>(1));
  nodes_ = leaf;
}

struct Tree::Walk {
  nb::handle is_leaf = {};
  Stop stop = Stop::AtLeaves;
  nb::handle use = {};  // of parts of a loop
};

Tree Tree::of(nb::handle value, Leaves& leaves, nb::handle is_leaf, Stop stop) {
  return of(value, leaves, Walk{.is_leaf = is_leaf, .stop = stop});
}

Tree Tree::in_loop(nb::handle value, Leaves& leaves, nb::handle use) { return of(value, leaves, Walk{.use = use}); }

Tree Tree::of(nb::handle value, Leaves& leaves, const Walk& walk) {
  std::vector<Node> out;
  out.reserve(16);
  add(value, leaves, walk, out);
  return out.size() == 1 && out[0].kind == Kind::Leaf ? Tree() : Tree(std::move(out));
}

void Tree::add(nb::handle value, Leaves& leaves, const Walk& walk, std::vector<Node>& out) {
  if (is_plain_leaf(value)) {
    out.emplace_back();
    return leaves.add(value);
  }
  const NestedList level;
  PyObject* p = value.ptr();
  const std::size_t at = out.size(), before = leaves.size();
  out.emplace_back();
  const auto with_children = [&](Kind kind, nb::object data, nb::handle children) {
    out[at].kind = kind;
    out[at].data = std::move(data);
    for (nb::handle child : children) {
      ++out[at].arity;
      if (child.is(value) && kind == Kind::Registered) {
        out.emplace_back();
        leaves.add(child);
      } else {
        add(child, leaves, walk, out);
      }
    }
    out[at].size = std::uint32_t(out.size() - at);
    out[at].leaves = std::uint32_t(leaves.size() - before);
  };
  if (walk.is_leaf.is_valid() && !walk.is_leaf.is_none()) {
    const nb::object answer = walk.is_leaf(value);
    const int truth = PyObject_IsTrue(answer.ptr());
    if (truth < 0) nb::raise_python_error();
    if (truth) return leaves.add(value);
  }
  if (value.is_none()) {
    out[at].kind = Kind::None;
    out[at].leaves = 0;
    return;
  }
  if (is_variable(value)) return leaves.add(value);
  if (const TreeClass* cls = tree_class_of(value)) {
    if (walk.stop == Stop::AtRegistered) return leaves.add(value);
    auto [children, aux] = flattened(*cls, value, walk.use);
    out[at].cls = cls;
    return with_children(Kind::Registered, std::move(aux), children);
  }
  // The children are held as long as one walks, since a class's function may change a list.
  if (PyList_Check(p)) return with_children(Kind::List, {}, nb::steal(PyList_AsTuple(p)));
  if (PyTuple_Check(p)) {
    if (is_named_tuple(value)) return with_children(Kind::NamedTuple, nb::borrow(value.type()), value);
    return with_children(Kind::Tuple, {}, value);
  }
  if (PyDict_Check(p)) {
    const nb::object keys = nb::steal(PyDict_Keys(p)), values = nb::steal(PyDict_Values(p));
    return with_children(Kind::Dict, nb::tuple(keys), values);
  }
  if (!PyType_Check(p))
    if (const nb::object fields = fields_of(Py_TYPE(p))) {
      const nb::tuple data = dataclass_data(value, fields);
      nb::list children;
      for (nb::handle name : nb::borrow<nb::tuple>(data[1])) children.append(nb::getattr(value, name));
      return with_children(Kind::Dataclass, data, children);
    }
  leaves.add(value);
}

Tree Tree::tuple_of(std::span<const Tree> children) {
  std::vector<Node> out(1);
  out[0].kind = Kind::Tuple;
  out[0].arity = std::uint32_t(children.size());
  out[0].leaves = 0;
  for (const Tree& child : children) {
    out[0].leaves += std::uint32_t(child.leaf_count());
    out.insert(out.end(), child.nodes().begin(), child.nodes().end());
  }
  out[0].size = std::uint32_t(out.size());
  return Tree(std::move(out));
}

std::vector<Tree> Tree::children() const {
  std::vector<Tree> out;
  for (std::size_t at = 1, i = 0; i < nodes()[0].arity; ++i, at += nodes()[at].size) {
    const auto begin = nodes().begin() + std::ptrdiff_t(at);
    out.push_back(nodes()[at].kind == Kind::Leaf ? Tree() : Tree(std::vector<Node>(begin, begin + nodes()[at].size)));
  }
  return out;
}

nb::object Tree::keys() const {
  const Node& node = nodes()[0];
  if (node.kind == Kind::Dict) return node.data;
  return node.kind == Kind::Dataclass ? nb::object(node.data[1]) : nb::none();
}

std::vector<bool> Tree::are_in_registered() const {
  std::vector<bool> out;
  std::size_t end = 0;  // of the registered object that one is in
  for (std::size_t at = 0; at < nodes().size(); ++at) {
    if (nodes()[at].kind == Kind::Registered) end = std::max(end, at + nodes()[at].size);
    if (nodes()[at].kind == Kind::Leaf) out.push_back(at < end);
  }
  return out;
}

Tree Tree::grafted(std::span<const Tree> at_leaves) const {
  std::vector<Node> out;
  // Counts of a node are known at its end.
  struct Open {
    std::size_t at, end;  // its own position here and the end of its nodes in this tree
  };
  std::vector<Open> open;
  std::size_t leaf = 0, leaves = 0;
  std::vector<std::size_t> before;
  const auto close = [&](std::size_t end) {
    while (!open.empty() && open.back().end == end) {
      out[open.back().at].size = std::uint32_t(out.size() - open.back().at);
      out[open.back().at].leaves = std::uint32_t(leaves - before.back());
      open.pop_back();
      before.pop_back();
    }
  };
  for (std::size_t at = 0; at < nodes().size(); ++at) {
    if (nodes()[at].kind == Kind::Leaf) {
      const Tree& tree = at_leaves[leaf++];
      out.insert(out.end(), tree.nodes().begin(), tree.nodes().end());
      leaves += tree.leaf_count();
    } else {
      open.push_back({out.size(), at + nodes()[at].size});
      before.push_back(leaves);
      out.push_back(nodes()[at]);
    }
    close(at + 1);
  }
  return Tree(std::move(out));
}

// ---- values ---------------------------------------------------------------------------------------------------------

std::string Tree::step(const Node& node, std::size_t child) const {
  switch (node.kind) {
    case Kind::Dict: return cat("[", shown(node.data[child]), "]");
    case Kind::Dataclass: return cat(".", nb::cast<std::string>(nb::object(node.data[1][child])));
    case Kind::NamedTuple: {
      const nb::object fields = nb::getattr(node.data, "_fields");
      return cat(".", nb::cast<std::string>(nb::object(fields[child])));
    }
    case Kind::Registered:
      if (child < node.cls->names.size()) return cat(".", node.cls->names[child]);
      return cat("[", child, "]");
    default: return cat("[", child, "]");
  }
}

void Tree::refuse_keys(const Node& node, nb::handle given, const Path& path) const {
  std::vector<std::string> known, texts;
  for (nb::handle key : nb::borrow<nb::tuple>(node.data)) {
    known.push_back(shown(key));
    texts.emplace_back(nb::str(key).c_str());
  }
  for (auto [key, value] : nb::borrow<nb::dict>(given)) {
    if (PySequence_Contains(node.data.ptr(), key.ptr()) == 1) continue;
    const std::string near = closest(nb::str(key).c_str(), texts);
    throw ValueError(cat(path.str(), ": there is no key ", shown(key), " among ", join(known, ", "),
                         near.empty() ? "" : cat("; did you mean '", near, "'?")));
  }
  std::vector<std::string> missing;
  for (nb::handle key : nb::borrow<nb::tuple>(node.data))
    if (PyDict_Contains(given.ptr(), key.ptr()) != 1) missing.push_back(shown(key));
  throw ValueError(cat(path.str(), ": the key ", join(missing, ", "), " is missing"));
}

void Tree::leaves_of(nb::handle value, Leaves& leaves, std::string_view where) const {
  if (is_leaf()) return leaves.add(value);
  const Path root{nullptr, this, nullptr, 0, where};
  leaves_at(0, value, leaves, root);
}

void Tree::leaves_at(std::size_t at, nb::handle value, Leaves& leaves, const Path& path) const {
  const Node& node = nodes()[at];
  PyObject* p = value.ptr();
  std::size_t child_at = at + 1;
  const auto child = [&](std::size_t i, nb::handle object) {
    const Node& own = nodes()[child_at];
    if (own.kind == Kind::Leaf) {
      leaves.add(object);
    } else {
      const nb::object held = nb::borrow(object);  // a class's function may change the container
      leaves_at(child_at, held, leaves, Path{&path, this, &node, i, {}});
    }
    child_at += own.size;
  };
  const auto each_of = [&](nb::handle children) {
    const auto count = std::size_t(nb::len(children));
    if (count != node.arity) throw ValueError(cat(path.str(), ": expected ", node.arity, " values, got ", count));
    for (std::size_t i = 0; i < count; ++i) child(i, PyTuple_GET_ITEM(children.ptr(), Py_ssize_t(i)));
  };
  switch (node.kind) {
    case Kind::Leaf: leaves.add(value); return;
    case Kind::None:
      if (!value.is_none()) throw ValueError(cat(path.str(), ": expected None, got ", shown(value)));
      return;
    case Kind::NamedTuple:
      if (!PyObject_TypeCheck(p, reinterpret_cast<PyTypeObject*>(node.data.ptr())))
        throw TypeError(cat(path.str(), ": expected a ", nb::cast<std::string>(node.data.attr("__name__")), ", got ",
                            shown(value)));
      return each_of(value);
    case Kind::List:
    case Kind::Tuple:
      if (PyTuple_Check(p)) return each_of(value);
      if (PyList_Check(p)) return each_of(nb::steal(PyList_AsTuple(p)));
      throw TypeError(cat(path.str(), ": expected a ", node.kind == Kind::List ? "list" : "tuple", " of ", node.arity,
                          " values, got ", shown(value)));
    case Kind::Dict:
      if (!PyDict_Check(p))
        throw TypeError(
            cat(path.str(), ": expected a dict with the keys ", names_of(node.data), ", got ", shown(value)));
      if (std::size_t(PyDict_Size(p)) != node.arity) refuse_keys(node, value, path);
      for (DictWalk walk(p, node.data); walk.next();) {
        PyObject* found = walk.value();
        if (!found) refuse_keys(node, value, path);
        child(walk.at(), found);
      }
      return;
    case Kind::Dataclass: {
      if (!value.type().is(node.data[0]))
        throw TypeError(cat(path.str(), ": expected a ", nb::cast<std::string>(node.data[0].attr("__name__")), ", got ",
                            shown(value)));
      const nb::object fields = node.data[1], fixed = node.data[2], values = node.data[3];
      for (std::size_t i = 0; i < nb::len(fixed); ++i)
        if (const nb::object own = nb::getattr(value, fixed[i]); !own.equal(values[i]))
          throw ValueError(cat(path.str(), ".", nb::cast<std::string>(nb::object(fixed[i])), ": expected ",
                               shown(nb::object(values[i])), ", which is static, got ", shown(own)));
      for (std::size_t i = 0; i < node.arity; ++i) child(i, nb::object(nb::getattr(value, fields[i])));
      return;
    }
    case Kind::Registered: {
      nb::tuple children;
      try {
        children = children_like(*node.cls, node.data, value);
      } catch (nb::python_error& error) {
        rethrow_at(error, path.str());
      } catch (const TypeError& error) {
        throw TypeError(cat(path.str(), ": ", error.what()));
      } catch (const ValueError& error) {
        throw ValueError(cat(path.str(), ": ", error.what()));
      }
      return each_of(children);
    }
  }
}

bool Tree::match_at(std::size_t at, nb::handle value, Leaves& leaves) const {
  const Node& node = nodes()[at];
  PyObject* p = value.ptr();
  std::size_t child_at = at + 1;
  const auto child = [&](nb::handle object) {
    const Node& own = nodes()[child_at];
    bool fits = true;
    if (own.kind == Kind::Leaf) {
      leaves.add(object);
    } else {
      const nb::object held = nb::borrow(object);
      fits = match_at(child_at, held, leaves);
    }
    child_at += own.size;
    return fits;
  };
  const auto each_of = [&](nb::handle children) {  // a list or a tuple
    if (std::size_t(Py_SIZE(children.ptr())) != node.arity) return false;
    for (std::size_t i = 0; i < node.arity; ++i) {
      if (std::size_t(Py_SIZE(children.ptr())) <= i) return false;
      if (!child(PySequence_Fast_GET_ITEM(children.ptr(), Py_ssize_t(i)))) return false;
    }
    return true;
  };
  switch (node.kind) {
    case Kind::Leaf: leaves.add(value); return true;
    case Kind::None: return value.is_none();
    case Kind::NamedTuple: return value.type().is(node.data) && each_of(value);
    case Kind::List: return PyList_Check(p) && !tree_class_of(value) && each_of(value);
    case Kind::Tuple: return PyTuple_Check(p) && (PyTuple_CheckExact(p) || !is_named_tuple(value)) && each_of(value);
    case Kind::Dict: {
      if (!PyDict_Check(p) || std::size_t(PyDict_Size(p)) != node.arity) return false;
      Py_ssize_t position = 0;
      PyObject *key = nullptr, *found = nullptr;
      for (std::size_t i = 0; i < node.arity; ++i) {  // in the same order
        PyObject* expected = PyTuple_GET_ITEM(node.data.ptr(), Py_ssize_t(i));
        if (!PyDict_Next(p, &position, &key, &found) || (key != expected && !are_equal(key, expected))) return false;
        if (!child(found)) return false;
      }
      return true;
    }
    case Kind::Dataclass: {
      if (!value.type().is(node.data[0])) return false;
      const nb::object fields = node.data[1], fixed = node.data[2], values = node.data[3];
      for (std::size_t i = 0; i < nb::len(fixed); ++i)
        if (!are_equal(nb::getattr(value, fixed[i]), nb::object(values[i]))) return false;
      for (std::size_t i = 0; i < node.arity; ++i)
        if (!child(nb::object(nb::getattr(value, fields[i])))) return false;
      return true;
    }
    case Kind::Registered: {
      if (tree_class_of(value) != node.cls) return false;
      const auto [children, aux] = flattened(*node.cls, value);
      return are_equal(node.data, aux) && each_of(children);
    }
  }
  return false;
}

nb::object Tree::assemble(const Node& node, std::span<nb::object> children) {
  nb::list list;
  for (nb::object& child : children) list.append(child);
  if (node.kind == Kind::NamedTuple) return node.data(*list);
  if (node.kind == Kind::Registered) return node.cls->unflatten(node.data, nb::tuple(list));
  // A dataclass: neither its __init__ nor its __post_init__ has to know what its fields may be.
  const nb::object base = nb::borrow(reinterpret_cast<PyObject*>(&PyBaseObject_Type));
  const nb::object out = base.attr("__new__")(node.data[0]);
  const nb::object set = base.attr("__setattr__");
  for (std::size_t i = 0; i < children.size(); ++i) set(out, node.data[1][i], children[i]);
  const nb::tuple fixed = node.data[2];
  for (std::size_t i = 0; i < fixed.size(); ++i) set(out, fixed[i], node.data[3][i]);
  return out;
}

std::vector<std::string> Tree::paths(std::string_view where) const {
  std::vector<std::string> out;
  struct Open {
    std::size_t at, child, end;
    std::string path;
  };
  std::vector<Open> open;
  for (std::size_t at = 0; at < nodes().size(); ++at) {
    const Node& node = nodes()[at];
    std::string path(where);
    if (!open.empty()) path = cat(open.back().path, step(nodes()[open.back().at], open.back().child++));
    if (node.kind == Kind::Leaf) out.push_back(path);
    if (node.arity > 0) open.push_back({at, 0, at + node.size, std::move(path)});
    while (!open.empty() && open.back().end == at + 1) open.pop_back();
  }
  return out;
}

// ---- comparison -----------------------------------------------------------------------------------------------------

bool Tree::equal_at(std::size_t at, const Tree& other, std::size_t other_at) const {
  const Node &a = nodes()[at], &b = other.nodes()[other_at];
  if (a.kind != b.kind || a.arity != b.arity || a.size != b.size || a.leaves != b.leaves || a.cls != b.cls)
    return false;
  if (a.kind == Kind::Dict && !(is_ordered_ && other.is_ordered_)) {
    std::vector<std::size_t> begins;
    for (std::size_t i = 0, child = other_at + 1; i < b.arity; ++i, child += other.nodes()[child].size)
      begins.push_back(child);
    for (std::size_t i = 0, child = at + 1; i < a.arity; ++i, child += nodes()[child].size) {
      const Py_ssize_t found = PySequence_Index(b.data.ptr(), PyTuple_GET_ITEM(a.data.ptr(), Py_ssize_t(i)));
      if (found < 0) {
        PyErr_Clear();
        return false;
      }
      if (!equal_at(child, other, begins[std::size_t(found)])) return false;
    }
    return true;
  }
  if (a.data.is_valid() && !a.data.is(b.data) && !a.data.equal(b.data)) return false;
  for (std::size_t i = 0, child = at + 1, other_child = other_at + 1; i < a.arity; ++i) {
    if (!equal_at(child, other, other_child)) return false;
    child += nodes()[child].size;
    other_child += other.nodes()[other_child].size;
  }
  return true;
}

std::size_t Tree::hash_at(std::size_t at) const {
  const Node& node = nodes()[at];
  const auto of_object = [](nb::handle object) {
    const Py_hash_t found = PyObject_Hash(object.ptr());
    if (found == -1) nb::raise_python_error();
    return std::size_t(found);
  };
  constexpr std::size_t factor = 0x9E3779B97F4A7C15u;
  std::size_t out = (std::size_t(node.kind) + 1) * factor + node.arity;
  if (node.kind == Kind::Dict) {  // in any order
    for (std::size_t i = 0, child = at + 1; i < node.arity; ++i, child += nodes()[child].size)
      out += (of_object(PyTuple_GET_ITEM(node.data.ptr(), Py_ssize_t(i))) ^ hash_at(child) * factor) * factor;
    return out;
  }
  if (node.data.is_valid()) out ^= of_object(node.data);
  for (std::size_t i = 0, child = at + 1; i < node.arity; ++i, child += nodes()[child].size)
    out = (out ^ out >> 29 ^ hash_at(child)) * factor;
  return out;
}

void Tree::write(std::size_t at, std::string& out) const {
  const Node& node = nodes()[at];
  std::size_t child = at + 1;
  const auto each = [&](auto&& label) {
    for (std::size_t i = 0; i < node.arity; ++i, child += nodes()[child].size) {
      out += cat(i ? ", " : "", label(i));
      write(child, out);
    }
  };
  const auto plain = [](std::size_t) { return std::string(); };
  switch (node.kind) {
    case Kind::Leaf: out += "*"; return;
    case Kind::None: out += "None"; return;
    case Kind::List:
      out += "[";
      each(plain);
      out += "]";
      return;
    case Kind::Tuple:
      out += "(";
      each(plain);
      out += node.arity == 1 ? ",)" : ")";
      return;
    case Kind::Dict:
      out += "{";
      each([&](std::size_t i) { return cat(shown(node.data[i]), ": "); });
      out += "}";
      return;
    case Kind::NamedTuple:
    case Kind::Dataclass: {
      const nb::object cls = node.kind == Kind::Dataclass ? nb::object(node.data[0]) : node.data;
      out += cat(nb::cast<std::string>(cls.attr("__name__")), "(");
      each([&](std::size_t i) { return cat(step(node, i).substr(1), "="); });
      out += ")";
      return;
    }
    case Kind::Registered:
      out += cat(nb::cast<std::string>(node.cls->cls.attr("__name__")), "(");
      each(plain);
      out += ")";
      return;
  }
}

std::string Tree::str() const {
  std::string out;
  write(0, out);
  return out;
}

std::vector<std::pair<nb::object, nb::object>> leaf_pairs(const std::vector<std::pair<nb::object, nb::object>>& pairs,
                                                          std::string_view what) {
  std::vector<std::pair<nb::object, nb::object>> out;
  for (auto& [before, after] : pairs) {
    if (!is_tree(before)) {
      if (tree_class_of(after))
        throw TypeError(cat(what, ": expected a tensor in place of ", shown(before), ", got ", shown(after)));
      out.emplace_back(before, after);
      continue;
    }
    Leaves from, to;
    Tree::of(before, from).leaves_of(after, to, cat(what, ": ", shown(before)));
    for (std::size_t i = 0; i < from.size(); ++i) out.emplace_back(from[i], to[i]);
  }
  return out;
}

}  // namespace bitale::python
