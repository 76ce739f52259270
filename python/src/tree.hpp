// Values that are made of others: lists, tuples, dicts, dataclasses, None, and objects of registered classes. A Tree is
// the structure of one, without its leaves: it takes values of the same structure apart and puts them together.
// Whatever takes or returns variables walks them by this, so that none knows a class of them.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bitale/core/small_vector.hpp"

namespace bitale::python {

namespace nb = nanobind;

// How objects of a class are taken apart, as Python gives it. `flatten(object) -> (children, aux)` and
// `unflatten(aux, children)`; the others may be None:
struct TreeClass {
  nb::object cls, flatten, unflatten;
  // like(aux, value) -> children: those of a value that may stand where such an object is expected, which need not be
  // of the class. Default: an object of the class with equal aux.
  nb::object like;
  // joined(object, other) -> (children, other children, aux): of two objects of which one is chosen by a condition.
  nb::object joined;
  // jacobian(of, by, derivative): the derivative of an expression by all elements of a child, with what the class adds.
  nb::object jacobian;
  // described(aux, value) -> str: what to say of a value that was given, where the call that it was given to fails.
  nb::object described;
  // looped(use, object) -> (children, aux): as flatten, of a "sequence", a "state" or a "result" of a loop. Elements of
  // a sequence, states and all values of a result are put together again by this aux. An object that is its own only
  // child is handled by the builder of loops. Default: the children have a first axis in addition.
  nb::object looped;
  std::vector<std::string> names;  // of children, for messages; none: their numbers
};

// References to objects, which it holds. A null one is the leaf that a call leaves out.
class Leaves {
 public:
  Leaves() = default;
  Leaves(Leaves&& other) noexcept : objects_(other.objects_) { other.objects_.clear(); }
  Leaves& operator=(Leaves&&) = delete;
  ~Leaves() {
    for (PyObject* object : objects_) Py_XDECREF(object);
  }
  void add(nb::handle object) {
    Py_INCREF(object.ptr());
    objects_.push_back(object.ptr());
  }
  void reserve(std::size_t count) { objects_.reserve(count); }
  void add_missing() { objects_.push_back(nullptr); }
  void swap(Leaves& other) { std::swap(objects_, other.objects_); }
  std::size_t size() const { return objects_.size(); }
  nb::object operator[](std::size_t i) const { return nb::borrow(objects_[i]); }
  std::span<PyObject* const> span() const { return {objects_.data(), objects_.size()}; }
  void remove(std::size_t i);

 private:
  SmallVector<PyObject*, 16> objects_;
};

class Tree {
 public:
  enum class Kind : std::uint8_t { Leaf, None, List, Tuple, NamedTuple, Dict, Dataclass, Registered };
  enum class Stop : std::uint8_t { AtLeaves, AtRegistered };  // whether objects of registered classes are leaves

  Tree();  // of a leaf
  // Takes a value apart. `is_leaf`: a callable that says of an object whether it is a leaf though it could be taken
  // apart, or null.
  static Tree of(nb::handle value, Leaves& leaves, nb::handle is_leaf = {}, Stop stop = Stop::AtLeaves);
  // As a part of a loop: `use` is "sequence", "state" or "result".
  static Tree in_loop(nb::handle value, Leaves& leaves, nb::handle use);
  static Tree tuple_of(std::span<const Tree> children);

  Kind kind() const { return nodes().front().kind; }
  bool is_leaf() const { return kind() == Kind::Leaf; }
  std::size_t leaf_count() const { return nodes().front().leaves; }
  std::size_t node_count() const { return nodes().size(); }
  std::vector<Tree> children() const;
  nb::object keys() const;  // of a dict or dataclass a tuple; else None
  // For each leaf, whether it is a part of an object of a registered class.
  std::vector<bool> are_in_registered() const;
  // The class of the value itself; null if it is not registered.
  const TreeClass* registered() const { return nodes().front().cls; }
  const nb::object& aux() const { return nodes().front().data; }

  // The leaves of another value of this structure, in the order of this one. TypeError or ValueError, which begins with
  // the path of what does not fit, `where` being that of the value.
  void leaves_of(nb::handle value, Leaves& leaves, std::string_view where) const;
  // Whether the value is of this structure, in every respect; if so, its leaves.
  bool match(nb::handle value, Leaves& leaves) const { return match_at(0, value, leaves); }
  // For each leaf its path, such as ["layer1"]["W"], behind `where`.
  std::vector<std::string> paths(std::string_view where = "") const;
  // The value with item(i) for leaf i.
  template <class Item>
  nb::object build(Item&& item) const {
    std::size_t at = 0, leaf = 0;
    return build_at(item, at, leaf);
  }
  nb::object build(const Leaves& leaves) const {
    return build([&](std::size_t i) { return leaves[i]; });
  }
  // With a tree in the place of each leaf.
  Tree grafted(std::span<const Tree> at_leaves) const;

