// x[...] with NumPy's indices, and modified copies: x[index].set(y), x[index].inc(y).
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "define.hpp"
#include "flag.hpp"
#include "index_item.hpp"
#include "numpy_bridge.hpp"

namespace bitale::python {

namespace {

// The item as a Python int. A 0-d array may look like an index without being one.
nb::object python_int(nb::handle item) {
  nb::object number = nb::steal(PyNumber_Index(item.ptr()));
  if (!number) nb::raise_python_error();
  return number;
}

// A number that int64 can't hold is clamped: it is beyond any end.
std::int64_t bound_number(nb::handle item) {
  const nb::object number = python_int(item);
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow == 0) return value;
  using Limits = std::numeric_limits<std::int64_t>;
  return overflow > 0 ? Limits::max() : Limits::min();
}

Variable index_number(nb::handle item) {
  const nb::object number = python_int(item);
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0) throw IndexError(cat("index ", shown(item), " is out of bounds for any axis"));
  return Operand::number(std::int64_t(value));
}

std::optional<Operand> slice_part(nb::handle part) {
  if (part.is_none()) return {};
  if (!is_variable(part) && !is_integer_object(part))
    throw TypeError(cat("index: expected an integer, a scalar variable or None in a slice, got ", shown(part)));
  return Operand(is_variable(part) ? variable_of(part) : Operand::number(bound_number(part)));
}

// A list without elements has no dtype of its own: as an index it selects nothing.
bool is_empty_list(nb::handle item, const Variable& converted) {
  return (PyList_Check(item.ptr()) || PyTuple_Check(item.ptr())) && converted.is_constant() &&
         converted.constant()->size() == 0;
}

}  // namespace

IndexItem index_item(nb::handle item) {
  if (item.is_none()) return NewAxis{};
  if (item.ptr() == Py_Ellipsis) return Ellipsis{};
  if (PySlice_Check(item.ptr()))
    return Slice{slice_part(item.attr("start")), slice_part(item.attr("stop")), slice_part(item.attr("step"))};
  const bool has_dtype = is_ndarray(item) || is_numpy_scalar(item);
  if (is_integer_object(item) && !(has_dtype && nb::str(item.attr("dtype").attr("kind")).equal(nb::str("b"))))
    return IndexItem(Operand(index_number(item)));
  if (PyFloat_Check(item.ptr()) || PyUnicode_Check(item.ptr()))
    throw TypeError(
        cat("index: expected integers, slices, None, Ellipsis, or arrays of integers or bools, got ", shown(item)));
  const Variable converted = as_variable(item);
  if (is_empty_list(item, converted))
    return IndexItem(Operand(Array::empty(DType::Int64, converted.constant()->shape())));
  return IndexItem(Operand(converted));
}

namespace {

std::vector<IndexItem> index_items(nb::handle index) {
  std::vector<IndexItem> items;
  if (PyTuple_Check(index.ptr()))
    for (nb::handle item : index) items.push_back(index_item(item));
  else
    items.push_back(index_item(index));
  return items;
}

nb::object get_item(const TensorVariableObject& self, const nb::object& index) {
  auto indexing = std::make_shared<Indexing>(Indexing{self.variable, index_items(index)});
  Variable result = subtensor(self.variable, indexing->items);
  nb::object object = wrap(result);
  variable_object_of(object).indexing = std::move(indexing);
  return object;
}

TakeMode take_mode(nb::handle mode) {
  if (mode.is_none()) return TakeMode::Raise;
  const std::string name = PyUnicode_Check(mode.ptr()) ? nb::cast<std::string>(mode) : "";
  if (name == "raise") return TakeMode::Raise;
  if (name == "clip") return TakeMode::Clip;
  if (name == "wrap") return TakeMode::Wrap;
  throw ValueError(cat("take: expected mode \"raise\", \"clip\" or \"wrap\", got ", shown(mode)));
}

const Indexing& indexing_of(nb::handle object, const char* function) {
  if (is_variable(object)) {
    if (auto& indexing = variable_object_of(object).indexing) return *indexing;
    throw TypeError(cat(function, ": expected an indexed variable, x[index], got ", variable_of(object).str()));
  }
  throw TypeError(cat(function, ": expected an indexed variable, x[index], got ", shown(object)));
}

Variable set_items(nb::handle indexed, nb::handle y) {
  auto& indexing = indexing_of(indexed, "set");
  return set_subtensor(indexing.base, indexing.items, as_variable(y));
}

Variable inc_items(nb::handle indexed, nb::handle y, bool ignore_duplicates) {
  auto& indexing = indexing_of(indexed, "inc");
  // As for NumPy's `x[index] += y`: among equal indices the last one counts.
  if (ignore_duplicates) return set_subtensor(indexing.base, indexing.items, add(as_variable(indexed), as_variable(y)));
  return inc_subtensor(indexing.base, indexing.items, as_variable(y));
}

}  // namespace

