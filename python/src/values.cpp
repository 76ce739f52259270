#include "values.hpp"

#include <nanobind/stl/string.h>

#include <utility>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/random_type.hpp"
#include "held.hpp"
#include "hooks.hpp"
#include "instance.hpp"
#include "numpy_bridge.hpp"
#include "python_type.hpp"

namespace bitale::python {

namespace {

class PythonObject final : public HostObject {
 public:
  explicit PythonObject(nb::object object) : object_(hold(std::move(object))) {}
  const nb::object& object() const { return *object_; }
  bool equals(const HostObject& other) const override {
    auto* python = dynamic_cast<const PythonObject*>(&other);
    if (!python) return false;
    nb::gil_scoped_acquire locked;
    if (object_->is(*python->object_)) return true;
    const int same = PyObject_RichCompareBool(object_->ptr(), python->object_->ptr(), Py_EQ);
    if (same < 0) nb::raise_python_error();
    return same;
  }
  Ref<const HostObject> copy() const override {
    nb::gil_scoped_acquire locked;
    return make_ref<const PythonObject>(nb::module_::import_("copy").attr("deepcopy")(*object_));
  }
  std::string str() const override {
    nb::gil_scoped_acquire locked;
    return shown(*object_);
  }

 private:
  const Held object_;
};

// An object that only C++ can interpret.
struct ForeignObject {
  Ref<const HostObject> object;
};

Array words_of(const RandomType& type, nb::handle generator) {
  const std::string name(bit_generator_name(type.generator));
  return array_from(hook("words_of_generator")(nb::borrow(generator), name), Share::Copy);
}

}  // namespace

Array holding(nb::object object) { return Array::holding(make_ref<const PythonObject>(std::move(object))); }

nb::object held_object(const Array& value) {
  if (auto* python = dynamic_cast<const PythonObject*>(value.object())) return python->object();
  return nb::cast(ForeignObject{Ref<const HostObject>(value.object())}, nb::rv_policy::move);
}

Array value_from(const TypeBase& type, nb::handle object, Downcast downcast, bool strict) {
  if (const TensorType* tensor = type.tensor()) {
    if (strict && !is_ndarray(object))
      throw TypeError(cat("the input is strict: expected an array of ", tensor->str(), ", got ", shown(object)));
    // Float literals are converted by value_for.
    const Downcast then = downcast == Downcast::Always ? Downcast::Always : Downcast::Never;
    return tensor->filter(value_for(*tensor, object, downcast), Strict(strict), then);
  }
  if (!type.storage()) throw TypeError(cat("the type ", type.str(), " has no values, got ", shown(object)));
  if (auto* random = dynamic_cast<const RandomType*>(&type))
    return random->filter(words_of(*random, object), Strict(strict), downcast);
  if (auto* foreign = instance_of<ForeignObject>(object))
    return type.filter(Array::holding(foreign->object), Strict(strict), downcast);
  if (auto* python = dynamic_cast<const PythonType*>(&type)) return python->filtered(object, Strict(strict), downcast);
  throw TypeError(cat("expected a value of type ", type.str(), ", got ", shown(object)));
}

nb::object value_object(const TypeBase& type, const Array& value) {
  if (value.object()) return held_object(value);
  if (auto* random = dynamic_cast<const RandomType*>(&type))
    return hook("generator_of_words")(std::string(bit_generator_name(random->generator)), to_numpy(value.read_only()));
  return to_numpy(value);
}

void bind_values(nb::module_& m) {
  nb::class_<ForeignObject>(m, "HostObject", "A value of a type of C++; Python passes it on.")
      .def("__repr__", [](const ForeignObject& self) { return self.object->str(); })
      .def(
          "__eq__",
          [](const ForeignObject& self, nb::handle other) {
            auto* foreign = instance_of<ForeignObject>(other);
            return foreign && self.object->equals(*foreign->object);
          },
          nb::sig("def __eq__(self, other: object, /) -> bool"));
}

}  // namespace bitale::python
