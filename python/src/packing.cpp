// Nested lists, packed tensors, common shapes and facts about lengths: functions of arrange.hpp and known.hpp that take
// or return Python's lists and tuples.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <string>
#include <utility>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/arrange.hpp"
#include "bitale/ops/known.hpp"
#include "bitale/ops/vectorize.hpp"
#include "define.hpp"
#include "numpy_bridge.hpp"
#include "variable_lists.hpp"

namespace bitale::python {

namespace {

NestedOperands nested_operands(nb::handle given) {
  if (!is_sequence(given)) return NestedOperands(Operand(as_variable(given)));
  const NestedList level;
  NestedOperands out({});
  for (nb::handle each : given) out.elements.push_back(nested_operands(each));
  return out;
}

std::vector<int> axes_to_keep(nb::handle axes) {
  if (axes.is_none()) return {};
  if (is_integer_object(axes)) return {nb::cast<int>(axes)};
  return as_ints(axes, "pack: keep_axes");
}

nb::tuple broadcast_shape_of(nb::args arrays, bool arrays_are_shapes) {
  Variables tensors;
  for (nb::handle each : arrays)
    tensors.push_back(arrays_are_shapes ? zeros(as_lengths(each, "broadcast_shape"), DType::Bool) : as_variable(each));
  return tuple_of(tensors.empty() ? Variables() : broadcast_shape(Operands(tensors)));
}

// One vector of lengths: a list of lengths that is empty has no dtype of its own.
Variable packed_shape(nb::handle given) {
  if (is_sequence(given) && nb::len(given) == 0) return constant(Array::empty(DType::Int64, {0}));
  return is_sequence(given) ? make_vector(Operands(as_lengths(given, "unpack"))) : as_variable(given);
}

// The results of a user's function: a variable, or several in a list or tuple.
struct Results {
  Variables variables;
  bool are_several = false;
};
Results results_of(nb::handle given) {
  if (!is_sequence(given)) return {{as_variable(given)}, false};
  Results out{{}, true};
  for (nb::handle each : given) out.variables.push_back(as_variable(each));
  return out;
}

nb::object vectorized(nb::object function, std::optional<std::string> signature) {
  if (!PyCallable_Check(function.ptr()))
    throw TypeError(cat("vectorize: expected a function of variables, got ", shown(function)));
  vectorize([](const Variables& inputs) { return inputs; }, signature.value_or(""));  // refuses a wrong signature now
  return nb::cpp_function(
      [function = std::move(function), signature = signature.value_or("")](nb::args given) -> nb::object {
        bool are_several = false;
        const auto of_one = [&](const Variables& formal) {
          const Results results = results_of(function(*list_of(formal)));
          are_several = results.are_several;
          return results.variables;
        };
        const Variables out = vectorize(of_one, signature)(Operands(as_variables(given, "vectorize")));
        return are_several ? nb::object(list_of(out)) : nb::object(wrap(out[0]));
      },
      nb::name("vectorized"), nb::call_guard<AtCaller>());
}

void bind_lists(nb::module_& m) {
  define(
      m, "stacklists", [](const Any& arg) { return stacklists(nested_operands(arg)); }, "arg"_a,
      nb::sig("def stacklists(arg: typing.Any) -> TensorVariable"));
  define(
      m, "pack",
      [](nb::args tensors, const Any& keep_axes) {
        const PackedTensors out = pack(Operands(as_variables(tensors, "pack")), axes_to_keep(keep_axes));
        return nb::make_tuple(wrap(out.packed), list_of(out.shapes));
      },
      "tensors"_a, "keep_axes"_a = nb::none(),
      nb::sig("def pack(*tensors: TensorVariable | numpy.typing.ArrayLike, keep_axes: collections.abc.Sequence[int] | "
              "int | None = None) -> tuple[TensorVariable, list[TensorVariable]]"));
  define(
      m, "unpack",
      [](const Like& packed, nb::sequence shapes, const Any& keep_axes) {
        Variables vectors;
        for (nb::handle each : shapes) vectors.push_back(packed_shape(each));
        return list_of(unpack(as_variable(packed), Operands(vectors), axes_to_keep(keep_axes)));
      },
      "packed_input"_a, "packed_shapes"_a, "keep_axes"_a = nb::none(),
      nb::sig("def unpack(packed_input: TensorVariable | numpy.typing.ArrayLike, packed_shapes: "
              "collections.abc.Sequence[typing.Any], keep_axes: collections.abc.Sequence[int] | int | None = None) -> "
              "list[TensorVariable]"));
  define(m, "broadcast_shape", broadcast_shape_of, "arrays"_a, "arrays_are_shapes"_a = false,
         nb::sig("def broadcast_shape(*arrays: typing.Any, arrays_are_shapes: bool = False) -> "
                 "tuple[TensorVariable, ...]"));
  define(
      m, "specify_broadcastable",
      [](const Like& x, nb::args axes) {
        return specify_broadcastable(as_variable(x), as_ints(axes, "specify_broadcastable: axes"));
      },
      "x"_a, "axes"_a,
      nb::sig("def specify_broadcastable(x: TensorVariable | numpy.typing.ArrayLike, *axes: int) -> TensorVariable"));
  define(
      m, "slice_at_axis",
      [](nb::object sl, int axis) {
        const nb::object all = nb::borrow(nb::steal(PySlice_New(nullptr, nullptr, nullptr)));
        nb::list items;
        if (axis < 0) items.append(nb::ellipsis());
        if (axis < 0) items.append(sl);
        for (int k = 0; k < (axis < 0 ? -1 - axis : axis); ++k) items.append(all);
        if (axis >= 0) items.append(sl);
        if (axis >= 0) items.append(nb::ellipsis());
        return nb::tuple(items);
      },
      "sl"_a, "axis"_a, nb::sig("def slice_at_axis(sl: slice, axis: int) -> tuple[typing.Any, ...]"));
  define(m, "vectorize", vectorized, "func"_a, "signature"_a = nb::none(),
         nb::sig("def vectorize(func: collections.abc.Callable[..., typing.Any], signature: str | None = None) -> "
                 "collections.abc.Callable[..., typing.Any]"));
}

// ---- values and lengths that a graph shows --------------------------------------------------------------------------

// Calls `find`; unless `raises`, the variable itself is the result where there is no such value.
template <class Find>
nb::object value_or_variable(const Variable& v, bool raises, Find find) {
  try {
    return to_numpy(find(v));
  } catch (const NotScalarConstantError&) {
    if (raises) throw;
    return wrap(v);
  }
}

// The number of nodes that are looked through.
int depth_of(bool only_process_constants, int max_recur) { return only_process_constants ? 0 : max_recur; }

Variable known_operand(nb::handle v) {
  if (v.is_none()) throw NotScalarConstantError("None has no common value of all its elements");
  return as_variable(v);
}

nb::object underlying_value(const Any& v, bool, bool only_process_constants, int max_recur, bool raise_not_constant) {
  return value_or_variable(known_operand(v), raise_not_constant, [&](const Variable& x) {
    return get_underlying_scalar_constant_value(x, depth_of(only_process_constants, max_recur));
  });
}

nb::object scalar_value(const Any& v, bool, bool only_process_constants, int max_recur, bool raise_not_constant) {
  return value_or_variable(known_operand(v), raise_not_constant, [&](const Variable& x) {
    return get_scalar_constant_value(x, depth_of(only_process_constants, max_recur));
  });
}

nb::object constant_signature(nb::handle self) {
  const Variable& v = variable_of(self);
  const Array value = v.constant()->contiguous();
  return nb::make_tuple(
      v.type()->str(), nb::cast(to_numpy(value).attr("shape")),
      nb::bytes(static_cast<const char*>(value.data()), std::size_t(value.size()) * itemsize(value.dtype())));
}

bool constant_equals(nb::handle self, nb::handle other) {
  const std::optional<Variable> converted = try_as_variable(other);
  if (!converted || !converted->is_constant()) return false;
  const Variable& v = variable_of(self);
  return v.type()->equals(*converted->type()) && identical(*v.constant(), *converted->constant());
}

void bind_known(nb::module_& m) {
  define(
      m, "get_vector_length", [](const Like& v) { return get_vector_length(as_variable(v)); }, "v"_a);
  constexpr const char* underlying =
      "Return the value that all elements of v have, as a NumPy array without dimensions.\n\n"
      "NotScalarConstantError when the graph shows none; v itself when raise_not_constant is False.";
  define(m, "get_underlying_scalar_constant_value", underlying_value, "v"_a.none(), nb::kw_only(), "elemwise"_a = true,
         "only_process_constants"_a = false, "max_recur"_a = 10, "raise_not_constant"_a = true,
         nb::sig("def get_underlying_scalar_constant_value(v: typing.Any, *, elemwise: bool = True, "
                 "only_process_constants: bool = False, max_recur: int = 10, raise_not_constant: bool = True) -> "
                 "typing.Any"),
         underlying);
  define(m, "get_scalar_constant_value", scalar_value, "v"_a.none(), "elemwise"_a = true,
         "only_process_constants"_a = false, "max_recur"_a = 10, "raise_not_constant"_a = true,
         nb::sig("def get_scalar_constant_value(v: typing.Any, elemwise: bool = True, only_process_constants: bool = "
                 "False, max_recur: int = 10, raise_not_constant: bool = True) -> typing.Any"));
  define_method(m, "get_underlying_scalar_constant", underlying_value, nb::kw_only(), "elemwise"_a = true,
                "only_process_constants"_a = false, "max_recur"_a = 10, "raise_not_constant"_a = true,
                nb::sig("def get_underlying_scalar_constant(self, *, elemwise: bool = True, only_process_constants: "
                        "bool = False, max_recur: int = 10, raise_not_constant: bool = True) -> typing.Any"),
                underlying);
  define(
      m, "is_flat", [](const Like& var, int ndim) { return is_flat(as_variable(var), ndim); }, "var"_a, "ndim"_a = 1);
  for (const char* name : {"tensor_copy", "identity"})
    define(
        m, name, [](const Like& x) { return tensor_copy(as_variable(x)); }, "x"_a);
  for (const char* name : {"tensor_from_scalar", "scalar_from_tensor"})
    define(
        m, name, [](const Like& s) { return tensor_from_scalar(as_variable(s)); }, "s"_a,
        "Return a scalar, which is a tensor without dimensions. TypeError for tensors with dimensions.");
  auto constants = nb::borrow<nb::class_<TensorConstantObject, TensorVariableObject>>(m.attr("TensorConstant"));
  constants
      .def_prop_ro(
          "value", [](nb::handle self) { return nb::borrow(self.attr("data")); },
          nb::sig("def value(self) -> numpy.typing.NDArray[typing.Any]"), "The value: a read-only array.")
      .def_prop_ro(
          "unique_value",
          [](const TensorConstantObject& self) -> nb::object {
            const auto value = common_element(*self.variable.constant());
            return value ? to_numpy(*value) : nb::none();
          },
          nb::sig("def unique_value(self) -> typing.Any"), "The value that all elements have, or None.")
      .def("signature", constant_signature, nb::sig("def signature(self) -> collections.abc.Hashable"),
           "Return a value that is equal for constants of one type with the same bits.")
      .def("equals", constant_equals, "other"_a.none(), nb::sig("def equals(self, other: typing.Any) -> bool"),
           "Return whether the other is a constant, or a value, of this type with the same bits.");
}

}  // namespace

void bind_packing(nb::module_& m) {
  bind_lists(m);
  bind_known(m);
}

}  // namespace bitale::python