void bind_indexing(nb::module_& m) {
  define_method(m, "__getitem__", get_item, nb::arg().none(),
                nb::sig("def __getitem__(self, index: typing.Any, /) -> TensorVariable"),
                "x[index] with NumPy's meaning for integers, slices, None, Ellipsis, integer arrays and boolean masks. "
                "IndexError where a mask has another length than the dimension that it covers.");
  auto set = [](const Like& x, const Like& y) { return set_items(x, y); };
  auto inc = [](const Like& x, const Like& y, Flag ignore_duplicates) { return inc_items(x, y, ignore_duplicates); };
  define_method(m, "set", set, "y"_a, "x[index].set(y): a copy of x in which x[index] is y.");
  define_method(m, "inc", inc, "y"_a, nb::kw_only(), "ignore_duplicates"_a = false,
                "x[index].inc(y): a copy of x in which y is added to x[index]. Repeated indices add up; with "
                "ignore_duplicates the last one of them counts, as in NumPy's x[index] += y.");
  auto set_subtensor = [set](const Like& x, const Like& y, Flag, Flag) { return set(x, y); };
  auto inc_subtensor = [set, inc](const Like& x, const Like& y, Flag, Flag set_instead_of_inc, Flag,
                                  Flag ignore_duplicates) {
    return set_instead_of_inc ? set(x, y) : inc(x, y, ignore_duplicates);
  };
  define(m, "set_subtensor", set_subtensor, "x"_a, "y"_a, "inplace"_a = false, "tolerate_inplace_aliasing"_a = false,
         R"(>>> x = pt.dvector("x")
>>> pt.set_subtensor(x[1:], 9.0).eval({x: [1.0, 2.0, 3.0]})
array([1., 9., 9.]))");
  define(m, "inc_subtensor", inc_subtensor, "x"_a, "y"_a, "inplace"_a = false, "set_instead_of_inc"_a = false,
         "tolerate_inplace_aliasing"_a = false, "ignore_duplicates"_a = false, R"(>>> x = pt.dvector("x")
>>> pt.inc_subtensor(x[[0, 0]], 1.0).eval({x: [1.0, 2.0]})
array([3., 2.]))");
  define_both_of(
      m, "take", "a"_a,
      [](const Like& x, const Like& indices, Any axis, Any mode) {
        auto which = as_optional_int(axis, "take: axis");
        Variable from = as_variable(x);
        Variable positions = as_variable(indices);
        if (is_empty_list(indices, positions)) positions = cast(positions, DType::Int64);
        return take(which ? from : flatten(from), positions, which.value_or(0), take_mode(mode));
      },
      "indices"_a, "axis"_a = nb::none(), "mode"_a = "raise");
  const auto positions = [](const Like& a, Flag return_matrix) -> Any {
    const Variables found = nonzero(as_variable(a));
    if (return_matrix) return nb::cast(stack(found));
    return nb::tuple(nb::cast(found));
  };
  const char* positions_doc =
      "The positions of the elements that are not 0, in row-major order: a tuple with an int64 vector per dimension, "
      "or a matrix with a row per dimension. ValueError for a scalar.";
  define(m, "nonzero", positions, "a"_a, "return_matrix"_a = false, positions_doc);
  define_method(m, "nonzero", positions, "return_matrix"_a = false, positions_doc);
  const auto values = [](const Like& a) { return nonzero_values(as_variable(a)); };
  const char* values_doc = "The elements that are not 0, in row-major order, a vector. ValueError for a scalar.";
  define(m, "nonzero_values", values, "a"_a, values_doc);
  define_method(m, "nonzero_values", values, values_doc);
  define(
      m, "flatnonzero", [](const Like& a) { return flatnonzero(as_variable(a)); }, "a"_a);
  auto selected = [](const Like& condition, const Like& x, const Any& axis) {
    return compress(as_variable(condition), as_variable(x), as_optional_int(axis, "compress: axis"));
  };
  define(m, "compress", selected, "condition"_a, "x"_a, "axis"_a = nb::none());
  define_method(
      m, "compress",
      [selected](const Like& x, const Like& condition, const Any& axis) { return selected(condition, x, axis); },
      "condition"_a, "axis"_a = nb::none(),
      "The elements along an axis at which a vector is not 0; of the flattened x when axis is None.");
}

}  // namespace bitale::python
