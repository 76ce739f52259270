// Dimensions from Python: names, Dim objects, and coordinates, which are NumPy's arrays of any kind of labels.
#include "labelled.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>

#include "arguments.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "define.hpp"
#include "instance.hpp"
#include "numpy_bridge.hpp"

namespace bitale::python {

namespace {

using namespace xtensor;

nb::module_ numpy() { return nb::module_::import_("numpy"); }

// Whether two arrays of labels are the same; nan equals nan.
bool are_equal(const nb::object& a, const nb::object& b) {
  if (!a.attr("shape").equal(b.attr("shape"))) return false;
  const auto has_nan = [](const nb::object& x) {
    return std::string_view("fcmM").find(nb::cast<std::string>(x.attr("dtype").attr("kind"))) != std::string_view::npos;
  };
  return nb::cast<bool>(numpy().attr("array_equal")(a, b, "equal_nan"_a = has_nan(a) && has_nan(b)));
}

// Texts such as "2020-01-31" or "2 days" beside dates or durations, as pandas reads them: what has the form of no date
// equals no label.
nb::object dates_of_texts(const nb::object& texts, bool are_dates) {
  const nb::object pandas = import_pandas("sel: texts for dates");
  const nb::object read = pandas.attr(are_dates ? "to_datetime" : "to_timedelta")(texts, "errors"_a = "coerce");
  return numpy().attr("asarray")(read);
}

class ArrayCoordinates final : public Coordinates {
 public:
  // index: the pandas.MultiIndex that tuples of labels are from, whose levels have names; else None.
  explicit ArrayCoordinates(nb::object labels, nb::object index = nb::none())
      : labels(std::move(labels)), index(std::move(index)), count_(std::int64_t(nb::len(this->labels))) {}
  std::int64_t count() const override { return count_; }
  bool equals(const Coordinates& other) const override {
    const auto* mine = dynamic_cast<const ArrayCoordinates*>(&other);
    return mine && are_equal(labels, mine->labels);
  }
  CoordinatesRef at(std::span<const std::int64_t> positions) const override {
    nb::list list;
    for (const auto position : positions) list.append(position);
    const nb::object array = numpy().attr("asarray")(list, "dtype"_a = "int64");
    return make_ref<const ArrayCoordinates>(labels[array], index.is_none() ? index : nb::object(index[array]));
  }
  CoordinatesRef followed_by(const Coordinates& other) const override {
    const auto* mine = dynamic_cast<const ArrayCoordinates*>(&other);
    if (!mine) return {};
    if (!index.is_none() && !mine->index.is_none() && index.attr("names").equal(mine->index.attr("names")))
      return as_coordinates(index.attr("append")(mine->index));
    // An array of both may change labels: numbers beside texts become texts.
    const nb::object both = numpy().attr("concatenate")(nb::make_tuple(labels, mine->labels));
    const nb::object middle = nb::int_(count_), none = nb::none();
    const nb::object first = both[nb::slice(none, middle, none)], second = both[nb::slice(middle, none, none)];
    return are_equal(first, labels) && are_equal(second, mine->labels) ? as_coordinates(both) : nullptr;
  }
  std::string label(std::int64_t position) const override {
    const nb::object one = labels[nb::int_(position)];
    return shown(nb::hasattr(one, "item") ? nb::object(one.attr("item")()) : one);
  }

