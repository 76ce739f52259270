// Types written in Python: a C++ type that stands for the Python object and queries it. Values are Python objects,
// which native code only passes on. Ownership has one direction, as for ops (python_op.hpp): variables own their type,
// the type owns the Python object, and that owns neither.
#pragma once

#include <nanobind/nanobind.h>

#include "bitale/graph/type.hpp"
#include "held.hpp"

namespace bitale::python {

namespace nb = nanobind;

class PythonType final : public TypeBase {
 public:
  explicit PythonType(nb::object object) : object_(hold(std::move(object))) {}
  const nb::object& object() const { return *object_; }

  bool equals(const TypeBase& other) const override;
  bool is_super(const TypeBase& other) const override;
  std::string str() const override;
  const TensorType* storage() const override;
  bool is_host_only() const override { return true; }
  bool is_valid_value(const Array& value) const override;
  Array filter(const Array& value, Strict strict, Downcast downcast) const override;
  bool values_eq(const Array& a, const Array& b) const override;
  bool values_eq_approx(const Array& a, const Array& b) const override;
  Array filtered(nb::handle value, Strict strict, Downcast downcast) const;

 private:
  bool agree(const char* method, const Array& a, const Array& b) const;
  const Held object_;
};

// The Python object of such a type, or an invalid one.
nb::object python_object(const TypeBase& type);

}  // namespace bitale::python
