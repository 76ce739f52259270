// Python's operators on variables, and the conversions that a symbolic variable rejects.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/elementary.hpp"
#include "define.hpp"
#include "identity_test.hpp"

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
    {"__lshift__", "__rlshift__", left_shift},
    {"__rshift__", "__rrshift__", right_shift},
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

// `==` and `!=`: elementwise with a value; between variables identity, since containers search by `==`.
void bind_equality(nb::class_<TensorVariableObject, VariableObject>& cls, const char* name, Binary function,
                   bool is_negated) {
  cls.def(
      name,
      [function, is_negated](const TensorVariableObject& self, nb::handle other) -> nb::object {
        if (is_variable(other))
          return nb::cast(IdentityTest{self.variable.same_as(variable_of(other)) != is_negated, is_negated});
        const AtCaller here;
        const auto y = try_as_variable(other);
        return y ? wrap(function(self.variable, *y)) : not_implemented();
      },
      nb::arg().none(), nb::is_operator(),
      nb::sig(cat("def ", name, "(self, other: typing.Any, /) -> typing.Any").c_str()));
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

[[noreturn]] void refuse(const Variable& x, const char* what) {
  throw TypeError(cat("the symbolic variable ", x.str(), " has no value yet: ", what));
}

// What Python asks of an object that has a value, and what to write instead.
struct Refusal {
  const char* name;
  const char* signature;
  const char* what;
};

constexpr const char* no_number =
    "it is no Python number. Functions of `math` are in bitale.tensor, too: pt.exp(x); function() and x.eval() compute "
    "a value";

constexpr Refusal refusals[] = {
    {"__bool__", "def __bool__(self) -> bool",
     "it can't be used as a condition (by if, while, assert, and, or, not, 0 < x < 1, or Python's max, min, sorted, "
     "any, "
     "all). Elementwise there are pt.switch(condition, a, b), &, |, ~, pt.maximum and pt.minimum; bt.ifelse(condition, "
     "a, "
     "b) computes one side only"},
    {"__float__", "def __float__(self) -> float", no_number},
    {"__int__", "def __int__(self) -> int", no_number},
    {"__complex__", "def __complex__(self) -> complex", no_number},
    {"__index__", "def __index__(self) -> int",
     "it can't index a Python sequence or NumPy array, count a range, or be a length of a NumPy array. There are "
     "pt.as_tensor_variable(array)[x], pt.arange(x), scan(..., n_steps=x) and pt.zeros(x)"},
    {"__setitem__", "def __setitem__(self, index: typing.Any, value: typing.Any, /) -> None",
     "its elements can't be assigned. x[index].set(y) and x[index].inc(y) give a changed copy"},
    {"__delitem__", "def __delitem__(self, index: typing.Any, /) -> None",
     "its elements can't be deleted. x[mask] gives those that are kept"},
    {"__contains__", "def __contains__(self, value: typing.Any, /) -> bool",
     "whether an element has some value is pt.any(pt.eq(x, value)), and whether a variable is in a list, any(y is each "
     "for each in variables)"},
};

void bind_refusals(nb::class_<TensorVariableObject, VariableObject>& cls) {
  for (const Refusal& each : refusals)
    cls.def(
        each.name,
        [what = each.what](const TensorVariableObject& self, nb::args) -> nb::object { refuse(self.variable, what); },
        nb::sig(each.signature));
}

// ---- what is known without a value
// -----------------------------------------------------------------------------------

std::int64_t length_of(const TensorVariableObject& self) {
  const Variable& x = self.variable;
  if (x.ndim() == 0) throw TypeError(cat("the scalar ", x.str(), " has no length"));
  if (x.static_shape()[0] == unknown_length) refuse(x, "its length is symbolic, x.shape[0]");
  return x.static_shape()[0];
}

// As of any object, f"{x:>8}" is its text; a number's format asks for a value.
nb::object formatted(nb::handle self, nb::handle specification) {
  const nb::object text = nb::str(self);
  PyObject* out = PyObject_Format(text.ptr(), specification.ptr());
  if (out) return nb::steal(out);
  PyErr_Clear();
  refuse(variable_of(self),
         "it has no digits to format. bt.printing.Print(message)(x) shows values when they are computed");
}

Variable rounded(const TensorVariableObject& self, nb::handle digits) {
  return around(self.variable, as_optional_int(digits, "round: digits").value_or(0));
}

// The elements along the first dimension, if its length is known.
nb::object iterate(const TensorVariableObject& self) {
  const Variable& x = self.variable;
  if (x.ndim() == 0) throw TypeError(cat("can't iterate over the scalar ", x.str()));
  const std::int64_t length = x.static_shape()[0];
  if (length == unknown_length)
    throw TypeError(cat("can't iterate over ", x.str(), ": its length is not known (type ", x.type()->str(),
                        "). Was a function of bitale.tensor meant, rather than Python's sum, max or min? A loop over "
                        "elements is a scan(step, sequences=[x])"));
  nb::list items;
  for (std::int64_t i = 0; i < length; ++i) items.append(subtensor(x, {IndexItem(Operand(i))}));
  return nb::iter(items);
}

}  // namespace

void bind_operators(nb::module_& m) {
  auto cls = variable_class(m);
  for (auto& op : binary_operators) bind_binary_operator(cls, op);
  bind_equality(cls, "__eq__", eq, false);
  bind_equality(cls, "__ne__", neq, true);
  bind_unary_operators(cls);
  bind_refusals(cls);
  cls.def("__len__", length_of);
  cls.def("__format__", formatted, nb::sig("def __format__(self, specification: str, /) -> str"));
  cls.def("__round__", rounded, nb::arg("ndigits").none() = nb::none(), nb::call_guard<AtCaller>());
  cls.def("__iter__", iterate, nb::call_guard<AtCaller>(),
          nb::sig("def __iter__(self) -> collections.abc.Iterator[TensorVariable]"));
}

}  // namespace bitale::python