  // The same, which equals only those whose dicts have the same order.
  Tree in_order() const {
    Tree out = *this;
    out.is_ordered_ = true;
    return out;
  }
  // Dicts are equal if they have the same keys in any order, unless both trees are of such an order.
  bool equals(const Tree& other) const { return equal_at(0, other, 0); }
  std::size_t hash() const { return hash_at(0); }
  std::string str() const;

 private:
  struct Node {
    Kind kind = Kind::Leaf;
    std::uint32_t arity = 0;   // number of children
    std::uint32_t size = 1;    // number of nodes from here to the end of the last child
    std::uint32_t leaves = 1;  // number of leaves among these
    nb::object data;  // keys of a dict, (class, fields, static fields) of a dataclass, a named tuple's class, aux
    const TreeClass* cls = nullptr;
  };
  struct Path;  // of a node, while one walks

  explicit Tree(std::vector<Node> nodes) : nodes_(std::make_shared<const std::vector<Node>>(std::move(nodes))) {}
  const std::vector<Node>& nodes() const { return *nodes_; }
  struct Walk;  // how a value is taken apart
  static Tree of(nb::handle value, Leaves& leaves, const Walk& walk);
  static void add(nb::handle value, Leaves& leaves, const Walk& walk, std::vector<Node>& out);
  void leaves_at(std::size_t at, nb::handle value, Leaves& leaves, const Path& path) const;
  bool match_at(std::size_t at, nb::handle value, Leaves& leaves) const;
  [[noreturn]] void refuse_keys(const Node& node, nb::handle given, const Path& path) const;
  std::string step(const Node& node, std::size_t child) const;
  bool equal_at(std::size_t at, const Tree& other, std::size_t other_at) const;
  std::size_t hash_at(std::size_t at) const;
  void write(std::size_t at, std::string& out) const;
  static nb::object assemble(const Node& node, std::span<nb::object> children);

  template <class Item>
  nb::object build_at(Item& item, std::size_t& at, std::size_t& leaf) const {
    const Node& node = nodes()[at++];
    switch (node.kind) {
      case Kind::Leaf: return item(leaf++);
      case Kind::None: return nb::none();
      case Kind::List: {
        nb::object out = nb::steal(PyList_New(Py_ssize_t(node.arity)));
        for (std::size_t i = 0; i < node.arity; ++i)
          PyList_SET_ITEM(out.ptr(), Py_ssize_t(i), build_at(item, at, leaf).release().ptr());
        return out;
      }
      case Kind::Tuple: {
        nb::object out = nb::steal(PyTuple_New(Py_ssize_t(node.arity)));
        for (std::size_t i = 0; i < node.arity; ++i)
          PyTuple_SET_ITEM(out.ptr(), Py_ssize_t(i), build_at(item, at, leaf).release().ptr());
        return out;
      }
      case Kind::Dict: {
        nb::object out = nb::steal(PyDict_New());
        for (std::size_t i = 0; i < node.arity; ++i)
          if (PyDict_SetItem(out.ptr(), PyTuple_GET_ITEM(node.data.ptr(), Py_ssize_t(i)),
                             build_at(item, at, leaf).ptr()) < 0)
            nb::raise_python_error();
        return out;
      }
      case Kind::NamedTuple:
      case Kind::Dataclass:
      case Kind::Registered: break;
    }
    std::vector<nb::object> children;
    for (std::size_t i = 0; i < node.arity; ++i) children.push_back(build_at(item, at, leaf));
    return assemble(node, children);
  }

  std::shared_ptr<const std::vector<Node>> nodes_;
  bool is_ordered_ = false;
};

// TypeError for anything that is not a class or lacks one function, ValueError for a class that is registered. Without
// both functions the class is a dataclass whose objects are leaves.
void register_tree_class(TreeClass cls);
// The registered class of the object; null if there is none.
const TreeClass* tree_class_of(nb::handle object);
// Whether the object is taken apart: it is neither a leaf nor None.
bool is_tree(nb::handle object);

// Pairs of the leaves of trees, in place of pairs of trees. TypeError or ValueError for those of different structures.
std::vector<std::pair<nb::object, nb::object>> leaf_pairs(const std::vector<std::pair<nb::object, nb::object>>& pairs,
                                                          std::string_view what);

void bind_tree(nb::module_& m);  // tree_module.cpp

}  // namespace bitale::python
