// Ops whose definition is a Python object. The C++ op owns the Python object, never the other way round: a graph keeps
// its ops alive, and an op no graph. So `node.op` is the very object that made the node, and what nobody holds goes.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>

#include "variable_object.hpp"

namespace bitale::python {

// A C++ op that stands for the Python object. TypeError when __props__, view_map or destroy_map can't be used, or when
// the object can't be hashed.
OpRef make_python_op(nb::handle object);
// The Python object of such an op; an invalid handle for ops of the library.
nb::object python_object(const Op& op);
// "MyOp{axis=1}": the class and the values of __props__.
std::string python_op_label(nb::handle object);
// Equality and hash by class and the values of __props__; without __props__, by identity.
bool python_ops_equal(nb::handle a, nb::handle b);
Py_hash_t python_op_hash(nb::handle object);
// The node of an op of this class on inputs of its itypes.
Apply default_node(nb::handle object, nb::handle inputs);
// Raises what is wrong with the formula that `emit` of the node's op gives, if it has one.
void check_formula(const Apply& node);
// Apply(op, inputs, outputs): the types of the outputs, which are new variables, are those of the node's.
Apply node_of_python_op(nb::handle op, nb::handle inputs, nb::handle outputs);
// An object that must be an Apply node, of what `who` gave.
const Apply& apply_of(nb::handle object, std::string_view who);
// None where neither the object nor its class has it; __getattr__ is not asked.
nb::object attribute_or_none(nb::handle object, const char* name);
// Whether the class of the object (or the object) has a method or attribute of its own in place of Op's.
bool overrides(nb::handle object, const char* name);

}  // namespace bitale::python
