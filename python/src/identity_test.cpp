#include "identity_test.hpp"

#include <nanobind/stl/string.h>

#include "bind.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "instance.hpp"

namespace bitale::python {

std::string elementwise_hint(const IdentityTest& test) {
  const char *sign = test.is_negated ? "!=" : "==", *function = test.is_negated ? "neq" : "eq";
  return cat("x ", sign,
             " y of two variables only tells whether they are the same variable, as Python's containers need ",
             "it; the elementwise comparison is pt.", function, "(x, y)");
}

void refuse_truth_value(nb::handle object) {
  if (const auto* test = instance_of<IdentityTest>(object))
    throw TypeError(
        cat("expected a variable, a number or an array, got the result of a comparison: ", elementwise_hint(*test)));
  if (!PyBool_Check(object.ptr())) return;
  const std::string value = shown(object);
  throw TypeError(cat("expected a variable, a number or an array, got the Python bool ", value,
                      ". Python computes `not`, `and`, `or`, `in` and `is` at once, of what it knows now; elementwise ",
                      "there are pt.eq(x, y), pt.neq(x, y), &, | and ~. A constant is pt.constant(", value, ") or np.",
                      value, "_"));
}

namespace {

// Operators of numbers: each is refused with the hint.
constexpr const char* operators_of_numbers[] = {
    "__add__",      "__radd__",     "__sub__",       "__rsub__",    "__mul__",    "__rmul__",    "__truediv__",
    "__rtruediv__", "__floordiv__", "__rfloordiv__", "__mod__",     "__rmod__",   "__pow__",     "__rpow__",
    "__matmul__",   "__rmatmul__",  "__lshift__",    "__rlshift__", "__rshift__", "__rrshift__", "__and__",
    "__rand__",     "__or__",       "__ror__",       "__xor__",     "__rxor__",   "__lt__",      "__le__",
    "__gt__",       "__ge__",       "__neg__",       "__pos__",     "__abs__",    "__invert__",  "__int__",
    "__float__",    "__complex__",  "__index__",     "__round__",   "__getitem__"};

}  // namespace

void bind_identity_test(nb::module_& m) {
  nb::class_<IdentityTest> cls(m, "IdentityTest",
                               "What `x == y` and `x != y` give for two variables: whether they are the same one. It "
                               "has a truth value, and takes part in no computation.");
  cls.def("__bool__", [](const IdentityTest& self) { return self.result; });
  cls.def("__repr__", [](const IdentityTest& self) { return self.result ? "True" : "False"; });
  cls.def("__hash__", [](const IdentityTest& self) { return std::size_t(self.result); });
  cls.def(
      "__eq__",
      [](const IdentityTest& self, nb::handle other) -> nb::object {
        const auto* test = instance_of<IdentityTest>(other);
        if (!test && !PyBool_Check(other.ptr())) return nb::borrow(Py_NotImplemented);
        return nb::bool_(self.result == (test ? test->result : other.is(nb::handle(Py_True))));
      },
      nb::arg().none(), nb::sig("def __eq__(self, other: object, /) -> bool"));
  for (const char* name : operators_of_numbers)
    cls.def(name, [](const IdentityTest& self, nb::args) -> nb::object { throw TypeError(elementwise_hint(self)); });
  cls.def("__getattr__", [](const IdentityTest& self, const std::string& name) -> nb::object {
    throw nb::attribute_error(cat("no attribute ", name, ": ", elementwise_hint(self)).c_str());
  });
}

}  // namespace bitale::python
