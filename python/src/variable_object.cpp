// There is one Python object per living node. The tables are accessed only with the GIL held.
#include "variable_object.hpp"

#include <nanobind/stl/string.h>

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bitale/compile/shared.hpp"
#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/random_type.hpp"
#include "hooks.hpp"
#include "python_op.hpp"
#include "python_type.hpp"

namespace bitale::python {

namespace {

// Weak references: an object removes itself when it is destroyed.
using Living = std::unordered_map<const void*, PyObject*>;
Living& living() {
  static auto& table = *new Living;
  return table;
}

void forget(const void* node) {
  if (node) living().erase(node);
}

template <class Object, class Value>
nb::object wrap_once(const void* node, const Value& value) {
  auto [at, fresh] = living().try_emplace(node, nullptr);
  if (!fresh) return nb::borrow(at->second);
  nb::object object = nb::cast(Object(value), nb::rv_policy::move);
  living()[node] = object.ptr();
  return object;
}

// By dtype and static shape.
using NamedTypes = std::map<std::pair<DType, std::vector<std::int64_t>>, nb::object>;
NamedTypes& named_types() {
  static auto& table = *new NamedTypes;
  return table;
}
constexpr int highest_named_rank = 7;

std::unordered_map<std::string, nb::object>& classes_of_ops() {
  static auto& classes = *new std::unordered_map<std::string, nb::object>;
  return classes;
}

// Each kind of op has its own class, created at its first use, so that type(node.op) distinguishes them.
nb::object class_of_op(const Op& op) {
  auto& classes = classes_of_ops();
  std::string name(op.name());
  if (auto found = classes.find(name); found != classes.end()) return found->second;
  // The package makes its classes of ops when a program looks at an op for the first time.
  hook("classes_of_ops");
  hook("classes_of_loops");
  if (auto found = classes.find(name); found != classes.end()) return found->second;
  nb::object base = nb::borrow(nb::type<OpObject>());
  nb::dict members;
  members["__module__"] = "bitale.tensor";
  members["__slots__"] = nb::make_tuple();
  members["_is_of_the_library"] = true;
  nb::object made = base.type()(name, nb::make_tuple(base), members);
  return classes.emplace(name, made).first->second;
}

// Variables of a type written in Python have the class that the type specifies, so that they can have their own
// methods.
template <class Object = VariableObject>
nb::object wrap_by_class(const Variable& variable, const nb::object& cls) {
  auto [at, fresh] = living().try_emplace(variable.node(), nullptr);
  if (!fresh) return nb::borrow(at->second);
  nb::object object = nb::inst_alloc(cls);
  new (nb::inst_ptr<Object>(object)) Object(variable);
  nb::inst_mark_ready(object);
  living()[variable.node()] = object.ptr();
  return object;
}

// The class that its type specifies for it; invalid if there is none.
nb::object class_of_variable(const Variable& variable) {
  const nb::object type = python_object(*variable.type());
  if (!type.is_valid()) return {};
  const char* attribute = variable.is_constant() ? "constant_type" : "variable_type";
  nb::object cls = nb::getattr(type, attribute);
  if (!PyType_Check(cls.ptr()) ||
      !PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(cls.ptr()),
                        reinterpret_cast<PyTypeObject*>(nb::type<VariableObject>().ptr()))) {
    PyErr_SetString(PyExc_TypeError,
                    cat(shown(type), ": ", attribute, " is a subclass of Variable, got ", shown(cls)).c_str());
    nb::raise_python_error();
  }
  return cls.is(nb::type<VariableObject>()) ? nb::object() : cls;
}

// The flag warn_float64.
const std::string& float64_action() {
  static std::uint64_t read_at = ~std::uint64_t(0);
  static auto& action = *new std::string;
  if (const std::uint64_t changes = config::change_count(); changes != read_at) {
    action = config::get("warn_float64");
    read_at = changes;
  }
  return action;
}

// What the flag asks for when a variable of float64 is made. A warning or error has the line that made it.
void notice_float64(const Variable& variable) {
  const std::string& action = float64_action();
  if (action == "ignore" || living().contains(variable.node())) return;
  std::string text = cat("warn_float64: `", variable.str(), "` is of dtype float64");
  if (variable.owner().defined()) {
    std::vector<std::string> inputs;
    for (const Variable& input : variable.owner().inputs())
      inputs.push_back(cat("`", input.str(), "` ", input.type()->str()));
    text += cat(", made of ", join(inputs, ", "));
  }
  if (const Location where = variable.where()) text += cat(", at ", where.str());
  if (action == "raise") throw TypeError(text);
  if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) < 0) nb::raise_python_error();
  if (action == "pdb") nb::module_::import_("pdb").attr("set_trace")();
}

}  // namespace

