// Types, and the predefined ones that create variables: dvector("x"), matrix("X", dtype="float32"), lscalars("i", "j").
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <array>
#include <string>
#include <utility>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/random_type.hpp"
#include "define.hpp"
#include "deprecated.hpp"
#include "hooks.hpp"
#include "instance.hpp"
#include "numpy_bridge.hpp"
#include "python_op.hpp"
#include "values.hpp"

namespace bitale::python {

namespace {

const TensorType& tensor_type_of(const TypeObject& object) { return *as_tensor(object.type); }

Variable make_variable(const Type& type, const std::optional<std::string>& name) {
  return Variable(type, name.value_or(""));
}

nb::tuple broadcastable(const TensorType& type) {
  nb::list flags;
  for (int axis = 0; axis < type.ndim(); ++axis) flags.append(type.broadcasts(axis));
  return nb::tuple(flags);
}

// Converts any value of the type's kind to one that the type accepts.
Any filter_value(const TypeObject& self, Any value, bool strict, std::optional<bool> allow_downcast) {
  const Downcast downcast = !allow_downcast   ? Downcast::FloatLiteral
                            : *allow_downcast ? Downcast::Always
                                              : Downcast::Never;
  const TensorType& type = tensor_type_of(self);
  if (strict && !is_ndarray(value)) throw TypeError(cat("strict: expected an array of ", type.str()));
  Array array = value_for(type, value, downcast);
  return to_numpy(filter(type, array, Strict(strict), downcast == Downcast::Always ? downcast : Downcast::Never));
}

Downcast downcast_of(std::optional<bool> allow) {
  return !allow ? Downcast::FloatLiteral : *allow ? Downcast::Always : Downcast::Never;
}

const TypeObject& type_object(nb::handle self) {
  if (auto* object = instance_of<TypeObject>(self)) return *object;
  throw TypeError(cat("expected an instance of Type, got ", shown(self)));
}

// For any type of the library. A type written in Python has its own method.
Any filter_any(nb::handle self, Any value, bool strict, std::optional<bool> allow_downcast) {
  const TypeObject& object = type_object(self);
  if (!object.type)
    throw NotImplementedError(
        cat(nb::type_name(self.type()).c_str(),
            " has no `filter`: define filter(self, data, strict=False, allow_downcast=None), which "
            "gives the value or raises TypeError"));
  return value_object(*object.type, value_from(*object.type, value, downcast_of(allow_downcast), strict));
}

bool is_valid_value(nb::handle self, Any value) {
  try {
    self.attr("filter")(value, true);
    return true;
  } catch (nb::python_error& error) {
    if (error.matches(PyExc_TypeError) || error.matches(PyExc_ValueError)) return false;
    throw;
  }
}

bool values_eq(nb::handle self, Any a, Any b, bool approximately) {
  const TypeObject& object = type_object(self);
  if (!object.type) {
    const int same = PyObject_RichCompareBool(a.ptr(), b.ptr(), Py_EQ);
    if (same < 0) nb::raise_python_error();
    return same;
  }
  const Array x = value_from(*object.type, a), y = value_from(*object.type, b);
  return approximately ? object.type->values_eq_approx(x, y) : object.type->values_eq(x, y);
}

// Creates the object of a subclass written in Python; the library's own classes create theirs in __init__.
nb::object new_type(nb::handle cls, nb::args, nb::kwargs) {
  if (!PyType_Check(cls.ptr()) || !PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(cls.ptr()),
                                                    reinterpret_cast<PyTypeObject*>(nb::type<TypeObject>().ptr())))
    throw TypeError(cat("Type.__new__: expected a subclass of Type, got ", shown(cls)));
  if (cls.is(nb::type<TypeObject>())) throw TypeError("Type: expected a subclass that defines its values");
  nb::object object = nb::inst_alloc(cls);
  for (nb::handle own : {nb::type<TensorTypeObject>(), nb::type<DisconnectedTypeObject>(), nb::type<RandomTypeObject>(),
                         nb::type<NullTypeObject>()})
    if (PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(cls.ptr()), reinterpret_cast<PyTypeObject*>(own.ptr())))
      return object;
  new (nb::inst_ptr<TypeObject>(object)) TypeObject{};
  nb::inst_mark_ready(object);
  return object;
}

