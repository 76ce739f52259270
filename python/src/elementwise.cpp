// The elementwise functions: one per record of the scalar-op table, with the record's documentation; those of one
// operand are also methods. This file does not depend on their names.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>
#include <string_view>
#include <vector>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/core/text.hpp"
#include "bitale/program/expr.hpp"
#include "define.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "ops/elementwise/scalar_op.hpp"

namespace bitale::python {

namespace {

// A name that is a keyword of Python gets a suffix: "and" becomes and_.
std::string python_name(const ScalarOp& op) {
  std::string name(op.name);
  nb::object is_keyword = nb::module_::import_("keyword").attr("iskeyword");
  return nb::cast<bool>(is_keyword(name)) ? name + "_" : name;
}

// A member of a family, such as Cast{float64}, is bound by a separate function.
bool is_family_member(const ScalarOp& op) { return op.title.find('{') != std::string_view::npos; }

// Whether each element is a call of a runtime function, instead of arithmetic that is vectorized.
bool is_call(const ScalarOp& op) {
  if (!op.expand || !op.loops.run[std::size_t(DType::Float64)]) return false;
  program::ExprPool pool;
  std::vector<program::Expr> operands;
  for (int i = 0; i < op.arity; ++i) operands.push_back(pool.var(i, op.input_dtype(i, DType::Float64)));
  return op.expand(operands, DType::Float64).code() == program::Code::call;
}

// Functions of complex numbers that for real numbers return the number itself or 0: bound in formulas.cpp.
bool is_part_of_complex(std::string_view name) {
  return name == "real" || name == "imag" || name == "conj" || name == "angle";
}

// Those with further arguments, or other names than x and y for both: bound in special.cpp and shapes.cpp.
bool has_own_arguments(std::string_view name) {
  return name == "iv" || name == "kv" || name == "round" || name == "clip";
}

// PyTensor's name of the only argument.
const char* argument_of(std::string_view name) { return name == "isnan" || name == "isinf" ? "a" : "x"; }

void bind_unary(nb::module_& m, const ScalarOp& op, const char* name, const char* doc) {
  auto apply = [&op](const Like& x) {
    const Variable inputs[] = {as_variable(x)};
    return apply_elemwise(op.name, inputs);
  };
  define_both_of(m, name, nb::arg(argument_of(op.name)), apply, doc);
}

void bind_binary(nb::module_& m, const ScalarOp& op, const char* name, const char* doc) {
  if (!op.has(commutative) || !op.has(associative)) {
    auto apply = [&op](const Like& x, const Like& y) {
      const Variable inputs[] = {as_variable(x), as_variable(y)};
      return apply_elemwise(op.name, inputs);
    };
    define(m, name, apply, "x"_a, "y"_a, doc);
    return;
  }
  auto apply = [&op](const Like& x, const Like& y, nb::args more) {
    Variable inputs[] = {as_variable(x), as_variable(y)};
    inputs[0] = apply_elemwise(op.name, inputs);
    for (nb::handle operand : more) {
      inputs[1] = as_variable(operand);
      inputs[0] = apply_elemwise(op.name, inputs);
    }
    return inputs[0];
  };
  define(m, name, apply, "x"_a, "y"_a, "more"_a, doc);
}

void bind_ternary(nb::module_& m, const ScalarOp& op, const char* name, const char* doc) {
  auto apply = [&op](const Like& x, const Like& y, const Like& z) {
    const Variable inputs[] = {as_variable(x), as_variable(y), as_variable(z)};
    return apply_elemwise(op.name, inputs);
  };
  define(m, name, apply, "x"_a, "y"_a, "z"_a, doc);
}

void bind_quaternary(nb::module_& m, const ScalarOp& op, const char* name, const char* doc) {
  auto apply = [&op](const Like& a, const Like& b, const Like& c, const Like& z) {
    const Variable inputs[] = {as_variable(a), as_variable(b), as_variable(c), as_variable(z)};
    return apply_elemwise(op.name, inputs);
  };
  define(m, name, apply, "a"_a, "b"_a, "c"_a, "z"_a, doc);
}

}  // namespace

void bind_elementwise(nb::module_& m) {
  for (const ScalarOp* op : scalar_ops()) {
    if (is_family_member(*op) || is_part_of_complex(op->name) || has_own_arguments(op->name)) continue;
    const std::string name = python_name(*op), doc(op->doc);
    switch (op->arity) {
      case 1: bind_unary(m, *op, name.c_str(), doc.c_str()); break;
      case 2: bind_binary(m, *op, name.c_str(), doc.c_str()); break;
      case 3: bind_ternary(m, *op, name.c_str(), doc.c_str()); break;
      default: bind_quaternary(m, *op, name.c_str(), doc.c_str()); break;
    }
  }
  // (name, number of operands) of each, for tests and documentation.
  m.def(
      "elementwise_functions",
      [] {
        nb::list out;
        for (const ScalarOp* op : scalar_ops())
          if (!is_family_member(*op)) out.append(nb::make_tuple(python_name(*op), op->arity));
        return out;
      },
      nb::sig("def elementwise_functions() -> list[tuple[str, int]]"),
      "Names and numbers of operands of the elementwise functions.");
  m.def(
      "elementwise_calls",
      [] {
        nb::list out;
        for (const ScalarOp* op : scalar_ops())
          if (!is_family_member(*op) && is_call(*op)) out.append(python_name(*op));
        return out;
      },
      nb::sig("def elementwise_calls() -> list[str]"),
      "The elementwise functions that are a call of the runtime for each element, for documentation.");
}

}  // namespace bitale::python