  std::vector<std::int64_t> positions_of(const Coordinates& wanted, std::int64_t which) const override {
    const nb::object one = label_of(wanted, which);
    // NumPy has no comparison of these.
    const auto are_other_kinds = [](char a, char b) { return a != b && a != 'O' && b != 'O'; };
    for (const char alone : {'M', 'm', 'U', 'S'})
      if ((kind(labels) == alone || kind(one) == alone) && are_other_kinds(kind(labels), kind(one))) return {};
    if (is_time(labels) && kind(one) == 'O') return {};
    // Missing labels equal each other, as those of pandas.
    nb::object is_found = labels.attr("__eq__")(one);
    if (is_missing(one)) is_found = labels.attr("__ne__")(labels);
    const nb::object found = numpy().attr("flatnonzero")(is_found);
    return nb::cast<std::vector<std::int64_t>>(found.attr("tolist")());
  }
  std::vector<int> compared_to(const Coordinates& wanted, std::int64_t which) const override {
    const nb::object one = label_of(wanted, which);
    if (is_missing(one)) throw TypeError(cat("sel: the label ", wanted.label(which), " has no order with others"));
    try {
      const nb::object after = numpy().attr("greater")(labels, one), before = numpy().attr("less")(labels, one);
      return nb::cast<std::vector<int>>(numpy().attr("subtract")(after, before, "dtype"_a = "int8").attr("tolist")());
    } catch (const nb::python_error& error) {
      if (!error.matches(PyExc_TypeError)) throw;
      throw TypeError(
          cat("sel: the label ", wanted.label(which), " has no order with those of the coordinates, ", shown(labels)));
    }
  }
  std::optional<std::vector<double>> differences_from(const Coordinates& wanted, std::int64_t which) const override {
    const nb::object one = label_of(wanted, which);
    if (is_time(labels) && kind(one) == kind(labels)) {  // in nanoseconds
      const nb::object difference = numpy().attr("subtract")(labels, one).attr("astype")("m8[ns]");
      const nb::object missing = numpy().attr("isnat")(difference), nan = nb::float_(std::nan(""));
      return nb::cast<std::vector<double>>(
          numpy().attr("where")(missing, nan, difference.attr("astype")("float64")).attr("tolist")());
    }
    const auto is_number = [](const nb::object& x) { return std::string_view("iufb").find(kind(x)) < 4; };
    if (!is_number(labels) || !is_number(one)) return {};
    // Differences of unsigned integers and of truth values are none.
    const auto is_signed = [](const nb::object& x) { return std::string_view("if").find(kind(x)) < 2; };
    const nb::object difference = is_signed(labels) && is_signed(one)
                                      ? numpy().attr("subtract")(labels, one)
                                      : numpy().attr("subtract")(labels, one, "dtype"_a = "float64");
    return nb::cast<std::vector<double>>(difference.attr("astype")("float64").attr("tolist")());
  }
  Order order() const override {
    if (count_ < 2) return Order::Ascending;
    const nb::object end = nb::none();
    const nb::object earlier = labels[nb::slice(end, nb::int_(-1), end)],
                     later = labels[nb::slice(nb::int_(1), end, end)];
    try {
      if (nb::cast<bool>(numpy().attr("less_equal")(earlier, later).attr("all")().attr("item")()))
        return Order::Ascending;
      if (nb::cast<bool>(numpy().attr("greater_equal")(earlier, later).attr("all")().attr("item")()))
        return Order::Descending;
    } catch (const nb::python_error& error) {
      if (!error.matches(PyExc_TypeError)) throw;
    }
    return Order::None;
  }
  Distinct distinct() const override {
    // Labels that don't equal themselves are missing: nan and NaT. So is None.
    nb::object is_there = labels.attr("__eq__")(labels);
    if (kind(labels) == 'O') {
      nb::list none;
      for (nb::handle each : labels) none.append(!each.is_none());
      is_there = numpy().attr("logical_and")(is_there, numpy().attr("asarray")(none, "dtype"_a = "bool"));
    }
    nb::object found;
    try {
      found = numpy().attr("unique")(labels[is_there], "return_inverse"_a = true);
    } catch (const nb::python_error& error) {
      if (!error.matches(PyExc_TypeError)) throw;
      throw TypeError(cat("groupby: the labels have no order among each other: ", shown(labels)));
    }
    const nb::object group_of = numpy().attr("full")(count_, -1, "dtype"_a = "int64");
    group_of[is_there] = found[1];
    return {as_coordinates(found[0]), nb::cast<std::vector<std::int64_t>>(group_of.attr("tolist")())};
  }
  std::optional<std::vector<double>> numbers() const override {
    if (std::string_view("iuf").find(kind(labels)) >= 3) return {};
    return nb::cast<std::vector<double>>(labels.attr("astype")("float64").attr("tolist")());
  }

