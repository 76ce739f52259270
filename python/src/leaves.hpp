// Nested lists, tuples and dictionaries of variables, of which a walk makes a sequence and back. Whatever is none of
// these is a leaf. Forms may be nested to any depth.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <string>
#include <vector>

namespace bitale::python {

namespace nb = nanobind;

struct Leaf {
  nb::object value;
  std::string path;  // "params['W'][0]"
};

// The leaves of `tree`, which has the form of `form`: dictionaries of the same keys, in the order of those of `form`,
// lists and tuples of the same length. TypeError or ValueError that names the path where it differs. `what`: the name
// of the tree, with which paths begin.
std::vector<Leaf> leaves_as(nb::handle form, nb::handle tree, const std::string& what);
inline std::vector<Leaf> leaves_of(nb::handle tree, const std::string& what) { return leaves_as(tree, tree, what); }

// What has the form of `form` and the leaf value(i) in place of its i-th.
nb::object with_leaves(nb::handle form, const std::function<nb::object(std::size_t)>& value);

}  // namespace bitale::python