// Python types are equal when their classes and __props__ are; without __props__, a type equals only itself.
bool types_equal(nb::handle self, nb::handle other) {
  auto *a = instance_of<TypeObject>(self), *b = instance_of<TypeObject>(other);
  if (!a || !b) return false;
  if (!a->type && !b->type) return python_ops_equal(self, other);
  return a->type && b->type && a->type->equals(*b->type);
}

// A tensor type with more known lengths.
Type with_shape(const Type& type, nb::handle shape) {
  const TensorType* tensor = as_tensor(type);
  if (!tensor) throw TypeError(cat("shape: ", type->str(), " has none"));
  Type made = tensor_type(tensor->dtype, as_static_shape(shape));
  if (!type->is_super(*made)) throw ValueError(cat("the shape ", shown(shape), " contradicts the type ", type->str()));
  return made;
}

struct Kind {
  const char* name;
  const char* plural;
  Dims shape;
};

const std::array<Kind, 10>& kinds() {
  constexpr auto u = unknown_length;
  static const auto& table = *new std::array<Kind, 10>{{{"scalar", "scalars", {}},
                                                        {"vector", "vectors", {u}},
                                                        {"matrix", "matrices", {u, u}},
                                                        {"row", "rows", {1, u}},
                                                        {"col", "cols", {u, 1}},
                                                        {"tensor3", "tensor3s", {u, u, u}},
                                                        {"tensor4", "tensor4s", {u, u, u, u}},
                                                        {"tensor5", "tensor5s", {u, u, u, u, u}},
                                                        {"tensor6", "tensor6s", {u, u, u, u, u, u}},
                                                        {"tensor7", "tensor7s", {u, u, u, u, u, u, u}}}};
  return table;
}

constexpr std::string_view plural_prefixes = "ilfd";

Dims shape_or(const Kind& kind, nb::handle shape) {
  if (shape.is_none()) return kind.shape;
  Dims given = as_static_shape(shape);
  if (given.size() != kind.shape.size())
    throw ValueError(cat(kind.name, ": a shape of ", kind.shape.size(), " lengths is expected, got ", given.size()));
  return given;
}

// Creates several variables: by name, or that many without names. A single text or list stands for its elements: the
// names "x", "y" and "z" may be given as "xyz".
Any make_several(const Type& type, nb::args given) {
  nb::list made;
  nb::object names = nb::borrow(given);
  if (given.size() == 1 &&
      (PyUnicode_Check(given[0].ptr()) || PyList_Check(given[0].ptr()) || PyTuple_Check(given[0].ptr())))
    names = given[0];
  for (nb::handle name : names) {
    if (is_integer_object(name))
      for (int i = 0; i < *as_optional_int(name, "number of variables"); ++i) made.append(Variable(type));
    else if (PyUnicode_Check(name.ptr()))
      made.append(Variable(type, nb::cast<std::string>(name)));
    else
      throw TypeError(cat("expected names of variables, got ", shown(name)));
  }
  if (made.size() == 1) return nb::object(made[0]);
  return nb::object(made);
}