  const nb::object labels, index;

 private:
  static char kind(const nb::object& array) { return nb::cast<std::string>(array.attr("dtype").attr("kind"))[0]; }
  // Whether an array of one label has a label that does not equal itself: nan, or NaT.
  static bool is_missing(const nb::object& one) {
    return kind(one) != 'O' && nb::cast<bool>(one.attr("__ne__")(one).attr("any")().attr("item")());
  }
  static bool is_time(const nb::object& array) { return kind(array) == 'M' || kind(array) == 'm'; }

  // The label as an array of one element. Beside dates Python's and pandas's objects are dates as well.
  nb::object label_of(const Coordinates& wanted, std::int64_t which) const {
    const auto* array = dynamic_cast<const ArrayCoordinates*>(&wanted);
    if (!array) throw TypeError("sel: expected labels of the same language as the coordinates");
    const nb::object one = array->labels[nb::slice(nb::int_(which), nb::int_(which + 1), nb::none())];
    if (!is_time(labels) || kind(one) == kind(labels)) return one;
    const bool is_date = kind(labels) == 'M';
    if (kind(one) == 'U') return dates_of_texts(one, is_date);
    if (kind(one) != 'O') return one;
    const nb::object object = one[nb::int_(0)];
    if (!nb::hasattr(object, is_date ? "isoformat" : "total_seconds")) return one;  // it equals none
    const char* exact = is_date ? "to_datetime64" : "to_timedelta64";               // pandas's
    const nb::object label = nb::hasattr(object, exact) ? nb::object(object.attr(exact)()) : object;
    return numpy().attr("atleast_1d")(numpy().attr("asarray")(label, "dtype"_a = is_date ? "M8" : "m8"));
  }

  const std::int64_t count_;
};

bool is_multi_index(nb::handle object) { return nb::hasattr(object, "levels") && nb::hasattr(object, "codes"); }

bool is_text(nb::handle object) { return PyUnicode_Check(object.ptr()); }

}  // namespace

nb::object import_pandas(std::string_view who) {
  try {
    return nb::module_::import_("pandas");
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_ImportError)) throw;
    throw NotImplementedError(cat(who, ": pandas reads them, and is not installed"));
  }
}

CoordinatesRef as_coordinates(nb::handle labels) {
  if (labels.is_none()) return {};
  if (is_multi_index(labels)) {
    const nb::object array = labels.attr("to_numpy")().attr("copy")();
    array.attr("setflags")("write"_a = false);
    return make_ref<const ArrayCoordinates>(array, nb::borrow(labels));
  }
  const nb::object given = nb::getattr(labels, "values", nb::borrow(labels));
  nb::object array;
  if (is_ndarray(given)) {
    array = given.attr("copy")();
  } else {
    // Tuples are labels, not rows of a matrix.
    const nb::list list(given);
    bool has_tuples = false;
    for (nb::handle each : list) has_tuples = has_tuples || PyTuple_Check(each.ptr());
    if (has_tuples) {
      array = numpy().attr("empty")(nb::len(list), "dtype"_a = "object");
      for (std::size_t i = 0; i < nb::len(list); ++i) array[i] = list[i];
    } else {
      array = numpy().attr("asarray")(list);
    }
  }
  if (nb::cast<int>(array.attr("ndim")) != 1)
    throw ValueError(
        cat("xtensor: expected a label for each position, got coordinates of shape ", shown(array.attr("shape"))));
  array.attr("setflags")("write"_a = false);
  return make_ref<const ArrayCoordinates>(array);
}

nb::object labels_of(const CoordinatesRef& coordinates) {
  const auto* array = dynamic_cast<const ArrayCoordinates*>(coordinates.get());
  return !array ? nb::none() : array->index.is_none() ? array->labels : array->index;
}

