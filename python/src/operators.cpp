// Python's operators on variables, and the conversions that a symbolic variable rejects.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "define.hpp"

namespace bitale::python {

namespace {

using Binary = Variable (*)(const Operand&, const Operand&);

nb::object not_implemented() { return nb::borrow(Py_NotImplemented); }

struct BinaryOperator {
  const char* name;
  const char* reflected;  // nullptr: Python swaps the operands itself
  Binary function;
};

constexpr BinaryOperator binary_operators[] = {
    {"__add__", "__radd__", add},
    {"__sub__", "__rsub__", sub},
    {"__mul__", "__rmul__", mul},
    {"__truediv__", "__rtruediv__", true_div},
    {"__floordiv__", "__rfloordiv__", int_div},
    {"__mod__", "__rmod__", mod},
    {"__pow__", "__rpow__", pow},
    {"__matmul__", "__rmatmul__", matmul},
    {"__and__", "__rand__", and_},
    {"__or__", "__ror__", or_},
    {"__xor__", "__rxor__", xor_},
    {"__lt__", nullptr, lt},
    {"__le__", nullptr, le},
    {"__gt__", nullptr, gt},
    {"__ge__", nullptr, ge},
};

void bind_binary_operator(nb::class_<TensorVariableObject, VariableObject>& cls, const BinaryOperator& op) {
  const std::string takes = "(self, other: TensorVariable | numpy.typing.ArrayLike, /) -> TensorVariable";
  Binary function = op.function;
  cls.def(
      op.name,
      [function](const TensorVariableObject& self, nb::handle other) {
        auto y = try_as_variable(other);
        return y ? wrap(function(self.variable, *y)) : not_implemented();
      },
      nb::call_guard<AtCaller>(), nb::is_operator(), nb::sig(cat("def ", op.name, takes).c_str()));
  if (!op.reflected) return;
  cls.def(
      op.reflected,
      [function](const TensorVariableObject& self, nb::handle other) {
        auto x = try_as_variable(other);
        return x ? wrap(function(*x, self.variable)) : not_implemented();
      },
      nb::call_guard<AtCaller>(), nb::is_operator(), nb::sig(cat("def ", op.reflected, takes).c_str()));
}

void bind_unary_operators(nb::class_<TensorVariableObject, VariableObject>& cls) {
  auto bind = [&](const char* name, Variable (*function)(const Operand&)) {
    cls.def(
        name, [function](const TensorVariableObject& self) { return function(self.variable); },
        nb::call_guard<AtCaller>());
  };
  bind("__neg__", neg);
  bind("__abs__", abs);
  bind("__invert__", invert);
  bind("__floor__", floor);
  bind("__ceil__", ceil);
  bind("__trunc__", trunc);
  cls.def("__pos__", [](const TensorVariableObject& self) { return self.variable; });
  cls.def(
      "__divmod__",
      [](const TensorVariableObject& self, const Like& other) {
        Variable y = as_variable(other);
        return nb::make_tuple(int_div(self.variable, y), mod(self.variable, y));
      },
      nb::call_guard<AtCaller>());
  cls.def(
      "__rdivmod__",
      [](const TensorVariableObject& self, const Like& other) {
        Variable x = as_variable(other);
        return nb::make_tuple(int_div(x, self.variable), mod(x, self.variable));
      },
      nb::call_guard<AtCaller>());
}

[[noreturn]] void refuse(const TensorVariableObject& self, const char* what) {
  throw TypeError(cat("the symbolic variable ", self.variable.str(), " has no value yet: ", what));
}

void bind_refusals(nb::class_<TensorVariableObject, VariableObject>& cls) {
  cls.def("__bool__", [](const TensorVariableObject& self) -> bool {
    refuse(self, "it can't be used as a condition. For an elementwise choice there is switch(condition, a, b)");
  });
  cls.def("__len__",
          [](const TensorVariableObject& self) -> int { refuse(self, "its length is symbolic, x.shape[0]"); });
  cls.def("__float__",
          [](const TensorVariableObject& self) -> double { refuse(self, "compute it with function() or eval()"); });
  cls.def("__int__",
          [](const TensorVariableObject& self) -> int { refuse(self, "compute it with function() or eval()"); });
  cls.def("__complex__",
          [](const TensorVariableObject& self) -> double { refuse(self, "compute it with function() or eval()"); });
  cls.def("__index__", [](const TensorVariableObject& self) -> int {
    refuse(self, "it can't index a Python sequence, or count a range");
  });
  cls.def("__setitem__", [](const TensorVariableObject& self, nb::handle, nb::handle) {
    refuse(self, "its elements can't be assigned. x[index].set(y) and x[index].inc(y) give a changed copy");
  });
  cls.def("__delitem__",
          [](const TensorVariableObject& self, nb::handle) { refuse(self, "its elements can't be deleted"); });
}

// The elements along the first dimension, if its length is known.
nb::object iterate(const TensorVariableObject& self) {
  const Variable& x = self.variable;
  if (x.ndim() == 0) throw TypeError(cat("can't iterate over the scalar ", x.str()));
  const std::int64_t length = x.static_shape()[0];
  if (length == unknown_length)
    throw TypeError(cat("can't iterate over ", x.str(), ": its length is not known (type ", x.type()->str(),
                        "). Was a function of bitale.tensor meant, rather than Python's sum, max or min?"));
  nb::list items;
  for (std::int64_t i = 0; i < length; ++i) items.append(subtensor(x, {IndexItem(Operand(i))}));
  return nb::iter(items);
}

}  // namespace

void bind_operators(nb::module_& m) {
  auto cls = variable_class(m);
  for (auto& op : binary_operators) bind_binary_operator(cls, op);
  bind_unary_operators(cls);
  bind_refusals(cls);
  cls.def("__iter__", iterate, nb::call_guard<AtCaller>(),
          nb::sig("def __iter__(self) -> collections.abc.Iterator[TensorVariable]"));
}

}  // namespace bitale::python
