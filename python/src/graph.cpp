// Variables, Apply nodes and Ops as Python sees them, and traversals of graphs.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <variant>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/compile/shared.hpp"
#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/test_value.hpp"
#include "bitale/graph/traversal.hpp"
#include "bitale/ops/registry.hpp"
#include "define.hpp"
#include "graph/evaluate.hpp"
#include "hooks.hpp"
#include "numpy_bridge.hpp"
#include "opaque.hpp"
#include "ops/control/captures.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "ops/elementwise/scalar_op.hpp"
#include "ops/linalg/linalg_core.hpp"
#include "python_op.hpp"
#include "tree.hpp"
#include "values.hpp"

namespace bitale::python {

namespace {

nb::object attribute_object(const AttributeValue& value) {
  if (auto* dtype = std::get_if<DType>(&value)) return nb::cast(std::string(dtype_name(*dtype)));
  if (auto* list = std::get_if<IntList>(&value)) return nb::tuple(nb::cast(*list));
  if (auto* flag = std::get_if<bool>(&value)) return nb::bool_(*flag);
  if (auto* integer = std::get_if<std::int64_t>(&value)) return nb::int_(*integer);
  if (auto* number = std::get_if<double>(&value)) return nb::float_(*number);
  if (auto* opaque = std::get_if<OpaqueAttribute>(&value)) return nb::cast(opaque->object->text());
  return nb::cast(std::get<std::string>(value));
}

nb::dict properties(const Op& op) {
  nb::dict out;
  for (auto& attribute : op.attributes())
    out[nb::str(attribute.name.data(), attribute.name.size())] = attribute_object(attribute.value);
  return out;
}

std::string text_of(const Variable& variable) {
  if (!variable.name().empty()) return variable.name();
  if (variable.is_constant()) return cat("TensorConstant{", variable.str(), "}");
  if (variable.has_owner()) return variable.str();
  auto* tensor = as_tensor(variable.type());
  return cat("<", tensor ? tensor->short_str() : variable.type()->str(), ">");
}

void set_name(VariableObject& self, const std::optional<std::string>& name) {
  self.variable.set_name(name.value_or(""));
}

std::optional<std::string> name_of(const VariableObject& self) {
  if (self.variable.name().empty()) return {};
  return self.variable.name();
}

// How pickles name the kinds of AttributeValue, in its order. Pickles of 0.1 have their numbers instead, which are
// those of this list: a new kind is appended.
constexpr std::array<std::string_view, std::variant_size_v<AttributeValue>> kind_names = {
    "bool", "int", "float", "str", "dtype", "ints", "object"};

std::size_t kind_number(nb::handle stored) {
  if (nb::isinstance<nb::int_>(stored)) return nb::cast<std::size_t>(stored);
  const auto found = std::find(kind_names.begin(), kind_names.end(), nb::cast<std::string_view>(stored));
  return std::size_t(found - kind_names.begin());
}

// An op's name, and its attributes as (name, the name of the kind, value).
nb::object stored_op(const OpObject& self) {
  if (!self.op) throw TypeError("an op written in Python is stored by its class");
  nb::list attributes;
  for (auto& [name, value] : self.op->attributes()) {
    nb::object object;
    if (auto* opaque = std::get_if<OpaqueAttribute>(&value)) {
      object = stored_opaque(*opaque->object);
      if (object.is_none())
        throw NotImplementedError(
            cat("storing an op with the attribute ", name, " = ", attribute_text(value), ": ", self.op->label()));
    } else {
      object = attribute_object(value);
    }
    attributes.append(nb::make_tuple(nb::str(name.data(), name.size()), kind_names[value.index()], object));
  }
  return nb::make_tuple(std::string(self.op->name()), nb::tuple(attributes));
}

template <std::size_t kind = 0>
AttributeValue attribute_of(std::size_t wanted, nb::handle value) {
  if constexpr (kind < std::variant_size_v<AttributeValue>) {
    if (wanted != kind) return attribute_of<kind + 1>(wanted, value);
    using T = std::variant_alternative_t<kind, AttributeValue>;
    if constexpr (std::is_same_v<T, DType>)
      return dtype_from(value);
    else if constexpr (std::is_same_v<T, OpaqueAttribute>)
      return opaque_of_stored(value);
    else
      return nb::cast<T>(value);
  } else {
    throw ValueError(cat("the attribute ", shown(value), " is of a kind that this version of Bitale does not have"));
  }
}

OpRef op_of_stored(const std::string& name,
                   const std::vector<std::tuple<std::string, nb::object, nb::object>>& stored) {
  Attributes attributes;
  for (auto& [attribute, kind, value] : stored)
    attributes.push_back({attribute, attribute_of(kind_number(kind), value)});
  return op_from(name, attributes);
}

// Performs one node on arrays, with all checks of its op.
nb::list perform_node(const Apply& node, nb::list inputs) {
  std::vector<Array> in, out(node.output_count());
  if (nb::len(inputs) != node.inputs().size()) throw ValueError("perform_node: a value per input is expected");
  for (nb::handle input : inputs) {
    in.push_back(value_from(*node.input(int(in.size())).type(), input, Downcast::Never));
  }
  copy_destroyed(node, in);
  evaluate_node(node, in, out);
  nb::list results;
  for (std::size_t k = 0; k < out.size(); ++k) results.append(value_object(*node.output(int(k)).type(), out[k].copy()));
  return results;
}

void bind_op_attributes(nb::module_& m) {
  m.def("perform_node", perform_node, "node"_a, "inputs"_a);
  m.def("stored_op", stored_op, "op"_a);
  m.def("op_of_stored", op_of_stored, "name"_a, "attributes"_a);
  m.def(
      "op_names",
      [] {
        std::vector<std::string> names;
        for (auto& entry : op_registry()) names.push_back(entry.name);
        return names;
      },
      "The names of all ops of the registry, for tests and documentation.");
  m.def(
      "op_samples",
      [](const std::string& name) {
        nb::list out;
        for (auto& entry : op_registry()) {
          if (entry.name != name) continue;
          for (auto& sample : entry.samples()) {
            nb::list inputs, outputs, values;
            const Variables leaves = graph_inputs(sample.node.inputs());
            for (std::size_t k = 0; k < leaves.size(); ++k) {
              inputs.append(nb::cast(leaves[k]));
              values.append(value_object(*leaves[k].type(), sample.values[k].copy()));
            }
            for (auto& output : sample.node.outputs()) outputs.append(nb::cast(output));
            out.append(nb::make_tuple(inputs, outputs, values, sample.note));
          }
        }
        return out;
      },
      "name"_a, "The samples of an op of the registry, for tests: (inputs, outputs, values of the inputs, note).");
}

// ---- ops ------------------------------------------------------------------------------------------------------------

const OpObject& op_object(nb::handle self) {
  if (const auto* object = instance_of<OpObject>(self)) return *object;
  throw TypeError(cat("expected an Op, got ", shown(self)));
}

// The C++ op of an object that stands for an op of the library.
const Op& library_op(nb::handle self, const char* method) {
  if (const OpObject& object = op_object(self); object.op) return *object.op;
  throw NotImplementedError(cat(nb::type_name(self.type()).c_str(), " has no ", method));
}

nb::object make_node(nb::handle self, nb::args inputs) {
  const OpObject& object = op_object(self);
  if (!object.op) return wrap(default_node(self, inputs));
  Variables given = as_variables(inputs, cat(object.op->name(), ".make_node"));
  const bool is_elementwise = object.op->elementwise() && std::ranges::all_of(given, [](const Variable& each) {
                                return as_tensor(each.type()) != nullptr;
                              });
  return wrap(object.op->make_node(is_elementwise ? pad_ranks(given) : given));
}

// A new leaf, as type() makes one. Outputs of nodes are made with their node.
nb::object new_variable(nb::handle cls, nb::handle type, nb::handle owner, nb::handle,
                        std::optional<std::string> name) {
  const auto* known = instance_of<TypeObject>(type);
  if (!known) throw TypeError(cat(nb::type_name(cls).c_str(), ": expected a type such as dvector, got ", shown(type)));
  if (!owner.is_none())
    throw TypeError(cat(nb::type_name(cls).c_str(),
                        ": a node makes its outputs itself, Apply(op, inputs, [type()]); "
                        "expected no owner, got ",
                        shown(owner)));
  return wrap_as(cls, Variable(type_of(type, *known), name.value_or("")));
}

// name= and return_list= are handled here, other keywords are passed to make_node.
nb::object call_op(nb::handle self, nb::args inputs, nb::kwargs keywords) {
  const auto take = [&](const char* name) {
    return PyDict_Contains(keywords.ptr(), nb::str(name).ptr()) ? nb::object(keywords.attr("pop")(name)) : nb::none();
  };
  const OpObject& object = op_object(self);
  const nb::object name = take("name"), return_list = take("return_list");
  const Apply node = apply_of(self.attr("make_node")(*inputs, **keywords),
                              cat(object.op ? std::string(object.op->name()) : python_op_label(self), ".make_node"));
  check_formula(node);  // here the user's line is known, unlike when it is compiled
  if (!name.is_none()) node.output().set_name(nb::cast<std::string>(name));
  if (PyObject_IsTrue(return_list.ptr()) == 1) return nb::cast(node.outputs());
  const nb::object only = object.op ? nb::none() : attribute_or_none(self, "default_output");
  if (!only.is_none()) {
    const auto at = std::size_t(*as_optional_int(only, "default_output"));
    if (at >= node.output_count())
      throw ValueError(cat(python_op_label(self), ": default_output is ", at, " of ", node.output_count(), " outputs"));
    return wrap(node.output(int(at)));
  }
  if (node.output_count() == 1) return wrap(node.output());
  return nb::cast(node.outputs());
}

// Every object is usable after __new__: a user's class need not call __init__ of this one.
nb::object new_op(nb::handle cls, nb::args, nb::kwargs) {
  if (!PyType_Check(cls.ptr()) || !PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(cls.ptr()),
                                                    reinterpret_cast<PyTypeObject*>(nb::type<OpObject>().ptr())))
    throw TypeError(cat("Op.__new__: expected a subclass of Op, got ", shown(cls)));
  if (cls.is(nb::type<OpObject>()) || nb::hasattr(cls, "_is_of_the_library"))
    throw TypeError(cat(nb::type_name(cls).c_str(),
                        ": expected a subclass of Op that defines what it computes; ops of ",
                        "the library are created by their functions"));
  nb::object object = nb::inst_alloc(cls);
  new (nb::inst_ptr<OpObject>(object)) OpObject{};
  nb::inst_mark_ready(object);
  return object;
}

void init_op(nb::handle self, nb::args given, nb::kwargs keywords) {
  if (given.size() || nb::len(keywords))
    throw TypeError(cat(nb::type_name(self.type()).c_str(), "() takes no arguments: it defines no __init__"));
}

nb::object op_name(nb::handle self) {
  if (const OpObject& object = op_object(self); object.op) return nb::cast(object.op->label());
  const nb::object members = nb::getattr(self, "__dict__", nb::none());
  if (PyDict_Check(members.ptr()))
    if (PyObject* given = PyDict_GetItemString(members.ptr(), "name")) return nb::borrow(given);
  return nb::cast(python_op_label(self));
}

void set_op_name(nb::handle self, nb::handle name) {
  if (op_object(self).op) throw AttributeError("the name of an op of the library can't be changed");
  self.attr("__dict__")["name"] = nb::borrow(name);
}

nb::object op_attribute(nb::handle self, const std::string& name) {
  const OpObject& object = op_object(self);
  if (object.op) {
    for (auto& attribute : object.op->attributes())
      if (attribute.name == name) return attribute_object(attribute.value);
    if (const auto* core = dynamic_cast<const MatrixOp*>(object.op.get())) {
      if (name == "gufunc_signature") return nb::cast(core->signature());
      if (name == "core_op") return nb::borrow(self);
    }
  } else if (name == "view_map" || name == "destroy_map") {
    return nb::dict();
  }
  throw nb::attribute_error(cat("op ", nb::type_name(self.type()).c_str(), " has no attribute ", name).c_str());
}

// Whether the object is the function of bitale.tensor that applies the elementwise op. PyTensor's functions are ops, so
// rewrites test whether node.op == pt.exp.
bool is_function_of(const Op& op, nb::handle object) {
  if (!op.elementwise() || !PyCallable_Check(object.ptr())) return false;
  const std::string name(op.elementwise()->name);
  const nb::module_ tensor = nb::module_::import_("bitale._core");
  for (const std::string& each : {name, name + "_"})  // such as and_
    if (nb::getattr(tensor, each.c_str(), nb::none()).is(object)) return true;
  return false;
}

bool ops_equal(nb::handle self, nb::handle other) {
  const auto *a = instance_of<OpObject>(self), *b = instance_of<OpObject>(other);
  if (a && !b && a->op) return is_function_of(*a->op, other);
  if (!a || !b) return false;
  if (a->op || b->op) return a->op && b->op && a->op->equals(*b->op);
  return python_ops_equal(self, other);
}

Variables given_variables(nb::handle list, std::string_view who) {
  Variables out;
  for (nb::handle item : list) out.push_back(item.is_none() ? disconnected() : require_variable(item, who));
  return out;
}

// An op relies on the node being one of its own.
const Apply& require_own(const Op& op, const Apply& node, const char* method) {
  if (!op.equals(node.op()))
    throw ValueError(cat(method, ": the node is one of ", node.op().label(), ", not of ", op.label()));
  return node;
}

// The node that these are the outputs of.
Apply node_of(const Op& op, const Variables& outputs, const char* method) {
  if (outputs.empty() || !outputs[0].has_owner())
    throw ValueError(cat(method, ": expected the outputs of a node of this op"));
  return require_own(op, outputs[0].owner(), method);
}

// Requires one gradient or tangent per variable.
void require_gradients(const Variables& gradients, const Variables& of, const char* method) {
  bool fits = gradients.size() == of.size();
  for (std::size_t i = 0; fits && i < of.size(); ++i)
    fits = gradients[i].is_disconnected() ||
           (as_tensor(gradients[i].type()) && as_tensor(of[i].type()) && gradients[i].ndim() == of[i].ndim());
  if (!fits) throw TypeError(cat(method, ": expected ", of.size(), " variables of the ranks of the node's"));
}

nb::object op_pullback(nb::handle self, nb::handle, nb::handle outputs, nb::handle given) {
  const Op& op = library_op(self, "pullback");
  const Apply node = node_of(op, given_variables(outputs, "outputs"), "pullback");
  const Variables cotangents = given_variables(given, "cotangents");
  require_gradients(cotangents, node.outputs(), "pullback");
  return nb::cast(op.pullback(node, cotangents));
}

nb::object op_pushforward(nb::handle self, nb::handle, nb::handle outputs, nb::handle given) {
  const Op& op = library_op(self, "pushforward");
  const Apply node = node_of(op, given_variables(outputs, "outputs"), "pushforward");
  const Variables tangents = given_variables(given, "tangents");
  require_gradients(tangents, node.inputs(), "pushforward");
  return nb::cast(op.pushforward(node, tangents));
}

void op_perform(nb::handle self, const ApplyObject& node, nb::list inputs, nb::list storage) {
  const Op& op = library_op(self, "perform");
  if (!op.equals(node.apply.op()) || nb::len(storage) != node.apply.output_count())
    throw ValueError("perform: the op or the storage does not fit the node");
  nb::list results = perform_node(node.apply, inputs);
  for (std::size_t k = 0; k < nb::len(results); ++k)
    if (PyList_SetItem(nb::object(storage[k]).ptr(), 0, nb::object(results[k]).release().ptr()) < 0)
      nb::raise_python_error();
}

nb::object op_infer_shape(nb::handle self, nb::handle, const ApplyObject& of, nb::handle shapes) {
  const Op& op = library_op(self, "infer_shape");
  const Apply& node = require_own(op, of.apply, "infer_shape");
  std::vector<Shape> given;
  for (nb::handle shape : shapes) given.push_back(shape.is_none() ? Shape() : as_lengths(shape, "infer_shape"));
  bool fits = given.size() == node.inputs().size();
  for (std::size_t i = 0; fits && i < given.size(); ++i)
    fits = !as_tensor(node.input(int(i)).type()) || int(given[i].size()) == node.input(int(i)).ndim();
  if (!fits) throw ValueError("infer_shape: expected a shape per input, with a length per dimension");
  nb::list out;
  for (auto& shape : op.infer_shape(node, given)) out.append(nb::tuple(nb::cast(shape)));
  return out;
}

nb::object op_vectorize(nb::handle self, const ApplyObject& of, nb::args given) {
  const Op& op = library_op(self, "vectorize");
  const Apply& node = require_own(op, of.apply, "vectorize");
  const Variables batched = as_variables(given, "vectorize");
  int rank = 0;
  bool fits = batched.size() == node.inputs().size();
  for (std::size_t i = 0; fits && i < batched.size(); ++i) {
    const int extra = batched[i].ndim() - node.input(int(i)).ndim();
    fits = batched[i].dtype() == node.input(int(i)).dtype() && extra >= 0 && (!extra || !rank || extra == rank);
    rank = std::max(rank, extra);
  }
  if (!fits || !rank)
    throw TypeError("vectorize: expected the node's inputs, some of them with the same number of batch dimensions");
  return wrap(op.vectorize(node, batched));
}

// Nodes never change, so a copy is the same node; in another process it is created anew. A deep copy is another node
// where it reads shared variables, whose copies are others.
template <class Class>
void bind_copies(Class cls, Hook reduce, Hook deepcopy) {
  cls.def("__copy__", [](nb::handle self) { return nb::borrow(self); });
  cls.def(
      "__deepcopy__", [deepcopy](nb::handle self, nb::handle memo) { return hook(deepcopy)(self, memo); }, "memo"_a);
  cls.def(
      "__reduce__", [reduce](nb::handle self) { return hook(reduce)(self); },
      nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"));
}

// Ops of the library never change either; an op written in Python may change between its construction and its first
// node.
void bind_op_copies(nb::class_<OpObject> cls) {
  const auto is_python = [](nb::handle self) { return !op_object(self).op; };
  cls.def("__copy__", [=](nb::handle self) { return is_python(self) ? hook("copy_op")(self) : nb::borrow(self); });
  cls.def(
      "__deepcopy__",
      [=](nb::handle self, nb::handle memo) {
        return is_python(self) ? hook("deepcopy_op")(self, memo) : nb::borrow(self);
      },
      "memo"_a);
  cls.def(
      "__reduce__",
      [=](nb::handle self) { return hook(is_python(self) ? Hook("reduce_python_op") : Hook("reduce_op"))(self); },
      nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"));
}

void bind_variable(nb::module_& m) {
  nb::class_<VariableObject>(m, "Variable",
                             "A value at one point of a computation: a leaf, or an output of an Apply node.")
      .def_static("__new__", new_variable, "cls"_a, "type"_a, "owner"_a.none() = nb::none(),
                  "index"_a.none() = nb::none(), "name"_a = nb::none(),
                  nb::sig("def __new__(cls, type: Type, owner: None = None, index: int | None = None, name: str | None "
                          "= None) -> typing.Self"))
      .def(
          "__init__", [](nb::handle, nb::args, nb::kwargs) {}, "args"_a, "kwargs"_a,
          nb::sig("def __init__(self, type: Type, owner: None = None, index: int | None = None, name: str | None = "
                  "None) -> None"))
      .def_prop_ro("type", [](const VariableObject& self) { return self.variable.type(); })
      .def_prop_ro(
          "owner", [](const VariableObject& self) { return self.variable.owner(); },
          nb::sig("def owner(self) -> Apply | None"), "The Apply node that computes it; None for a leaf.")
      .def_prop_ro(
          "index",
          [](const VariableObject& self) -> std::optional<int> {
            if (!self.variable.has_owner()) return {};
            return self.variable.index();
          },
          "owner.outputs[index] is this variable.")
      .def_prop_ro(
          "owner_op",
          [](const VariableObject& self) {
            return self.variable.has_owner() ? nb::object(wrap(self.variable.owner()).attr("op")) : nb::none();
          },
          nb::sig("def owner_op(self) -> Op | None"), "The op of its owner; None for a leaf.")
      .def_prop_ro(
          "owner_op_and_inputs",
          [](const VariableObject& self) {
            nb::list parts;
            if (self.variable.has_owner()) {
              const nb::object owner = wrap(self.variable.owner());
              parts.append(owner.attr("op"));
              for (nb::handle input : owner.attr("inputs")) parts.append(input);
            } else {
              parts.append(nb::none());
            }
            return nb::tuple(parts);
          },
          nb::sig("def owner_op_and_inputs(self) -> tuple[typing.Any, ...]"),
          "The op of its owner and its inputs, for match statements; (None,) for a leaf.")
      .def_prop_ro(
          "auto_name",
          [](nb::handle self) {
            static std::atomic<std::size_t> count{0};
            nb::object tag = self.attr("tag");
            if (!nb::hasattr(tag, "auto_name")) tag.attr("auto_name") = nb::cast(cat("auto_", count++));
            return nb::object(tag.attr("auto_name"));
          },
          nb::sig("def auto_name(self) -> str"), "A name that no other variable has, made when it is first asked for.")
      .def_prop_rw("name", name_of, set_name, nb::for_setter(nb::arg().none()))
      .def(
          "clone",
          [](const VariableObject& self, const std::optional<std::string>& name) {
            if (self.variable.is_constant() && !name) return self.variable;
            Variable copy(self.variable.type(), name.value_or(self.variable.name()));
            copy.node()->leaf = self.variable.node()->leaf;
            return copy;
          },
          "name"_a = nb::none(),
          "A new leaf of the same type: of a shared variable, another one with the same container; a constant itself.")
      .def_prop_ro(
          "where", [](const VariableObject& self) { return self.variable.where().str(); }, "The line that built it.")
      .def("__repr__", [](const VariableObject& self) {
        std::string text = text_of(self.variable);
        if (config::get_bool("print_test_value"))
          if (const auto value = test_value(self.variable)) text += cat("\n", value->repr());
        return text;
      });
  nb::class_<RandomVariableObject, VariableObject>(
      m, "RandomGeneratorVariable", "A symbolic random generator: its methods draw, and give the next one.");
  nb::class_<TensorVariableObject, VariableObject> tensor(m, "TensorVariable", "A symbolic array.");
  tensor
      .def(nb::new_([](const Type& type, Any owner, Any index, const std::optional<std::string>& name) {
             if (!owner.is_none() || !index.is_none())
               throw TypeError("TensorVariable: the outputs of a node are made with it: node.outputs");
             if (!as_tensor(type)) throw TypeError(cat("TensorVariable: expected a TensorType, got ", type->str()));
             return wrap(Variable(type, name.value_or("")));
           }),
           "type"_a, "owner"_a = nb::none(), "index"_a = nb::none(), "name"_a = nb::none())
      .def_prop_ro(
          "type", [](const TensorVariableObject& self) { return self.variable.type(); },
          nb::sig("def type(self) -> TensorType"))
      .def_prop_ro("dtype",
                   [](const TensorVariableObject& self) { return std::string(dtype_name(self.variable.dtype())); })
      .def_prop_ro("ndim", [](const TensorVariableObject& self) { return self.variable.ndim(); })
      .def_prop_ro(
          "broadcastable",
          [](const TensorVariableObject& self) { return wrap(self.variable.type()).attr("broadcastable"); },
          nb::sig("def broadcastable(self) -> tuple[bool, ...]"))
      .def_prop_ro_static("__array_priority__", [](nb::handle) { return 1000; });
  define_in_python(tensor, "__array__", "array",
                   "def __array__(self, dtype: typing.Any = None, copy: bool | None = None) -> numpy.ndarray",
                   "The value of a constant; TypeError for other variables.");
  define_in_python(
      tensor, "__array_ufunc__", "array_ufunc",
      "def __array_ufunc__(self, ufunc: typing.Any, method: str, *inputs: typing.Any, **keywords: typing.Any) "
      "-> typing.Any",
      "What NumPy's elementwise functions give of variables: the function of bitale.tensor, or a TypeError.");
  define_in_python(tensor, "__array_function__", "array_function",
                   "def __array_function__(self, func: typing.Any, types: typing.Any, args: typing.Any, keywords: "
                   "typing.Any) -> typing.Any",
                   "What NumPy's other functions give of variables: the function of bitale.tensor, or a TypeError.");
  nb::class_<TensorConstantObject, TensorVariableObject>(m, "TensorConstant",
                                                         "A variable whose value is known and never changes.")
      .def(nb::new_([](const Type& type, Any data, const std::optional<std::string>& name) {
             return wrap(constant_of(type, value_from(*type, data), name.value_or("")));
           }),
           "type"_a, "data"_a, "name"_a = nb::none())
      .def_prop_ro(
          "data", [](const TensorConstantObject& self) { return to_numpy(self.variable.constant()->read_only()); },
          nb::sig("def data(self) -> numpy.typing.NDArray[typing.Any]"), "The value: a read-only array.");
  m.attr("Constant") = m.attr("TensorConstant");
  for (auto* name : {"Variable", "TensorVariable", "TensorConstant", "Constant"}) export_name(m, name);
}

void bind_apply(nb::module_& m) {
  nb::class_<ApplyObject>(m, "Apply", "The application of an Op to inputs.")
      .def(nb::new_([](Any op, Any inputs, Any outputs) {
             const AtCaller here;
             return node_of_python_op(op, inputs, outputs);
           }),
           "op"_a, "inputs"_a, "outputs"_a,
           "For make_node of an op written in Python. The node's outputs are variables of its own, with the types and "
           "names of those given.")
      .def_prop_ro("op", [](const ApplyObject& self) { return self.apply.op_ref(); })
      .def_prop_ro("inputs", [](const ApplyObject& self) { return self.apply.inputs(); })
      .def_prop_ro("outputs", [](const ApplyObject& self) { return self.apply.outputs(); })
      .def_prop_ro("nin", [](const ApplyObject& self) { return self.apply.inputs().size(); })
      .def_prop_ro("nout", [](const ApplyObject& self) { return self.apply.output_count(); })
      .def_prop_ro(
          "out",
          [](const ApplyObject& self) {
            if (self.apply.output_count() != 1)
              throw ValueError(cat(self.apply.op().label(), " has ", self.apply.output_count(), " outputs"));
            return self.apply.output();
          },
          "The only output.")
      .def(
          "default_output", [](const ApplyObject& self) { return self.apply.output(); }, "The first output.")
      .def(
          "clone", [](const ApplyObject& self) { return self.apply.with_inputs(self.apply.inputs()); },
          nb::call_guard<AtCaller>(), "A new node of the same op and inputs.")
      .def(
          "clone_with_new_inputs",
          [](const ApplyObject& self, Any inputs, bool) {
            return self.apply.with_inputs(as_variables(inputs, "clone_with_new_inputs"));
          },
          "inputs"_a, "strict"_a = true, nb::call_guard<AtCaller>(), "The same op on other inputs.")
      .def_prop_ro(
          "where", [](const ApplyObject& self) { return self.apply.provenance().where.str(); },
          "The line that built it.")
      .def_prop_ro(
          "rule",
          [](const ApplyObject& self) -> std::optional<std::string> {
            if (!self.apply.provenance().rule) return {};
            return self.apply.provenance().rule;
          },
          "The rewrite that made it, or None.")
      .def("__repr__", [](const ApplyObject& self) {
        std::vector<std::string> inputs;
        for (auto& input : self.apply.inputs()) inputs.push_back(text_of(input));
        return cat(self.apply.op().label(), "(", join(inputs, ", "), ")");
      });
}

void bind_op(nb::module_& m) {
  nb::class_<OpObject>(
      m, "Op",
      "The definition of an operation. A subclass says what nodes it makes (make_node, or itypes and otypes) and what "
      "they compute: `perform`, in NumPy, or `emit`, a formula over other ops that is compiled. `__props__` names the "
      "attributes that tell its ops apart: ops of one class are equal when these are; without it an op equals itself "
      "only. See docs/extending.md.")
      .def_static("__new__", new_op, "cls"_a, "args"_a, "kwargs"_a,
                  nb::sig("def __new__(cls, *args: typing.Any, **kwargs: typing.Any) -> typing.Self"))
      .def("__init__", init_op, "args"_a, "kwargs"_a, nb::sig("def __init__(self) -> None"))
      .def_prop_rw("name", op_name, set_op_name, nb::for_getter(nb::sig("def name(self) -> str")),
                   nb::for_setter(nb::sig("def name(self, value: str, /) -> None")),
                   "How it is shown, unless __str__ says otherwise.")
      .def_prop_ro(
          "__props__", [](const OpObject& self) { return self.op ? properties(*self.op) : nb::dict(); },
          nb::for_getter(nb::sig("def __props__(self) -> typing.Any")),
          "The attributes by name; a subclass has a tuple of names instead of it.")
      .def("make_node", make_node, "inputs"_a, nb::call_guard<AtCaller>(),
           nb::sig("def make_node(self, *inputs: typing.Any, **kwargs: typing.Any) -> Apply"),
           "The Apply node of this op on the inputs. TypeError or ValueError for inputs that do not fit.")
      .def("__call__", call_op, "inputs"_a, "kwargs"_a, nb::call_guard<AtCaller>(),
           nb::sig("def __call__(self, *inputs: typing.Any, **kwargs: typing.Any) -> typing.Any"),
           "The output of the op on the inputs, or a list of several. name: of the first output; return_list: a list "
           "always; other keywords go to make_node.")
      .def("perform", op_perform, "node"_a, "inputs"_a, "output_storage"_a,
           nb::sig("def perform(self, node: Apply, inputs: collections.abc.Sequence[numpy.typing.NDArray[typing.Any]], "
                   "output_storage: list[list[typing.Any]]) -> None"),
           "Computes the outputs of a node: output k is stored as output_storage[k][0], an array of the output's type.")
      .def(
          "prepare_node", [](nb::handle, nb::handle, nb::handle, nb::handle, nb::handle) {}, "node"_a, "storage_map"_a,
          "compute_map"_a, "impl"_a.none(),
          nb::sig("def prepare_node(self, node: Apply, storage_map: dict[Variable, list[typing.Any]], compute_map: "
                  "dict[Variable, list[bool]], impl: str | None) -> None"),
          "Called before a thunk is made for a node: a subclass may make ready what its perform needs.")
      .def(
          "make_thunk",
          [](nb::handle self, nb::args given, nb::kwargs named) {
            return hook("op_make_thunk")(self, *given, **named);
          },
          "given"_a, "named"_a,
          nb::sig("def make_thunk(self, node: Apply, storage_map: dict[Variable, list[typing.Any]], compute_map: "
                  "dict[Variable, list[bool]], no_recycling: collections.abc.Sequence[Variable], impl: str | None = "
                  "None) -> typing.Any"),
          "A function without arguments that computes the node from the cells of its inputs into those of its outputs. "
          "A subclass may return one of its own, which its nodes then run.")
      .def(
          "make_py_thunk",
          [](nb::handle self, nb::args given, nb::kwargs named) {
            return hook("op_make_py_thunk")(self, *given, **named);
          },
          "given"_a, "named"_a,
          nb::sig("def make_py_thunk(self, node: Apply, storage_map: dict[Variable, list[typing.Any]], compute_map: "
                  "dict[Variable, list[bool]], no_recycling: collections.abc.Sequence[Variable], debug: bool = False) "
                  "-> typing.Any"),
          "The thunk that calls perform.")
      .def("infer_shape", op_infer_shape, "fgraph"_a.none(), "node"_a, "input_shapes"_a,
           nb::sig("def infer_shape(self, fgraph: typing.Any, node: Apply, input_shapes: "
                   "collections.abc.Sequence[typing.Any]) -> typing.Any"),
           "The lengths of each output, as expressions of those of the inputs. fgraph is None.")
      .def("pullback", op_pullback, "inputs"_a, "outputs"_a, "cotangents"_a,
           nb::sig("def pullback(self, inputs: collections.abc.Sequence[Variable], outputs: "
                   "collections.abc.Sequence[Variable], cotangents: collections.abc.Sequence[Variable]) -> "
                   "collections.abc.Sequence[Variable]"),
           "One cotangent per input, given one per output. Older names: L_op, and grad(inputs, output_grads).")
      .def("pushforward", op_pushforward, "inputs"_a, "outputs"_a, "tangents"_a,
           nb::sig("def pushforward(self, inputs: collections.abc.Sequence[Variable], outputs: "
                   "collections.abc.Sequence[Variable], tangents: collections.abc.Sequence[Variable]) -> "
                   "collections.abc.Sequence[Variable]"),
           "One tangent per output, given one per input. Older name: R_op(inputs, eval_points).")
      .def("vectorize", op_vectorize, "node"_a, "batched_inputs"_a,
           nb::sig("def vectorize(self, node: Apply, *batched_inputs: Variable) -> Apply"),
           "The node of the same operation where inputs have gained leading batch dimensions.")
      .def(
          "connection_pattern",
          [](nb::handle self, const ApplyObject& node) {
            const Op& op = library_op(self, "connection_pattern");
            return op.connection_pattern(require_own(op, node.apply, "connection_pattern"));
          },
          "node"_a, "Per input, per output: whether the output depends on it differentiably.")
      .def(
          "do_constant_folding",
          [](nb::handle self, nb::handle, const ApplyObject& node) {
            const Op& op = library_op(self, "do_constant_folding");
            return op.may_fold(require_own(op, node.apply, "do_constant_folding"));
          },
          "fgraph"_a.none(), "node"_a, "Whether a node of constants may be computed when a function is compiled.")
      .def("__getattr__", op_attribute, nb::sig("def __getattr__(self, name: str, /) -> typing.Any"))
      .def("__eq__", ops_equal, nb::arg().none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__",
           [](nb::handle self) {
             const auto& known = op_object(self);
             return known.op ? Py_hash_t(known.op->hash() & 0x7FFFFFFFFFFFFFFF) : python_op_hash(self);
           })
      .def("__repr__", [](nb::handle self) {
        const auto& known = op_object(self);
        return known.op ? known.op->label() : python_op_label(self);
      });
  export_name(m, "Op");
}

// One variable, several or those of a tree, from Python.
Variables one_or_several(nb::handle object) {
  if (is_variable(object)) return {variable_of(object)};
  if (!is_tree(object)) return as_variables(object, "graph");
  Leaves leaves;
  Tree::of(object, leaves);
  Variables out;
  for (std::size_t i = 0; i < leaves.size(); ++i) out.push_back(as_variable(leaves[i]));
  return out;
}

Any like_given(nb::handle given, const Variables& results) {
  if (is_variable(given)) return wrap(results[0]);
  if (!is_tree(given)) return nb::cast(results);
  Leaves leaves;
  return Tree::of(given, leaves).build([&](std::size_t i) { return wrap(results[i]); });
}

VariableSet as_set(nb::handle object) {
  VariableSet out;
  if (!object.is_none())
    for (auto& v : one_or_several(object)) out.insert(v);
  return out;
}

void bind_walks(nb::module_& m) {
  m.def(
      "ancestors", [](Any graphs, Any blockers) { return ancestors(one_or_several(graphs), as_set(blockers)); },
      "graphs"_a, "blockers"_a = nb::none());
  m.def(
      "graph_inputs", [](Any graphs, Any blockers) { return graph_inputs(one_or_several(graphs), as_set(blockers)); },
      "graphs"_a, "blockers"_a = nb::none());
  m.def(
      "closed",
      [](Any outputs, Any own) {
        Captured captured = closed(one_or_several(outputs), as_variables(own, "closed: own"));
        return std::tuple(std::move(captured.outputs), std::move(captured.leaves), std::move(captured.values));
      },
      "outputs"_a, "own"_a,
      "The outputs as expressions of `own` and of leaves that stand for what they read of the surrounding graph; the "
      "leaves; and these values.");
  m.def(
      "explicit_graph_inputs", [](Any graphs) { return explicit_graph_inputs(one_or_several(graphs)); }, "graph"_a);
  m.def(
      "toposort", [](Any graphs, Any blockers) { return toposort(one_or_several(graphs), as_set(blockers)); },
      "graphs"_a, "blockers"_a = nb::none());
  m.def(
      "variable_depends_on",
      [](Any variable, Any depends_on_any) {
        return depends_on(one_or_several(variable).at(0), one_or_several(depends_on_any));
      },
      "variable"_a, "depends_on"_a);
  m.def(
      "node_count", [](Any graphs) { return node_count(one_or_several(graphs)); }, "graphs"_a);
  m.def(
      "equal_computations",
      [](Any xs, Any ys, Any in_xs, Any in_ys) {
        return equal_computations(one_or_several(xs), one_or_several(ys),
                                  in_xs.is_none() ? Variables{} : one_or_several(in_xs),
                                  in_ys.is_none() ? Variables{} : one_or_several(in_ys));
      },
      "xs"_a, "ys"_a, "in_xs"_a = nb::none(), "in_ys"_a = nb::none());
  m.def(
      "clone",
      [](Any outputs, bool copy_leaves) {
        VariableMap memo;
        return like_given(outputs,
                          clone(one_or_several(outputs), memo, copy_leaves ? ClonedLeaves::Copy : ClonedLeaves::Keep));
      },
      "outputs"_a, "copy_leaves"_a = false,
      nb::sig("def clone(outputs: typing.Any, copy_leaves: bool = False) -> typing.Any"),
      "A copy of the graph, on the same leaves unless copy_leaves.");
  m.def(
      "graph_replace",
      [](Any outputs, Any replace, bool strict) {
        const Variables graph = one_or_several(outputs);
        return like_given(outputs, graph_replace(graph, as_replacements(replace, "replace", graph), Strict(strict)));
      },
      "outputs"_a, "replace"_a = nb::none(), "strict"_a = true, nb::call_guard<AtCaller>(),
      nb::sig("def graph_replace(outputs: typing.Any, replace: typing.Any = None, strict: bool = True) -> typing.Any"));
  m.def(
      "clone_replace",
      [](Any output, Any replace, bool, bool copy_inputs_over, Any) {
        const Variables copies = clone_replace(one_or_several(output), as_replacements(replace, "replace"));
        VariableMap memo;
        return like_given(output, copy_inputs_over ? copies : clone(copies, memo, ClonedLeaves::Copy));
      },
      "output"_a, "replace"_a = nb::none(), "rebuild_strict"_a = true, "copy_inputs_over"_a = true,
      "clone_inner_graphs"_a = nb::none(), nb::call_guard<AtCaller>(),
      nb::sig("def clone_replace(output: typing.Any, replace: typing.Any = None, rebuild_strict: bool = True, "
              "copy_inputs_over: bool = True, clone_inner_graphs: bool | None = None) -> typing.Any"),
      R"(>>> x, y = pt.dscalars("x", "y")
>>> bt.printing.pprint(bt.clone_replace(pt.exp(x) + 1, {x: 2 * y}))
'exp(2 * y) + 1')");
}

}  // namespace

void bind_graph(nb::module_& m) {
  bind_op(m);
  bind_apply(m);
  bind_variable(m);
  bind_copies(nb::borrow<nb::class_<VariableObject>>(m.attr("Variable")), "reduce_variable", "deepcopy_variable");
  bind_copies(nb::borrow<nb::class_<ApplyObject>>(m.attr("Apply")), "reduce_apply", "deepcopy_apply");
  bind_op_copies(nb::borrow<nb::class_<OpObject>>(m.attr("Op")));
  bind_op_attributes(m);
  bind_walks(m);
}

}  // namespace bitale::python
