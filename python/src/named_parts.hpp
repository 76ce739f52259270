// Results of several parts with names, as tuples. One that is not unpacked must not become a tensor: a stack of its
// parts would broadcast silently.
#pragma once

#include <nanobind/nanobind.h>

#include <initializer_list>

namespace bitale::python {

// A subclass of tuple with these attributes, whose operators raise a TypeError. `name` starts with the module; all
// texts live forever.
nanobind::object class_of_parts(const char* name, const char* doc, std::initializer_list<const char*> parts);

// Whether the object is such a tuple, or a named tuple of Python's.
bool has_named_parts(nanobind::handle object);

// The TypeError for such a tuple in place of a tensor.
[[noreturn]] void refuse_named_parts(nanobind::handle object);

}  // namespace bitale::python
