// Shapes, creation, joining, conversion, products.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/known.hpp"
#include "define.hpp"
#include "device.hpp"
#include "flag.hpp"
#include "graph/literal.hpp"
#include "numpy_bridge.hpp"

namespace bitale::python {

namespace {

// f(1, 2) and f((1, 2)) are equivalent.
nb::object spread(const nb::args& given) {
  if (given.size() != 1) return nb::borrow(given);
  const nb::handle only = given[0];
  const bool is_vector = is_ndarray(only) && nb::cast<int>(only.attr("ndim")) == 1;
  if (PyTuple_Check(only.ptr()) || PyList_Check(only.ptr()) || is_variable(only) || is_vector) return given[0];
  return nb::borrow(given);
}

Variable dimshuffle_by(const Like& x, nb::args pattern) {
  const Variable given = as_variable(x);
  const int ndim = given.ndim();
  std::vector<int> order;
  nb::object entries = spread(pattern);
  for (nb::handle entry : entries) {
    if (PyUnicode_Check(entry.ptr()) && nb::cast<std::string>(entry) == "x") {
      order.push_back(new_axis);
      continue;
    }
    auto axis = is_integer_object(entry) ? as_optional_int(entry, "dimshuffle") : std::nullopt;
    if (!axis) throw TypeError(cat("dimshuffle: expected dimensions and \"x\", got ", shown(entry)));
    if (*axis < 0 && *axis >= -ndim) *axis += ndim;
    if (*axis < 0)
      throw ValueError(cat("dimshuffle: there is no dimension ", *axis, " in an input of ", ndim, " dimensions"));
    order.push_back(*axis);
  }
  return dimshuffle(given, order);
}

Variable transpose_by(const Like& x, nb::handle axes) {
  if (axes.is_none() || nb::len(axes) == 0) return transpose(as_variable(x));
  return transpose(as_variable(x), as_ints(axes, "transpose: axes"));
}

Variable expand_dims_at(const Like& x, const AxisLike& axis) {
  Axes axes = as_axes(axis, "expand_dims");
  if (!axes) throw TypeError("expand_dims: an axis is needed");
  Variable out = as_variable(x);
  const int ndim = out.ndim() + int(axes->size());
  for (int& a : *axes) {
    if (a < -ndim || a >= ndim)
      throw AxisError(cat("expand_dims: axis ", a, " is outside the ", ndim, " dimensions of the result"));
    a += a < 0 ? ndim : 0;
  }
  std::sort(axes->begin(), axes->end());
  if (std::adjacent_find(axes->begin(), axes->end()) != axes->end())
    throw ValueError("expand_dims: an axis is given twice");
  for (int a : *axes) out = expand_dims(out, a);
  return out;
}

Variable reshape_to(const Like& x, nb::handle new_shape, std::optional<int> ndim) {
  if (is_variable(new_shape)) {
    const Variable& shape = variable_of(new_shape);
    if (shape.ndim() == 1) return reshape(as_variable(x), shape, ndim);
  }
  Variables lengths = as_lengths(new_shape, "reshape");
  if (ndim && *ndim != int(lengths.size()))
    throw ValueError(cat("reshape: ndim is ", *ndim, " but the shape has ", lengths.size(), " lengths"));
  return reshape(as_variable(x), lengths);
}

Variable specify_shape_of(const Like& x, nb::args given) {
  nb::object shape = spread(given);
  std::vector<std::optional<Operand>> lengths;
  if (is_variable(shape)) {
    for (auto& length : as_lengths(shape, "specify_shape")) lengths.emplace_back(length);
  } else {
    for (nb::handle length : shape) {
      if (length.is_none())
        lengths.emplace_back();
      else
        lengths.emplace_back(as_variable(length));
    }
  }
  return specify_shape(as_variable(x), lengths);
}

Variable arange_by(const Like& start, Any stop, Any step, const DTypeLike& dtype) {
  const bool only_stop = stop.is_none();
  if (only_stop && step.is_none() && dtype.is_none()) return arange(as_variable(start));
  const Variable first = only_stop ? Operand::number(std::int64_t(0)) : as_variable(start);
  const Variable last = as_variable(only_stop ? nb::handle(start) : nb::handle(stop));
  const Variable by = step.is_none() ? Operand::number(std::int64_t(1)) : as_variable(step);
  return arange(first, last, by, optional_dtype(dtype));
}

// Accepts data, not variables.
Variable make_constant(nb::handle value, const std::optional<std::string>& name, nb::handle ndim, nb::handle dtype) {
  if (is_variable(value) && !variable_of(value).is_constant())
    throw TypeError(cat("constant: expected a value, got the variable ", variable_of(value).str()));
  const bool is_bool = PyBool_Check(value.ptr());
  const Variable variable = is_bool ? Operand::number(value.is(nb::handle(Py_True))) : as_variable(value);
  if (!variable.is_constant())
    throw TypeError(cat("constant: expected a value, got ", shown(value), ", which holds variables"));
  Array data = *variable.constant();
  if (auto element = optional_dtype(dtype)) data = data.astype(*element);
  if (auto rank = as_optional_int(ndim, "constant: ndim")) {
    if (*rank < data.ndim())
      throw ValueError(cat("constant: ndim is ", *rank, " but the value has ", data.ndim(), " dimensions"));
    while (data.ndim() < *rank) data = data.insert_axis(0);
  }
  if (!dtype.is_none() || !is_literal(variable)) return constant(data.contiguous(), name.value_or(""));
  Variable out = literal(data.contiguous());  // a number that no dtype was given for
  if (name) out.set_name(*name);
  return out;
}

Variable as_tensor(nb::handle x, const std::optional<std::string>& name, nb::handle ndim, nb::handle dtype) {
  if (!is_variable(x) && (!dtype.is_none() || name)) {
    Variable made = as_variable(x);
    if (made.is_constant()) return make_constant(x, name, ndim, dtype);
    return made;
  }
  Variable out = as_variable(x);
  if (auto element = optional_dtype(dtype); element && *element != out.dtype())
    throw ValueError(
        cat("as_tensor_variable: ", out.str(), " has dtype ", dtype_name(out.dtype()), ", not ", dtype_name(*element)));
  auto rank = as_optional_int(ndim, "as_tensor_variable: ndim");
  if (!rank || *rank == out.ndim()) return out;
  if (*rank < out.ndim())
    throw ValueError(
        cat("as_tensor_variable: ndim is ", *rank, " but ", out.str(), " has ", out.ndim(), " dimensions"));
  std::vector<int> order(std::size_t(*rank - out.ndim()), new_axis);
  for (int axis = 0; axis < out.ndim(); ++axis) order.push_back(axis);
  return dimshuffle(out, order);
}

void bind_shape(nb::module_& m) {
  define_both(m, "dimshuffle", dimshuffle_by, "pattern"_a);
  define(
      m, "transpose", [](const Like& x, Any axes) { return transpose_by(x, axes); }, "x"_a, "axes"_a = nb::none());
  define_method(
      m, "transpose",
      [](const Like& x, nb::args axes) {
        if (axes.size() == 1 && axes[0].is_none()) return transpose_by(x, nb::none());
        return transpose_by(x, spread(axes));
      },
      "axes"_a, "x with its dimensions in the order of axes, reversed by default.");
  define(m, "expand_dims", expand_dims_at, "a"_a, "axis"_a);
  define_both(
      m, "squeeze",
      [](const Like& x, const AxisLike& axis) { return squeeze(as_variable(x), as_axes(axis, "squeeze")); },
      "axis"_a = nb::none());
  define(
      m, "shape", [](const Like& x) { return shape(as_variable(x)); }, "x"_a);
  define(
      m, "shape_i", [](const Like& x, int i) { return shape_i(as_variable(x), i); }, "x"_a, "i"_a);
  define(
      m, "reshape",
      [](const Like& x, const ShapeLike& newshape, std::optional<int> ndim, const Any&) {
        return reshape_to(x, newshape, ndim);
      },
      "x"_a, "newshape"_a, "ndim"_a = nb::none(), nb::kw_only(), "copy"_a = nb::none());
  define_method(
      m, "reshape",
      [](const Like& x, nb::args shape, std::optional<int> ndim) { return reshape_to(x, spread(shape), ndim); },
      "shape"_a, "ndim"_a = nb::none(), "x in another shape; one length may be -1. ndim: of a symbolic shape.");
  define_both(
      m, "flatten", [](const Like& x, int ndim) { return flatten(as_variable(x), ndim); }, "ndim"_a = 1);
  define_method(
      m, "ravel", [](const Like& x) { return flatten(as_variable(x)); }, "x as a vector.");
  define(m, "specify_shape", specify_shape_of, "x"_a, "shape"_a);
  auto cls = variable_class(m);
  cls.def_prop_ro(
      "T", [](const TensorVariableObject& self) { return transpose(self.variable); }, nb::call_guard<AtCaller>(),
      "Transposed.");
  cls.def_prop_ro(
      "shape", [](const TensorVariableObject& self) { return shape(self.variable); }, nb::call_guard<AtCaller>(),
      "The symbolic lengths; type.shape has the static ones.");
  cls.def_prop_ro(
      "size", [](const TensorVariableObject& self) { return size(self.variable); }, nb::call_guard<AtCaller>(),
      "The symbolic number of elements.");
}

void bind_creation(nb::module_& m) {
  define(
      m, "constant",
      [](const Like& x, const std::optional<std::string>& name, Any ndim, const DTypeLike& dtype) {
        return make_constant(x, name, ndim, dtype);
      },
      "x"_a.none(), "name"_a = nb::none(), "ndim"_a = nb::none(), "dtype"_a = nb::none(),
      nb::sig("def constant(x: TensorVariable | numpy.typing.ArrayLike | None, name: str | None = None, "
              "ndim: int | None = None, dtype: numpy.typing.DTypeLike | None = None) -> TensorConstant"),
      R"(>>> pt.constant([1, 2]).data
array([1, 2]))");
  auto bind_as_tensor = [&m](const char* name) {
    define(
        m, name,
        [](const Like& x, const std::optional<std::string>& label, Any ndim, const DTypeLike& dtype) {
          return as_tensor(x, label, ndim, dtype);
        },
        "x"_a.none(), "name"_a = nb::none(), "ndim"_a = nb::none(), "dtype"_a = nb::none(),
        "A variable as it is; a constant of anything else; a stack of a list that holds variables.\n\n"
        ">>> x = pt.dscalar(\"x\")\n"
        ">>> pt.as_tensor_variable([x, 2 * x]).eval({x: 1.0})\n"
        "array([1., 2.])");
  };
  bind_as_tensor("as_tensor_variable");
  bind_as_tensor("as_tensor");
  define(
      m, "alloc",
      [](const Like& value, nb::args shape) { return alloc(as_variable(value), as_lengths(spread(shape), "alloc")); },
      "value"_a, "shape"_a);
  define(
      m, "broadcast_to",
      [](const Like& x, const ShapeLike& shape) {
        return broadcast_to(as_variable(x), as_lengths(shape, "broadcast_to"));
      },
      "x"_a, "shape"_a);
  define(
      m, "zeros",
      [](const ShapeLike& shape, const DTypeLike& dtype, const Any& device) {
        check_device(device, "zeros");
        return zeros(as_lengths(shape, "zeros"), optional_dtype(dtype));
      },
      "shape"_a, "dtype"_a = nb::none(), nb::kw_only(), "device"_a = nb::none());
  define(
      m, "ones",
      [](const ShapeLike& shape, const DTypeLike& dtype, const Any& device) {
        check_device(device, "ones");
        return ones(as_lengths(shape, "ones"), optional_dtype(dtype));
      },
      "shape"_a, "dtype"_a = nb::none(), nb::kw_only(), "device"_a = nb::none());
  const auto zeros_like_of = [](const Like& x, const DTypeLike& dtype) {
    return zeros_like(as_variable(x), optional_dtype(dtype));
  };
  define_method(m, "zeros_like", zeros_like_of, "dtype"_a = nb::none(), "Of this shape, and of this dtype by default.");
  define(
      m, "zeros_like",
      [zeros_like_of](const Like& x, const DTypeLike& dtype, Flag, const Any& device) {
        check_device(device, "zeros_like");
        return zeros_like_of(x, dtype);
      },
      "model"_a, "dtype"_a = nb::none(), "opt"_a = false, nb::kw_only(), "device"_a = nb::none());
  const auto ones_like_of = [](const Like& x, const DTypeLike& dtype) {
    return ones_like(as_variable(x), optional_dtype(dtype));
  };
  define_method(m, "ones_like", ones_like_of, "dtype"_a = nb::none(), "Of this shape, and of this dtype by default.");
  define(
      m, "ones_like",
      [ones_like_of](const Like& x, const DTypeLike& dtype, Flag, const Any& device) {
        check_device(device, "ones_like");
        return ones_like_of(x, dtype);
      },
      "model"_a, "dtype"_a = nb::none(), "opt"_a = false, nb::kw_only(), "device"_a = nb::none());
  define(
      m, "arange",
      [](const Like& start, const Any& stop, const Any& step, const DTypeLike& dtype, const Any& device) {
        check_device(device, "arange");
        return arange_by(start, stop, step, dtype);
      },
      "start"_a, "stop"_a = nb::none(), "step"_a = nb::none(), "dtype"_a = nb::none(), nb::kw_only(),
      "device"_a = nb::none(),
      R"(>>> pt.arange(2, 8, 3).eval()
array([2, 5]))");
  define(
      m, "make_vector",
      [](nb::args scalars, const DTypeLike& dtype) {
        return make_vector(as_variables(scalars, "make_vector"), optional_dtype(dtype));
      },
      "scalars"_a, "dtype"_a = nb::none());
  define(
      m, "join", [](int axis, nb::args tensors) { return join(axis, as_variables(spread(tensors), "join")); }, "axis"_a,
      "tensors_list"_a);
  define(
      m, "concatenate", [](Any tensors, int axis) { return concatenate(as_variables(tensors, "concatenate"), axis); },
      "tensor_list"_a, "axis"_a = 0, R"(>>> x = pt.dvector("x")
>>> pt.concatenate([x, [5.0], x]).eval({x: [1.0]})
array([1., 5., 1.]))");
  define(
      m, "stack", [](Any tensors, int axis) { return stack(as_variables(tensors, "stack"), axis); }, "tensors"_a,
      "axis"_a = 0, R"(>>> x = pt.dvector("x")
>>> pt.stack([x, -x], axis=1).eval({x: [1.0, 2.0]})
array([[ 1., -1.],
       [ 2., -2.]]))");
}

void bind_conversion(nb::module_& m) {
  auto convert = [](const Like& x, const DTypeLike& dtype) { return cast(as_variable(x), dtype_from(dtype)); };
  define(m, "cast", convert, "x"_a, "dtype"_a);
  define_method(m, "astype", convert, "dtype"_a, "x converted to the dtype; itself when it has it.");
  define(
      m, "isfinite", [](const Like& x) { return isfinite(as_variable(x)); }, "a"_a);
  define(
      m, "logaddexp",
      [](nb::args xs) {
        if (xs.size() == 0) throw TypeError("logaddexp: expected one operand or more, got none");
        Variable total = as_variable(xs[0]);
        for (std::size_t k = 1; k < xs.size(); ++k) total = logaddexp(total, as_variable(xs[k]));
        return total;
      },
      "xs"_a);
  const auto bind_logical = [&m](const char* name, Variable (*function)(const Operand&, const Operand&),
                                 const char* doc) {
    define(
        m, name, [function](const Like& x, const Like& y) { return function(as_variable(x), as_variable(y)); }, "x"_a,
        "y"_a, doc);
  };
  bind_logical("logical_and", logical_and, "Whether both are true; all but 0 is.");
  bind_logical("logical_or", logical_or, "Whether one of both is true; all but 0 is.");
  bind_logical("logical_xor", logical_xor, "Whether just one of both is true; all but 0 is.");
  define(
      m, "logical_not", [](const Like& x) { return logical_not(as_variable(x)); }, "x"_a);
  define(
      m, "deg2rad", [](const Like& x) { return deg2rad(as_variable(x)); }, "a"_a);
  define_method(
      m, "deg2rad", [](const Like& x) { return deg2rad(as_variable(x)); }, "Degrees to radians.");
  define(
      m, "rad2deg", [](const Like& x) { return rad2deg(as_variable(x)); }, "a"_a);
  define_method(
      m, "rad2deg", [](const Like& x) { return rad2deg(as_variable(x)); }, "Radians to degrees.");
  const auto clipped = [](const Like& x, const Any& low, const Any& high) {
    const Variable value = as_variable(x);
    if (low.is_none()) return high.is_none() ? value : minimum(value, as_variable(high));
    return high.is_none() ? maximum(value, as_variable(low)) : clip(value, as_variable(low), as_variable(high));
  };
  define(m, "clip", clipped, "x"_a, "min"_a = nb::none(), "max"_a = nb::none());
  define_method(m, "clip", clipped, "a_min"_a = nb::none(), "a_max"_a = nb::none(),
                "x, but at least a_min and at most a_max; None stands for no bound.");
  define_method(
      m, "fill", [](const Like& x, const Like& value) { return second(as_variable(x), as_variable(value)); }, "value"_a,
      "The value broadcast to x's shape.");
  define_method(
      m, "copy", [](const Like& x) { return tensor_copy(as_variable(x)); },
      "A variable of its own with the value of the tensor.");
}

void bind_products(nb::module_& m) {
  const auto dot_of = [](const Like& x, const Like& y) { return dot(as_variable(x), as_variable(y)); };
  define(m, "dot", dot_of, "l"_a, "r"_a);
  define(m, "dense_dot", dot_of, "a"_a, "b"_a);
  define_method(m, "dot", dot_of, "right"_a, "Product of vectors and matrices, as numpy.dot.");
  define(
      m, "matmul",
      [](const Like& x, const Like& y, const DTypeLike& dtype) {
        const Variable product = matmul(as_variable(x), as_variable(y));
        const auto element = optional_dtype(dtype);
        return element ? cast(product, *element) : product;
      },
      "x1"_a, "x2"_a, "dtype"_a = nb::none());
  define(
      m, "outer", [](const Like& x, const Like& y) { return outer(as_variable(x), as_variable(y)); }, "x"_a, "y"_a);
}

}  // namespace

void bind_shapes(nb::module_& m) {
  bind_shape(m);
  bind_creation(m);
  bind_conversion(m);
  bind_products(m);
}

}  // namespace bitale::python
