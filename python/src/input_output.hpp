// Inputs and outputs of functions with options, as Python's In, Out and Container hold them. They are values: a maker
// of functions keeps copies.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <vector>

#include "bitale/graph/type.hpp"
#include "bitale/graph/variable.hpp"
#include "tree.hpp"

namespace bitale::python {

namespace nb = nanobind;

// A storage cell: the default of an input, the state that an update changes, or the value of a shared variable.
struct ContainerObject {
  Variable variable;  // shared
};

struct InObject {
  Variable variable;             // of a tree the first one
  nb::object tree = nb::none();  // the value made of several variables that the input is, or None
  Tree form;                     // of the tree
  std::vector<InObject> parts;   // of a tree: the input of each variable
  std::optional<std::string> name;
  nb::object value = nb::none();   // an array of the variable's type, a shared variable or a Container, or None
  nb::object update = nb::none();  // an expression, or None
  bool strict = false;
  std::optional<bool> allow_downcast;
  bool is_implicit = false, is_mutable = false, is_borrowed = false;
  Variable container;  // the shared variable that has the value; null if there is no value, or not yet

  bool is_tree() const { return !tree.is_none(); }
  // Takes a value of the variable's type, a shared variable or a Container. TypeError for anything else.
  void hold(nb::handle given);
  // Makes a container for a value that has none.
  void store();
  bool owns_container() const;  // whether `store` made it, rather than the user
};

struct OutObject {
  Variable variable;  // of a tree the first one
  bool is_borrowed = false;
  nb::object tree = nb::none();  // as above
  Tree form = {};
  Variables parts = {};

  bool is_tree() const { return !tree.is_none(); }
};

// What allow_downcast=None, True and False mean.
Downcast downcast_of(std::optional<bool> allow);
// None, or whether the object is true. TypeError, which names `what`, for an object that is not a bool.
std::optional<bool> optional_flag(nb::handle object, const char* what);
// An In of the variable or tree, or the In itself. TypeError for other objects.
InObject as_input(nb::handle given);
// The same for outputs, which may also be numbers and arrays.
OutObject as_output(nb::handle given);

void bind_input_output(nb::module_& m);

}  // namespace bitale::python
