// The Python objects that stand for nodes of a graph: one object per node for as long as it lives, so that
// `y.owner.inputs[0] is x` holds and dictionaries can be keyed by variables. C++ handles cross as Variable, Apply,
// OpRef and Type through the casters at the end.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bitale/graph/op.hpp"
#include "bitale/graph/variable.hpp"
#include "bitale/ops/ops.hpp"
#include "instance.hpp"

namespace bitale::python {

namespace nb = nanobind;

// Records how x[items] was written, so that x[items].set(y) can find x.
struct Indexing {
  Variable base;
  std::vector<IndexItem> items;
};

// Base of the classes below; unregisters its node when Python destroys the object.
struct VariableObject {
  explicit VariableObject(Variable variable) : variable(std::move(variable)) {}
  VariableObject(VariableObject&&) = default;
  ~VariableObject();

  Variable variable;
  std::shared_ptr<const Indexing> indexing;
  std::vector<std::pair<Variables, nb::object>> functions;  // of eval: the given variables, and the compiled function
};
struct TensorVariableObject : VariableObject {
  using VariableObject::VariableObject;
};
struct TensorConstantObject : TensorVariableObject {
  using TensorVariableObject::TensorVariableObject;
};
struct TensorSharedVariableObject : TensorVariableObject {
  using TensorVariableObject::TensorVariableObject;
};

// Variables of types other than tensors.
struct RandomVariableObject : VariableObject {
  using VariableObject::VariableObject;
};

struct ApplyObject {
  explicit ApplyObject(Apply apply) : apply(std::move(apply)) {}
  ApplyObject(ApplyObject&&) = default;
  ~ApplyObject();
  Apply apply;
};

struct OpObject {
  OpRef op;  // null for ops written in Python: the object itself is the op (python_op.hpp)
};
// The op; for one written in Python a new C++ op that stands for the object.
OpRef op_of(nb::handle object, const OpObject& known);

struct TypeObject {
  Type type;  // null for types written in Python: the object itself is the type (python_type.hpp)
};
struct RandomTypeObject : TypeObject {};
// The type; for one written in Python a new C++ type that stands for the object.
Type type_of(nb::handle object, const TypeObject& known);
struct TensorTypeObject : TypeObject {};
struct DisconnectedTypeObject : TypeObject {};
struct NullTypeObject : TypeObject {};

// The Python object of a node; None for a null handle.
nb::object wrap(const Variable& variable);
nb::object wrap(const Apply& apply);
nb::object wrap(const OpRef& op);
nb::object wrap(const Type& type);
// As an object of a subclass of Variable; of the class that its type calls for, where that is more special. TypeError
// where it can't be one.
nb::object wrap_as(nb::handle cls, const Variable& variable);
// Registers the Python class of ops of that name, a subclass of Op, which replaces the generated one.
void set_class_of_ops(const std::string& name, nb::object cls);
// A new Python object for a tensor type that has a name (dvector): from now on it is the only one, so that x.type is
// dvector.
nb::object wrap_for_ever(const Type& type);

bool is_variable(nb::handle object);
// The handle's variable; it must be one.
const Variable& variable_of(nb::handle object);
VariableObject& variable_object_of(nb::handle object);

}  // namespace bitale::python

namespace nanobind::detail {

// A C++ value that is passed to Python as the class `Object`, whose member holds it.
#define BITALE_NODE_CASTER(Value_, Object, member, text)                         \
  template <>                                                                    \
  struct type_caster<Value_> {                                                   \
    NB_TYPE_CASTER(Value_, const_name(text))                                     \
    template <class Flags>                                                       \
    bool from_python(handle source, Flags, cleanup_list*) noexcept {             \
      const Object* object = bitale::python::instance_of<Object>(source);        \
      if (!object) return false;                                                 \
      value = object->member;                                                    \
      return true;                                                               \
    }                                                                            \
    static handle from_cpp(const Value_& v, rv_policy, cleanup_list*) noexcept { \
      try {                                                                      \
        return bitale::python::wrap(v).release();                                \
      } catch (python_error & error) {                                           \
        error.restore();                                                         \
      } catch (const std::exception& error) {                                    \
        PyErr_SetString(PyExc_RuntimeError, error.what());                       \
      }                                                                          \
      return {};                                                                 \
    }                                                                            \
  };
BITALE_NODE_CASTER(bitale::Variable, bitale::python::VariableObject, variable, "TensorVariable")
BITALE_NODE_CASTER(bitale::Apply, bitale::python::ApplyObject, apply, "Apply")
#undef BITALE_NODE_CASTER

template <>
struct type_caster<bitale::Type> {
  NB_TYPE_CASTER(bitale::Type, const_name("Type"))
  template <class Flags>
  bool from_python(handle source, Flags, cleanup_list*) noexcept {
    const auto* object = bitale::python::instance_of<bitale::python::TypeObject>(source);
    if (!object) return false;
    value = bitale::python::type_of(source, *object);
    return true;
  }
  static handle from_cpp(const bitale::Type& type, rv_policy, cleanup_list*) noexcept {
    try {
      return bitale::python::wrap(type).release();
    } catch (python_error& error) {
      error.restore();
    } catch (const std::exception& error) {
      PyErr_SetString(PyExc_RuntimeError, error.what());
    }
    return {};
  }
};

template <>
struct type_caster<bitale::OpRef> {
  NB_TYPE_CASTER(bitale::OpRef, const_name("Op"))
  template <class Flags>
  bool from_python(handle source, Flags, cleanup_list*) noexcept {
    const auto* object = bitale::python::instance_of<bitale::python::OpObject>(source);
    if (!object) return false;
    try {
      value = bitale::python::op_of(source, *object);
    } catch (const std::exception&) {
      return false;  // make_node fails for it, too, and raises the reason
    }
    return true;
  }
  static handle from_cpp(const bitale::OpRef& op, rv_policy, cleanup_list*) noexcept {
    try {
      return bitale::python::wrap(op).release();
    } catch (python_error& error) {
      error.restore();
    } catch (const std::exception& error) {
      PyErr_SetString(PyExc_RuntimeError, error.what());
    }
    return {};
  }
};

}  // namespace nanobind::detail