nb::object multi_index_of(const CoordinatesRef& coordinates) {
  const auto* array = dynamic_cast<const ArrayCoordinates*>(coordinates.get());
  return array ? array->index : nb::none();
}

const XVariable* labelled_in(nb::handle object) { return instance_of<XVariable>(object); }

bool is_data_array(nb::handle object) {
  return !is_variable(object) && !labelled_in(object) && nb::hasattr(object, "dims") && nb::hasattr(object, "coords") &&
         nb::hasattr(object, "to_numpy");
}

DimList dims_of_data_array(nb::handle array) {
  DimList out;
  const nb::object coords = array.attr("coords");
  for (nb::handle name : nb::borrow<nb::sequence>(array.attr("dims"))) {
    const Dim dim = as_dim(name);
    const bool has_labels = PySequence_Contains(coords.ptr(), name.ptr()) == 1;
    if (!has_labels) {
      out.push_back(dim);
      continue;
    }
    const nb::object values = coords[name].attr("values");
    const bool may_have_levels = nb::cast<std::string>(values.attr("dtype").attr("kind")) == "O";
    const nb::object index = may_have_levels ? nb::object(array.attr("indexes")[name]) : nb::none();
    out.push_back(Dim(dim.name(), {}, as_coordinates(is_multi_index(index) ? index : values)));
  }
  return out;
}

nb::object array_in_order(const DimList& dims, nb::handle value, std::string_view label) {
  if (!is_data_array(value)) return nb::borrow(value);
  const DimList theirs = dims_of_data_array(value);
  nb::list names;
  for (const Dim& dim : dims) names.append(dim.name());
  const auto is_there = [&](const Dim& dim) {
    return std::ranges::find(theirs, dim.name(), &Dim::name) != theirs.end();
  };
  if (theirs.size() != dims.size() || !std::ranges::all_of(dims, is_there))
    throw ValueError(cat(label, ": expected the dimensions ", shown(nb::tuple(names)), ", in any order, got ",
                         shown(nb::tuple(value.attr("dims")))));
  for (const Dim& dim : dims) {
    const Dim& other = *std::ranges::find(theirs, dim.name(), &Dim::name);
    if (dim.coordinates() && other.coordinates() && !dim.coordinates()->equals(*other.coordinates()))
      throw ValueError(cat(label, ": the coordinates along '", dim.name(), "' are not those of the variable: expected ",
                           nb::cast<std::string>(nb::str(labels_of(dim.coordinates()))), ", got ",
                           nb::cast<std::string>(nb::str(labels_of(other.coordinates()))),
                           "; select and order them with value.sel(", dim.name(), "=...)"));
  }
  return value.attr("transpose")(*names).attr("values");
}

std::optional<XVariable> try_as_labelled(nb::handle object) {
  if (const XVariable* x = labelled_in(object)) return *x;
  if (is_data_array(object)) return XVariable(as_variable(object.attr("values")), dims_of_data_array(object));
  const auto scalar = try_as_variable(object);
  if (!scalar) return {};
  try {
    return XOperand(*scalar).variable;
  } catch (TypeError& error) {
    if (is_ndarray(object))
      error.add("hint",
                "an xarray.DataArray on the left of an operator passes on its values without names: "
                "as_xtensor(array) + x keeps them, and so does x + array");
    throw;
  }
}

XVariable as_labelled(nb::handle object) {
  if (auto out = try_as_labelled(object)) return *out;
  throw TypeError(cat("xtensor: expected a labelled tensor, a scalar or an xarray.DataArray, got ", shown(object)));
}

Dim as_dim(nb::handle object) {
  if (is_text(object)) return Dim(nb::cast<std::string>(object));
  if (const Dim* dim = instance_of<Dim>(object)) return *dim;
  throw TypeError(cat("xtensor: expected the name of a dimension or a Dim, got ", shown(object)));
}

