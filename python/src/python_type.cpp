#include "python_type.hpp"

#include <nanobind/stl/string.h>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "instance.hpp"
#include "values.hpp"
#include "variable_object.hpp"

namespace bitale::python {

namespace {

bool is_true(nb::object object) {
  const int truth = PyObject_IsTrue(object.ptr());
  if (truth < 0) nb::raise_python_error();
  return truth;
}

nb::object downcast_object(Downcast downcast) {
  return downcast == Downcast::FloatLiteral ? nb::none() : nb::cast(downcast == Downcast::Always);
}

}  // namespace

bool PythonType::equals(const TypeBase& other) const {
  if (this == &other) return true;
  auto* type = dynamic_cast<const PythonType*>(&other);
  if (!type) return false;
  nb::gil_scoped_acquire locked;
  return object_->is(*type->object_) || is_true(object_->attr("__eq__")(*type->object_));
}

bool PythonType::is_super(const TypeBase& other) const {
  auto* type = dynamic_cast<const PythonType*>(&other);
  if (!type) return false;
  nb::gil_scoped_acquire locked;
  if (object_->is(*type->object_)) return true;
  const bool is_own = !object_->type().attr("is_super").is(nb::type<TypeObject>().attr("is_super"));
  return is_own ? is_true(object_->attr("is_super")(*type->object_)) : equals(other);
}

std::string PythonType::str() const {
  nb::gil_scoped_acquire locked;
  return nb::cast<std::string>(nb::str(*object_));
}

const TensorType* PythonType::storage() const {
  static const Type& word = *new Type(tensor_type(DType::UInt64, 0));
  return as_tensor(word);
}

// An object that only C++ can interpret is not a value of a Python type; for all others the Python object decides.
bool PythonType::is_valid_value(const Array& value) const {
  if (!value.object()) return false;
  nb::gil_scoped_acquire locked;
  return is_true(object_->attr("is_valid_value")(held_object(value)));
}

Array PythonType::filtered(nb::handle value, Strict strict, Downcast downcast) const {
  nb::gil_scoped_acquire locked;
  return holding(object_->attr("filter")(value, strict == Strict::Yes, downcast_object(downcast)));
}

Array PythonType::filter(const Array& value, Strict strict, Downcast downcast) const {
  if (!value.object()) throw TypeError(cat("expected a value of type ", str(), ", got an array"));
  nb::gil_scoped_acquire locked;
  const nb::object before = held_object(value);
  nb::object after = object_->attr("filter")(before, strict == Strict::Yes, downcast_object(downcast));
  return after.is(before) ? value : holding(std::move(after));
}

bool PythonType::agree(const char* method, const Array& a, const Array& b) const {
  if (!a.object() || !b.object()) return false;
  nb::gil_scoped_acquire locked;
  return is_true(object_->attr(method)(held_object(a), held_object(b)));
}
bool PythonType::values_eq(const Array& a, const Array& b) const { return agree("values_eq", a, b); }
bool PythonType::values_eq_approx(const Array& a, const Array& b) const { return agree("values_eq_approx", a, b); }

nb::object python_object(const TypeBase& type) {
  auto* python = dynamic_cast<const PythonType*>(&type);
  return python ? nb::borrow(python->object()) : nb::object();
}

Type type_of(nb::handle object, const TypeObject& known) {
  return known.type ? known.type : Type(make_ref<const PythonType>(nb::borrow(object)));
}

}  // namespace bitale::python