void set_class_of_ops(const std::string& name, nb::object cls) { classes_of_ops()[name] = std::move(cls); }

VariableObject::~VariableObject() { forget(variable.node()); }
ApplyObject::~ApplyObject() { forget(apply.node()); }

nb::object wrap(const Variable& variable) {
  if (!variable.defined()) return nb::none();
  const void* node = variable.node();
  if (!as_tensor(variable.type())) {
    if (const nb::object cls = class_of_variable(variable); cls.is_valid()) return wrap_by_class(variable, cls);
    if (!as_random(variable.type())) return wrap_once<VariableObject>(node, variable);
    hook("generator_methods");  // which the package adds to the class when the first generator needs them
    return wrap_once<RandomVariableObject>(node, variable);
  }
  if (variable.is_constant()) return wrap_once<TensorConstantObject>(node, variable);
  if (is_shared(variable)) return wrap_once<TensorSharedVariableObject>(node, variable);
  if (variable.dtype() == DType::Float64) notice_float64(variable);
  return wrap_once<TensorVariableObject>(node, variable);
}

nb::object wrap_as(nb::handle cls, const Variable& variable) {
  const auto is_a = [](nb::handle type, nb::handle base) {
    return PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type.ptr()), reinterpret_cast<PyTypeObject*>(base.ptr()));
  };
  nb::object usual = wrap(variable);
  if (is_a(usual.type(), cls)) return usual;
  if (!is_a(cls, usual.type()))
    throw TypeError(cat(nb::type_name(cls).c_str(), ": a variable of type ", variable.type()->str(), " is a ",
                        nb::type_name(usual.type()).c_str()));
  usual.reset();
  return as_tensor(variable.type()) ? wrap_by_class<TensorVariableObject>(variable, nb::borrow(cls))
                                    : wrap_by_class(variable, nb::borrow(cls));
}

nb::object wrap(const Apply& apply) {
  if (!apply.defined()) return nb::none();
  return wrap_once<ApplyObject>(apply.node(), apply);
}

nb::object wrap(const OpRef& op) {
  if (!op) return nb::none();
  if (nb::object python = python_object(*op); python.is_valid()) return python;
  nb::object object = nb::inst_alloc(class_of_op(*op));
  new (nb::inst_ptr<OpObject>(object)) OpObject{op};
  nb::inst_mark_ready(object);
  return object;
}

OpRef op_of(nb::handle object, const OpObject& known) { return known.op ? known.op : make_python_op(object); }

nb::object wrap_for_ever(const Type& type) {
  const TensorType& tensor = *as_tensor(type);
  nb::object object = nb::cast(TensorTypeObject{{type}}, nb::rv_policy::move);
  named_types()[{tensor.dtype, {tensor.shape.begin(), tensor.shape.end()}}] = object;
  return object;
}

nb::object wrap(const Type& type) {
  if (!type) return nb::none();
  const TensorType* tensor = as_tensor(type);
  if (tensor && tensor->ndim() <= highest_named_rank)
    if (auto found = named_types().find({tensor->dtype, {tensor->shape.begin(), tensor->shape.end()}});
        found != named_types().end())
      return found->second;
  if (tensor) return nb::cast(TensorTypeObject{{type}}, nb::rv_policy::move);
  if (nb::object python = python_object(*type); python.is_valid()) return python;
  if (as_random(type)) return nb::cast(RandomTypeObject{{type}}, nb::rv_policy::move);
  if (dynamic_cast<const DisconnectedType*>(type.get()))
    return nb::cast(DisconnectedTypeObject{{type}}, nb::rv_policy::move);
  if (dynamic_cast<const NullType*>(type.get())) return nb::cast(NullTypeObject{{type}}, nb::rv_policy::move);
  return nb::cast(TypeObject{type}, nb::rv_policy::move);
}

bool is_variable(nb::handle object) { return instance_of<VariableObject>(object) != nullptr; }

VariableObject& variable_object_of(nb::handle object) { return *nb::inst_ptr<VariableObject>(object); }

const Variable& variable_of(nb::handle object) { return variable_object_of(object).variable; }

}  // namespace bitale::python