DimList as_dims(nb::handle object, std::string_view who) {
  if (is_text(object) || instance_of<Dim>(object)) return {as_dim(object)};
  const nb::object items = nb::steal(PySequence_Fast(object.ptr(), ""));
  if (!items) {
    PyErr_Clear();
    throw TypeError(cat(who, ": expected names of dimensions, got ", shown(object)));
  }
  DimList out;
  for (nb::handle each : items) out.push_back(as_dim(each));
  return out;
}

Names as_names(nb::handle object, std::string_view who) {
  if (object.is_none() || object.ptr() == Py_Ellipsis) return {};
  std::vector<std::string> out;
  for (const Dim& dim : as_dims(object, who)) out.push_back(dim.name());
  return out;
}

std::vector<std::string> as_core_names(nb::handle object, std::string_view who) {
  return as_names(object, who).value_or(std::vector<std::string>());
}

void bind_dims(nb::module_& m) {
  nb::class_<Dim> cls(m, "Dim",
                      "A dimension of labelled tensors: a name, and a length and coordinates where they are known.");
  cls.def(
         "__init__",
         [](Dim* self, Any name, std::optional<std::int64_t> length, Any coords) {
           if (!is_text(name)) throw TypeError(cat("Dim: expected a string as the name, got ", shown(name)));
           new (self) Dim(nb::cast<std::string>(name), length, as_coordinates(coords));
         },
         "name"_a.none(), "length"_a = nb::none(), "coords"_a = nb::none())
      .def_prop_ro("name", &Dim::name)
      .def_prop_ro("length", &Dim::length, "The number of positions, or None where it is not known.")
      .def_prop_ro(
          "coords", [](const Dim& self) { return labels_of(self.coordinates()); },
          "The labels of the positions, or None.")
      .def_prop_ro("is_declared", &Dim::is_declared, "Whether a program made it, rather than a plain name.")
      .def("__repr__",
           [](const Dim& self) {
             return cat("Dim(\"", self.name(), '"', self.length() ? cat(", ", *self.length()) : std::string(),
                        self.coordinates() ? ", coords=..." : "", ')');
           })
      .def(
          "__eq__",
          [](const Dim& self, nb::handle other) -> nb::object {
            const Dim* dim = instance_of<Dim>(other);
            if (!dim) return nb::borrow(Py_NotImplemented);
            const bool both = self.coordinates() && dim->coordinates();
            return nb::bool_(
                self.name() == dim->name() && self.length() == dim->length() &&
                (both ? self.coordinates()->equals(*dim->coordinates()) : !self.coordinates() && !dim->coordinates()));
          },
          nb::arg().none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__getstate__",
           [](const Dim& self) {
             return nb::make_tuple(self.name(), self.length(), labels_of(self.coordinates()), self.is_declared());
           })
      .def("__setstate__",
           [](Dim& self, const std::tuple<std::string, std::optional<std::int64_t>, nb::object, bool>& state) {
             const auto& [name, length, labels, is_declared] = state;
             const CoordinatesRef coordinates = as_coordinates(labels);
             new (&self) Dim(is_declared ? Dim(name, length, coordinates) : Dim(name).with(coordinates));
           })
      .def("__hash__", [](const Dim& self) { return std::hash<std::string>()(self.name()); });
  m.def(
      "xtensor_dims", [](Any names) { return as_dims(names, "xtensor"); }, "names"_a.none(),
      "Dim objects of plain names, which count as not declared; a Dim stays as it is.");
  m.def("is_data_array", is_data_array, "value"_a.none(),
        "Whether it is one of xarray's arrays, which may not be installed.");
  m.def("array_in_order", array_in_order, "dims"_a, "value"_a.none(), "label"_a,
        nb::sig("def array_in_order(dims: typing.Sequence[Dim], value: typing.Any, label: str) -> typing.Any"),
        "The values of one of xarray's arrays in this order of dimensions; anything else as it is.");
  m.def("dims_of_data_array", dims_of_data_array, "array"_a,
        "The dimensions of one of xarray's arrays, with their labels.");
}

}  // namespace bitale::python