void bind_float_x_kind(nb::module_& m, const Kind& kind) {
  const auto shown = [&kind](DType dtype) { return tensor_type(dtype, kind.shape)->str(); };
  const std::string doc = cat("A variable of type ", kind.name, ". dtype: config.floatX by default.\n\n>>> x = pt.",
                              kind.name, "(\"x\", dtype=\"float32\")\n>>> x.type\n", shown(DType::Float32));
  define(
      m, kind.name,
      [&kind](const std::optional<std::string>& name, const DTypeLike& dtype, Any shape) {
        const DType element = dtype.is_none() ? config::float_x() : dtype_from(dtype);
        return make_variable(tensor_type(element, shape_or(kind, shape)), name);
      },
      "name"_a = nb::none(), nb::kw_only(), "dtype"_a = nb::none(), "shape"_a = nb::none(), doc.c_str());
  define(
      m, kind.plural,
      [&kind](nb::args names) { return make_several(tensor_type(config::float_x(), kind.shape), names); },
      cat("Several variables of type ", kind.name, ", by name.\n\n>>> x, y = pt.", kind.plural,
          "(\"x\", \"y\")\n>>> x.type\n", shown(DType::Float64))
          .c_str());
}

void bind_fixed_kind(nb::module_& m, const Kind& kind, char prefix, DType dtype) {
  const std::string name = std::string(1, prefix) + kind.name;
  const Type type = tensor_type(dtype, kind.shape);
  m.attr(name.c_str()) = wrap_for_ever(type);
  export_name(m, name.c_str());
  if (plural_prefixes.find(prefix) == std::string_view::npos) return;
  define(
      m, (std::string(1, prefix) + kind.plural).c_str(), [type](nb::args names) { return make_several(type, names); },
      cat("Several variables of type ", name, ", by name.\n\n>>> x, y = pt.", prefix, kind.plural,
          "(\"x\", \"y\")\n>>> x.type\n", type->str())
          .c_str());
}

}  // namespace

