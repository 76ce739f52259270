// The interpretation of Python objects as operands, axes and shapes.
#include "arguments.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <string>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/random_type.hpp"
#include "bitale/graph/traversal.hpp"
#include "bitale/ops/ops.hpp"
#include "identity_test.hpp"
#include "instance.hpp"
#include "named_parts.hpp"
#include "numpy_bridge.hpp"
#include "tree.hpp"

namespace bitale::python {

namespace {

std::string class_name(nb::handle object) { return nb::cast<std::string>(object.type().attr("__name__")); }

// Whether the elements of a list have to be interpreted one by one.
bool holds_variable(nb::handle object) {
  if (is_variable(object) || instance_of<IdentityTest>(object)) return true;
  if (!is_sequence(object)) return false;
  const NestedList level;
  for (nb::handle item : object)
    if (holds_variable(item)) return true;
  return false;
}

// The flag cast_policy, cached because it is needed for every number.
bool is_as_numpy() {
  static std::atomic<std::uint64_t> seen{~std::uint64_t(0)};
  static std::atomic<bool> answer{false};
  const std::uint64_t now = config::change_count();
  if (seen.load() != now) {
    answer = config::get("cast_policy") == "numpy+floatX";
    seen = now;
  }
  return answer;
}

// A constant of the dtype that NumPy gives the value, with floatX in place of float64.
Variable as_numpy(const Array& value) {
  return constant(value.dtype() == DType::Float64 ? value.astype(config::float_x()) : value);
}

std::optional<Variable> from_number(nb::handle object) {
  PyObject* p = object.ptr();
  if (PyLong_CheckExact(p)) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(p, &overflow);
    if (!overflow && is_as_numpy()) return as_numpy(Array(std::int64_t(value)));
    if (!overflow) return Operand::number(std::int64_t(value));
    if (overflow < 0) throw ValueError(cat("the integer ", shown(object), " does not fit int64"));
    const unsigned long long large = PyLong_AsUnsignedLongLong(p);
    if (PyErr_Occurred()) {
      PyErr_Clear();
      throw ValueError(cat("the integer ", shown(object), " does not fit uint64"));
    }
    return constant(Array(std::uint64_t(large)));
  }
  if (PyFloat_CheckExact(p) && is_as_numpy()) return as_numpy(Array(PyFloat_AS_DOUBLE(p)));
  if (PyFloat_CheckExact(p)) return Operand::number(PyFloat_AS_DOUBLE(p));
  if (PyComplex_CheckExact(p)) {
    const Py_complex value = PyComplex_AsCComplex(p);
    return Operand::number(std::complex<double>(value.real, value.imag));
  }
  return {};
}

// The elements of a list that is given as a tensor.
Variables tensors_in(nb::handle list) {
  const Variables out = as_variables(list, "list");
  for (const Variable& each : out)
    if (as_random(each.type()))
      throw TypeError(cat("expected a tensor, got a list with the state of a generator, ", each.str(),
                          ": the methods of a generator return (next_rng, draw), `next_rng, x = rng.normal(...)`"));
  return out;
}

std::optional<Variable> convert(nb::handle object) {
  if (is_variable(object)) return variable_of(object);
  refuse_truth_value(object);
  if (auto number = from_number(object)) return number;
  if (is_sequence(object)) {
    const NestedList level;
    if (holds_variable(object)) {
      if (has_named_parts(object)) refuse_named_parts(object);
      return stack(tensors_in(object), 0);
    }
    if (nb::len(object) == 0) return constant(Array::empty(dtype_from(nb::str("floatX")), Dims{0}));
    return constant(array_from(object, Share::Copy));
  }
  if (is_ndarray(object) || is_numpy_scalar(object)) return constant(array_from(object, Share::Copy));
  if (object.is_none() || PyUnicode_Check(object.ptr())) return {};
  if (tree_class_of(object)) return {};  // it has no one tensor
  if (auto array = try_array_from(object, Share::Copy)) return constant(*array);
  return {};
}

}  // namespace

