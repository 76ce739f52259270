// Ops whose definition is a Python object. The C++ op owns the Python object, never the other way round: a graph keeps
// its ops alive, and an op keeps no graph alive. So `node.op` is the very object that made the node, and objects
// without owners are destroyed.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>

#include "variable_object.hpp"

namespace bitale::python {

// Creates a C++ op that stands for the Python object. TypeError when __props__, view_map or destroy_map are invalid, or
// when the object can't be hashed.
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
// Throws if the formula that `emit` of the node's op returns is invalid; does nothing if the op has no `emit`.
void check_formula(const Apply& node);
// Apply(op, inputs, outputs): the outputs are new variables of the types of the given ones.
Apply node_of_python_op(nb::handle op, nb::handle inputs, nb::handle outputs);
// An Apply node that `who` returned; TypeError for another object.
const Apply& apply_of(nb::handle object, std::string_view who);
// None if neither the object nor its class has it; __getattr__ is not called.
nb::object attribute_or_none(nb::handle object, const char* name);
// Whether the object or its class overrides a method or attribute of Op.
bool overrides(nb::handle object, const char* name);

}  // namespace bitale::python