void bind_types(nb::module_& m) {
  nb::class_<TypeObject>(
      m, "Type",
      "What kind of value a variable stands for. A subclass says what its values are: `filter` gives a value or raises "
      "TypeError; values_eq_approx tells whether two are the same. `__props__` names the attributes that tell its "
      "types "
      "apart: types of one class are equal when these are. See docs/extending.md.")
      .def_static("__new__", new_type, "cls"_a, "args"_a, "kwargs"_a,
                  nb::sig("def __new__(cls, *args: typing.Any, **kwargs: typing.Any) -> typing.Self"))
      .def(
          "__init__",
          [](nb::handle self, nb::args given, nb::kwargs keywords) {
            if (given.size() || nb::len(keywords))
              throw TypeError(cat(nb::type_name(self.type()).c_str(), "() takes no arguments: it defines no __init__"));
          },
          "args"_a, "kwargs"_a, nb::sig("def __init__(self) -> None"))
      .def(
          "__call__",
          [](const Type& self, const Any& name, Any shape) {
            if (!name.is_none() && !PyUnicode_Check(name.ptr()))
              throw TypeError(
                  cat("expected a name, which is a string, got ", shown(name),
                      ": a type makes variables without values. A length goes into shape=(3,), a value into "
                      "bitale.shared(value) or pt.constant(value)"));
            return make_variable(shape.is_none() ? self : with_shape(self, shape),
                                 nb::cast<std::optional<std::string>>(name));
          },
          "name"_a = nb::none(), "shape"_a = nb::none(), nb::call_guard<AtCaller>(),
          nb::sig("def __call__(self, name: str | None = None, shape: typing.Any | None = None) -> TensorVariable"),
          "A new variable of this type. shape: static lengths where the type has none; ValueError for others.")
      .def(
          "make_variable",
          [](const Type& self, const std::optional<std::string>& name) { return make_variable(self, name); },
          "name"_a = nb::none(), nb::call_guard<AtCaller>(), "A new variable of this type.")
      .def(
          "make_constant",
          [](const Type& self, Any value, const std::optional<std::string>& name) {
            return constant_of(self, value_from(*self, value), name.value_or(""));
          },
          "value"_a.none(), "name"_a = nb::none(), nb::call_guard<AtCaller>(), "A constant of this type.")
      .def("filter", filter_any, "data"_a.none(), "strict"_a = false, "allow_downcast"_a = nb::none(),
           nb::sig("def filter(self, data: typing.Any, strict: bool = False, allow_downcast: bool | None = None) -> "
                   "typing.Any"),
           "The value as one of this type; TypeError for a value of another.")
      .def("is_valid_value", is_valid_value, "data"_a.none(),
           nb::sig("def is_valid_value(self, data: typing.Any) -> bool"),
           "Whether the value is one of this type as it is.")
      .def(
          "values_eq", [](nb::handle self, Any a, Any b) { return values_eq(self, a, b, false); }, "a"_a.none(),
          "b"_a.none(), nb::sig("def values_eq(self, a: typing.Any, b: typing.Any) -> bool"),
          "Whether two values are the same.")
      .def(
          "values_eq_approx",
          [](nb::handle self, Any a, Any b) {
            const TypeObject& object = type_object(self);
            if (!object.type) return nb::cast<bool>(self.attr("values_eq")(a, b));
            return values_eq(self, a, b, true);
          },
          "a"_a.none(), "b"_a.none(), nb::sig("def values_eq_approx(self, a: typing.Any, b: typing.Any) -> bool"),
          "Whether two values are the same, up to rounding.")
      .def(
          "is_super", [](const Type& self, const Type& other) { return self->is_super(*other); }, "other"_a,
          "Whether every value of `other` is a value of this type.")
      .def("__eq__", types_equal, nb::arg().none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__",
           [](nb::handle self) -> Py_ssize_t {
             const TypeObject& object = type_object(self);
             return object.type ? Py_ssize_t(std::hash<std::string>{}(object.type->str())) : python_op_hash(self);
           })
      .def(
          "__reduce__", [](nb::handle self) { return hook("reduce_type")(nb::borrow(self)); },
          nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"))
      .def("__repr__", [](nb::handle self) {
        const TypeObject& object = type_object(self);
        return object.type ? object.type->str() : python_op_label(self);
      });

  nb::class_<RandomTypeObject, TypeObject>(
      m, "RandomGeneratorType",
      "States of a random generator: in Python, a numpy.random.Generator. bit_generator: PCG64, "
      "Philox, SFC64 or MT19937.")
      .def(
          "__init__",
          [](RandomTypeObject* self, const std::string& bit_generator) {
            new (self) RandomTypeObject{{random_type(parse_bit_generator(bit_generator))}};
          },
          "bit_generator"_a = "PCG64")
      .def_prop_ro(
          "bit_generator",
          [](const RandomTypeObject& self) { return std::string(bit_generator_name(as_random(self.type)->generator)); })
      .def("__reduce__", [](nb::handle self) {
        return nb::make_tuple(nb::type<RandomTypeObject>(), nb::make_tuple(self.attr("bit_generator")));
      });
  nb::class_<DisconnectedTypeObject, TypeObject>(
      m, "DisconnectedType", "Of what a pullback answers for an input that its outputs do not depend on.")
      .def("__init__",
           [](DisconnectedTypeObject* self) { new (self) DisconnectedTypeObject{{disconnected().type()}}; });
  nb::class_<NullTypeObject, TypeObject>(m, "NullType",
                                         "Of what a pullback answers where there is no derivative; it says why.")
      .def(
          "__init__",
          [](NullTypeObject* self, const std::string& why_null) {
            new (self) NullTypeObject{{make_ref<const NullType>(why_null)}};
          },
          "why_null"_a = "(no explanation given)");
  nb::class_<TensorTypeObject, TypeObject>(m, "TensorType",
                                           "Arrays of one dtype with a static shape: None where a length is not known.")
      .def(
          "__init__",
          [](TensorTypeObject* self, const DTypeLike& dtype, Any shape, Any, Any broadcastable) {
            if (!broadcastable.is_none())
              warn_deprecated("TensorType's argument broadcastable", "shape", PyExc_DeprecationWarning);
            if (shape.is_none() == broadcastable.is_none())
              throw TypeError(shape.is_none()
                                  ? "TensorType: a shape is needed"
                                  : "TensorType: broadcastable is the older form of shape: expected one of them");
            Dims lengths;
            if (shape.is_none())
              for (nb::handle each : broadcastable) lengths.push_back(nb::cast<bool>(each) ? 1 : unknown_length);
            else
              lengths = as_static_shape(shape);
            new (self) TensorTypeObject{{tensor_type(dtype_from(dtype), lengths)}};
          },
          "dtype"_a, "shape"_a = nb::none(), "name"_a = nb::none(), "broadcastable"_a = nb::none())
      .def_prop_ro("dtype",
                   [](const TensorTypeObject& self) { return std::string(dtype_name(tensor_type_of(self).dtype)); })
      .def_prop_ro(
          "numpy_dtype",
          [](const TensorTypeObject& self) {
            return nb::module_::import_("numpy").attr("dtype")(std::string(dtype_name(tensor_type_of(self).dtype)));
          },
          nb::sig("def numpy_dtype(self) -> numpy.dtype[typing.Any]"))
      .def_prop_ro("ndim", [](const TensorTypeObject& self) { return tensor_type_of(self).ndim(); })
      .def_prop_ro("shape", [](const TensorTypeObject& self) { return static_shape_tuple(tensor_type_of(self).shape); })
      .def_prop_ro("broadcastable", [](const TensorTypeObject& self) { return broadcastable(tensor_type_of(self)); })
      .def(
          "clone",
          [](const TensorTypeObject& self, const DTypeLike& dtype, Any shape) {
            const TensorType& type = tensor_type_of(self);
            return tensor_type(optional_dtype(dtype).value_or(type.dtype),
                               shape.is_none() ? type.shape : as_static_shape(shape));
          },
          "dtype"_a = nb::none(), "shape"_a = nb::none(), "The same type with another dtype or shape.")
      .def("filter", filter_value, "data"_a, "strict"_a = false, "allow_downcast"_a = nb::none(),
           "The value as an array of this type; TypeError for one of another.")
      .def(
          "is_valid_value",
          [](const TensorTypeObject& self, Any value) {
            try {
              filter_value(self, value, true, false);
              return true;
            } catch (const Error&) {
              return false;
            }
          },
          "data"_a, "Whether the array is a value of this type as it is.")
      .def("__reduce__",
           [](nb::handle self) {
             return nb::make_tuple(nb::type<TensorTypeObject>(),
                                   nb::make_tuple(self.attr("dtype"), self.attr("shape")));
           })
      .def("__str__", [](const TensorTypeObject& self) { return tensor_type_of(self).short_str(); });
  export_name(m, "TensorType");

  define(
      m, "tensor",
      [](const std::optional<std::string>& name, const DTypeLike& dtype, Any shape) {
        if (shape.is_none()) throw TypeError("tensor: a shape is needed, such as shape=(None, 3)");
        const DType element = dtype.is_none() ? config::float_x() : dtype_from(dtype);
        return make_variable(tensor_type(element, as_static_shape(shape)), name);
      },
      "name"_a = nb::none(), nb::kw_only(), "dtype"_a = nb::none(), "shape"_a = nb::none(),
      R"(>>> pt.tensor("x", dtype="float32", shape=(None, 3)).type
TensorType(float32, shape=(None, 3)))");
  for (auto& kind : kinds()) bind_float_x_kind(m, kind);
  for (int k = 0; k < dtype_count; ++k)
    if (const char prefix = dtype_records[k].prefix)
      for (auto& kind : kinds()) bind_fixed_kind(m, kind, prefix, DType(k));
  m.def(
      "dtype_names",
      [](const std::string& kinds) {
        nb::list names;
        for (auto& record : dtype_records)
          if (kinds.find("biufc"[int(record.kind)]) != kinds.npos) names.append(std::string(record.name));
        return nb::tuple(names);
      },
      "kinds"_a = "biufc", nb::sig("def dtype_names(kinds: str = 'biufc') -> tuple[str, ...]"),
      "The dtypes of some of NumPy's kinds: bool (b), signed and unsigned integers (i, u), floats (f), complex numbers "
      "(c).");
}

}  // namespace bitale::python