std::string shown(nb::handle object) {
  constexpr std::size_t longest = 200;
  nb::object text = nb::steal(PyObject_Repr(object.ptr()));
  const char* utf8 = text ? PyUnicode_AsUTF8(text.ptr()) : nullptr;
  if (!utf8) {
    PyErr_Clear();
    return cat("an object of type ", Py_TYPE(object.ptr())->tp_name);
  }
  std::string out = utf8;
  if (out.size() <= longest) return out;
  std::size_t end = longest;
  while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xC0) == 0x80) --end;  // not inside a UTF-8 character
  return out.substr(0, end) + "...";
}

std::optional<Variable> try_as_variable(nb::handle object) { return convert(object); }

Variable as_variable(nb::handle object) {
  if (auto variable = convert(object)) return *variable;
  if (nb::hasattr(object, "todense"))
    throw TypeError(cat("expected a dense variable or array, got the sparse matrix ", shown(object),
                        "; A.todense() is dense, and bitale.sparse has the functions of sparse matrices"));
  if (nb::hasattr(object, "dims") && nb::hasattr(object, "values"))
    throw TypeError(cat("expected a variable, a number or an array, got ", shown(object),
                        ", whose dimensions have names; its .values have none, and bitale.xtensor has the functions "
                        "of labelled tensors"));
  throw TypeError(
      cat("expected a variable, a number or an array, got ", shown(object), " of type ", class_name(object)));
}

std::optional<Operand> optional_operand(nb::handle value) {
  if (value.is_none()) return {};
  return Operand(as_variable(value));
}

Variables as_variables(nb::handle sequence, std::string_view what) {
  if (is_variable(sequence) || !(is_sequence(sequence) || PyIter_Check(sequence.ptr()) || is_ndarray(sequence)))
    throw TypeError(cat(what, ": expected a list of variables, got ", shown(sequence)));
  Variables out;
  for (nb::handle item : sequence) out.push_back(as_variable(item));
  return out;
}

Variable require_variable(nb::handle object, std::string_view what) {
  if (is_variable(object)) return variable_of(object);
  throw TypeError(cat(what, ": expected a variable, got ", shown(object)));
}

std::vector<std::pair<nb::object, nb::object>> as_pairs(nb::handle object, std::string_view what) {
  std::vector<std::pair<nb::object, nb::object>> out;
  if (object.is_none()) return out;
  if (PyDict_Check(object.ptr())) {
    for (auto [key, value] : nb::borrow<nb::dict>(object)) out.emplace_back(nb::borrow(key), nb::borrow(value));
    return out;
  }
  nb::object items = is_variable(object) ? nb::object() : nb::steal(PyObject_GetIter(object.ptr()));
  if (!items) {
    PyErr_Clear();
    throw TypeError(cat(what, ": expected a dict or a list of pairs, got ", shown(object)));
  }
  while (nb::object pair = nb::steal(PyIter_Next(items.ptr()))) {
    if (!is_sequence(pair) || nb::len(pair) != 2) throw TypeError(cat(what, ": expected pairs, got ", shown(pair)));
    out.emplace_back(pair[0], pair[1]);
  }
  if (PyErr_Occurred()) nb::raise_python_error();
  return out;
}

Replacements as_replacements(nb::handle object, std::string_view what, std::span<const Variable> graph) {
  Replacements out;
  for (auto& pair : as_pairs(object, what)) {
    Replacements parts, used;
    for (auto& [before, after] : leaf_pairs({pair}, what))
      parts.emplace_back(require_variable(before, what), as_variable(after));
    if (is_tree(pair.first)) {
      std::erase_if(parts, [](const auto& one) { return one.first.same_as(one.second); });
      const Variables found = ancestors(graph);
      const VariableSet occurring(found.begin(), found.end());
      std::ranges::copy_if(parts, std::back_inserter(used),
                           [&](const auto& one) { return occurring.contains(one.first); });
    }
    for (auto& one : used.empty() ? parts : used) out.push_back(std::move(one));
  }
  return out;
}

namespace {
constexpr int kMaxListDepth = 200;
thread_local int list_depth = 0;
}  // namespace

NestedList::NestedList() {
  if (list_depth == kMaxListDepth) {
    PyErr_Format(PyExc_RecursionError, "expected lists nested at most %d deep; does a list contain itself?",
                 kMaxListDepth);
    nb::raise_python_error();
  }
  ++list_depth;
}

NestedList::~NestedList() { --list_depth; }

bool is_sequence(nb::handle object) { return PyList_Check(object.ptr()) || PyTuple_Check(object.ptr()); }

bool is_integer_object(nb::handle object) {
  return !PyBool_Check(object.ptr()) && !is_variable(object) &&
         !(is_ndarray(object) && nb::cast<int>(object.attr("ndim")) > 0) && PyIndex_Check(object.ptr());
}

std::optional<int> as_optional_int(nb::handle value, std::string_view what) {
  if (value.is_none()) return {};
  if (!is_integer_object(value)) throw TypeError(cat(what, ": expected an integer or None, got ", shown(value)));
  const Py_ssize_t number = PyNumber_AsSsize_t(value.ptr(), nullptr);  // clamped
  if (number == -1 && PyErr_Occurred()) nb::raise_python_error();
  if (number != int(number)) throw ValueError(cat(what, ": ", shown(value), " is too large"));
  return int(number);
}

std::vector<int> as_ints(nb::handle sequence, std::string_view what) {
  std::vector<int> out;
  if (!is_sequence(sequence) && !is_ndarray(sequence))
    throw TypeError(cat(what, ": expected a sequence of integers, got ", shown(sequence)));
  for (nb::handle item : sequence) {
    if (item.is_none()) throw TypeError(cat(what, ": expected integers, got None"));
    out.push_back(*as_optional_int(item, what));
  }
  return out;
}

Axes as_axes(nb::handle axis, std::string_view function) {
  if (axis.is_none()) return {};
  if (is_integer_object(axis)) return std::vector<int>{*as_optional_int(axis, cat(function, ": axis"))};
  if (is_sequence(axis)) return as_ints(axis, cat(function, ": axis"));
  throw TypeError(cat(function, ": axis must be an integer, a sequence of integers or None, got ", shown(axis)));
}

Variables as_lengths(nb::handle shape, std::string_view function) {
  if (is_variable(shape)) {
    const Variable& v = variable_of(shape);
    if (v.ndim() == 0) return {v};
    if (v.ndim() == 1 && v.static_shape()[0] != unknown_length) {
      Variables lengths;
      for (std::int64_t i = 0; i < v.static_shape()[0]; ++i) lengths.push_back(subtensor(v, {IndexItem(Operand(i))}));
      return lengths;
    }
    throw TypeError(cat(function, ": the shape ", v.str(),
                        " must be a scalar, or a vector of known length: its type is ", v.type()->str()));
  }
  if (is_integer_object(shape)) return {as_variable(shape)};
  if (is_ndarray(shape)) return as_lengths(shape.attr("tolist")(), function);
  if (!is_sequence(shape))
    throw TypeError(
        cat(function, ": expected a shape (an integer or a sequence of integers and scalars), got ", shown(shape)));
  return as_variables(shape, cat(function, ": shape"));
}

Dims as_static_shape(nb::handle shape) {
  if (is_integer_object(shape)) return Dims{*as_optional_int(shape, "shape")};
  if (!is_sequence(shape)) throw TypeError(cat("shape: expected a sequence of integers and None, got ", shown(shape)));
  Dims out;
  for (nb::handle item : shape) {
    if (item.is_none()) {
      out.push_back(unknown_length);
      continue;
    }
    if (!is_integer_object(item)) throw TypeError(cat("shape: expected an integer or None, got ", shown(item)));
    const Py_ssize_t length = PyNumber_AsSsize_t(item.ptr(), nullptr);  // clamped
    if (length == -1 && PyErr_Occurred()) nb::raise_python_error();
    if (length < 0) throw ValueError(cat("shape: negative length ", shown(item)));
    if (length == PY_SSIZE_T_MAX) throw ValueError(cat("shape: the length ", shown(item), " is too large"));
    out.push_back(length);
  }
  return out;
}

nb::tuple static_shape_tuple(const Dims& shape) {
  nb::list lengths;
  for (auto length : shape) {
    if (length == unknown_length)
      lengths.append(nb::none());
    else
      lengths.append(length);
  }
  return nb::tuple(lengths);
}

}  // namespace bitale::python
