// Labelled tensors, for bitale.xtensor. The package's Python files have PyTensor's names, and convert xarray's arrays;
// everything that builds expressions is here.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/core/warning.hpp"
#include "bitale/xtensor/calculus.hpp"
#include "bitale/xtensor/functions.hpp"
#include "bitale/xtensor/indexing.hpp"
#include "define.hpp"
#include "identity_test.hpp"
#include "index_item.hpp"
#include "instance.hpp"
#include "labelled.hpp"
#include "numpy_bridge.hpp"

namespace bitale::python {

using namespace xtensor;

Index as_index(nb::handle item, const Dim& dim) {
  if (PyTuple_Check(item.ptr()) && nb::len(item) == 2 &&
      (PyUnicode_Check(item[0].ptr()) || instance_of<Dim>(nb::object(item[0])) || is_sequence(nb::object(item[0])))) {
    const IndexItem array = index_item(nb::object(item[1]));
    if (array.index) return XVariable(*array.index, as_dims(nb::object(item[0]), "isel"));
  }
  if (!is_variable(item) && (labelled_in(item) || nb::hasattr(item, "dims"))) return as_labelled(item);
  const IndexItem one = item.is_none() || item.ptr() == Py_Ellipsis ? IndexItem(NewAxis{}) : index_item(item);
  if (one.kind == IndexItem::Kind::NewAxis)
    throw TypeError(cat("index: dimension \"", dim.name(), "\": expected an integer, a slice or an array, got ",
                        shown(item), "; expand_dims adds dimensions"));
  if (one.kind == IndexItem::Kind::Range) return one.slice;
  return index_along(dim, *one.index);
}

namespace {

using Class = nb::class_<XVariable>;
using Caller = nb::call_guard<AtCaller>;

XOperand operand(nb::handle object) { return as_labelled(object); }

XOperands operands(nb::handle sequence, std::string_view what) {
  if (!is_sequence(sequence))
    throw TypeError(cat(what, ": expected a list of labelled tensors, got ", shown(sequence)));
  XOperands out;
  for (nb::handle each : sequence) out.push_back(operand(each));
  return out;
}

// ---- operators ------------------------------------------------------------------------------------------------------

using Binary = XVariable (*)(const XOperand&, const XOperand&);

XVariable product(const XOperand& x, const XOperand& y) { return xtensor::dot(x, y); }

struct BinaryOperator {
  const char *name, *reflected;
  Binary function;
};
constexpr BinaryOperator binary_operators[] = {
    {"__add__", "__radd__", xtensor::add},
    {"__sub__", "__rsub__", xtensor::sub},
    {"__mul__", "__rmul__", xtensor::mul},
    {"__truediv__", "__rtruediv__", xtensor::true_div},
    {"__floordiv__", "__rfloordiv__", xtensor::int_div},
    {"__mod__", "__rmod__", xtensor::mod},
    {"__pow__", "__rpow__", xtensor::pow},
    {"__matmul__", "__rmatmul__", product},
    {"__and__", "__rand__", xtensor::and_},
    {"__or__", "__ror__", xtensor::or_},
    {"__xor__", "__rxor__", xtensor::xor_},
    {"__lt__", nullptr, xtensor::lt},
    {"__le__", nullptr, xtensor::le},
    {"__gt__", nullptr, xtensor::gt},
    {"__ge__", nullptr, xtensor::ge},
};

nb::object not_implemented() { return nb::borrow(Py_NotImplemented); }

void bind_binary_operators(Class& cls) {
  for (const BinaryOperator& op : binary_operators) {
    const std::string takes = "(self, other: typing.Any, /) -> XTensorVariable";
    cls.def(
        op.name,
        [function = op.function](const XVariable& self, nb::handle other) {
          const auto y = try_as_labelled(other);
          return y ? nb::cast(function(self, *y)) : not_implemented();
        },
        Caller(), nb::is_operator(), nb::sig(cat("def ", op.name, takes).c_str()));
    if (!op.reflected) continue;
    cls.def(
        op.reflected,
        [function = op.function](const XVariable& self, nb::handle other) {
          const auto x = try_as_labelled(other);
          return x ? nb::cast(function(*x, self)) : not_implemented();
        },
        Caller(), nb::is_operator(), nb::sig(cat("def ", op.reflected, takes).c_str()));
  }
}

// As of other variables: elementwise with a value, identity between two of them.
void bind_equality(Class& cls, const char* name, Binary function, bool is_negated) {
  cls.def(
      name,
      [function, is_negated](const XVariable& self, nb::handle other) -> nb::object {
        if (const XVariable* x = labelled_in(other))
          return nb::cast(IdentityTest{(self.values().same_as(x->values()) && self.names() == x->names()) != is_negated,
                                       is_negated});
        if (is_variable(other)) return nb::cast(IdentityTest{is_negated, is_negated});
        const AtCaller here;
        const auto y = try_as_labelled(other);
        return y ? nb::cast(function(self, *y)) : not_implemented();
      },
      nb::arg().none(), nb::is_operator(),
      nb::sig(cat("def ", name, "(self, other: typing.Any, /) -> typing.Any").c_str()));
}

void bind_unary_operators(Class& cls) {
  const auto bind = [&](const char* name, XVariable (*function)(const XOperand&)) {
    cls.def(
        name, [function](const XVariable& self) { return function(self); }, Caller());
  };
  bind("__neg__", xtensor::neg);
  bind("__abs__", xtensor::abs);
  bind("__invert__", xtensor::invert);
  bind("__floor__", xtensor::floor);
  bind("__ceil__", xtensor::ceil);
  bind("__trunc__", xtensor::trunc);
  cls.def("__pos__", [](const XVariable& self) { return self; });
  cls.def(
      "__divmod__",
      [](const XVariable& self, nb::handle other) {
        const XOperand y = operand(other);
        return nb::make_tuple(xtensor::int_div(self, y), xtensor::mod(self, y));
      },
      Caller());
  cls.def(
      "__rdivmod__",
      [](const XVariable& self, nb::handle other) {
        const XOperand x = operand(other);
        return nb::make_tuple(xtensor::int_div(x, self), xtensor::mod(x, self));
      },
      Caller());
}

struct Refusal {
  const char *name, *signature, *what;
};
constexpr Refusal refusals[] = {
    {"__bool__", "def __bool__(self) -> bool",
     "it can't be used as a condition; elementwise there are xtensor.where, &, | and ~"},
    {"__float__", "def __float__(self) -> float", "x.eval() computes a value"},
    {"__int__", "def __int__(self) -> int", "x.eval() computes a value"},
    {"__complex__", "def __complex__(self) -> complex", "x.eval() computes a value"},
    {"__index__", "def __index__(self) -> int", "x.eval() computes a value"},
    {"__array__", "def __array__(self, *args: typing.Any) -> typing.Any",
     "NumPy's functions don't take it; bitale.xtensor.math has functions of their names"},
    {"__iter__", "def __iter__(self) -> typing.Any", "it can't be iterated over; x.isel(dim=i) is one position"},
    {"__setitem__", "def __setitem__(self, index: typing.Any, value: typing.Any, /) -> None",
     "its elements can't be assigned. x[index].set(y) and x[index].inc(y) give a changed copy"},
    {"__delitem__", "def __delitem__(self, index: typing.Any, /) -> None", "its elements can't be deleted"},
    {"__contains__", "def __contains__(self, value: typing.Any, /) -> bool",
     "whether an element has some value is (x == value).any()"},
};

void bind_refusals(Class& cls) {
  for (const Refusal& each : refusals)
    cls.def(
        each.name,
        [what = each.what](const XVariable& self, nb::args) -> nb::object {
          throw TypeError(cat("the labelled variable ", self.values().str(), " has no value yet: ", what));
        },
        nb::sig(each.signature));
  cls.attr("__array_ufunc__") = nb::none();  // NumPy's operators let this class compute
}

// ---- what a labelled tensor is --------------------------------------------------------------------------------------

nb::tuple names_tuple(const XVariable& x) {
  nb::list out;
  for (const Dim& dim : x.dims()) out.append(dim.name());
  return nb::tuple(out);
}

void bind_properties(Class& cls) {
  cls.def_prop_ro("values", &XVariable::values, "The tensor, without names.")
      .def_prop_ro("dims", names_tuple, nb::sig("def dims(self) -> tuple[str, ...]"), "The names of the dimensions.")
      .def_prop_ro("dimensions", &XVariable::dims, "The dimensions as Dim objects.")
      .def_prop_ro(
          "sizes",
          [](const XVariable& x) {
            nb::dict out;
            for (const Dim& dim : x.dims()) out[nb::str(dim.name().c_str())] = nb::cast(x.length(dim.name()));
            return out;
          },
          nb::sig("def sizes(self) -> dict[str, TensorVariable]"), "The length of each dimension: int64 scalars.")
      .def_prop_ro(
          "shape",
          [](const XVariable& x) {
            Variables out;
            for (const Dim& dim : x.dims()) out.push_back(x.length(dim.name()));
            return nb::tuple(nb::cast(out));
          },
          nb::sig("def shape(self) -> tuple[TensorVariable, ...]"), "The lengths of the dimensions: int64 scalars.")
      .def_prop_ro(
          "static_shape", [](const XVariable& x) { return static_shape_tuple(x.values().static_shape()); },
          nb::sig("def static_shape(self) -> tuple[int | None, ...]"), "The lengths that are known; else None.")
      .def_prop_ro(
          "size", [](const XVariable& x) { return bitale::size(x.values()); }, "The number of elements.")
      .def_prop_ro(
          "coords",
          [](const XVariable& x) {
            nb::dict out;
            for (const Dim& dim : x.dims())
              if (dim.coordinates()) out[nb::str(dim.name().c_str())] = labels_of(dim.coordinates());
            return out;
          },
          nb::sig("def coords(self) -> dict[str, typing.Any]"),
          "The labels along the dimensions that have coordinates.")
      .def_prop_ro("ndim", &XVariable::ndim)
      .def_prop_ro("dtype", [](const XVariable& x) { return std::string(dtype_name(x.dtype())); })
      .def_prop_rw(
          "name",
          [](const XVariable& x) -> std::optional<std::string> {
            if (x.name().empty()) return {};
            return x.name();
          },
          [](const XVariable& x, const std::optional<std::string>& name) { x.values().set_name(name.value_or("")); },
          nb::arg("name").none())
      .def_prop_ro(
          "T", [](const XVariable& x) { return xtensor::transpose(x, {}); }, "The dimensions in reverse order.")
      .def("__repr__", &XVariable::str)
      .def("__hash__", [](const XVariable& x) { return std::hash<const void*>()(x.values().node()); })
      .def(
          "with_values", [](const XVariable& x, const Like& values) { return x.with_values(as_variable(values)); },
          "values"_a, Caller(), "Another tensor with the same dimensions.");
}

// ---- methods --------------------------------------------------------------------------------------------------------

void bind_product_of(Class& cls) {
  cls.def(
      "dot",
      [](const XVariable& x, nb::handle other, Any dim) {
        const XOperand y = operand(other);
        if (dim.ptr() != Py_Ellipsis) return xtensor::dot(x, y, as_names(dim, "dot"));
        Names all = x.names();
        for (const auto& name : y.variable.names())
          if (x.find(name) < 0) all->push_back(name);
        return xtensor::dot(x, y, all);
      },
      "other"_a.none(), "dim"_a.none() = nb::none(), Caller(),
      "The sum of products over dimensions: those of both, unless they are named; ... are all of either.");
}

Missing as_missing(const std::string& text, const char* who) {
  if (text == "raise") return Missing::Raise;
  if (text == "warn") return Missing::Warn;
  if (text == "ignore") return Missing::Ignore;
  throw ValueError(cat(who, ": expected missing_dims \"raise\", \"warn\" or \"ignore\", got \"", text, '"'));
}

// Lengths that go with dimensions: None where there is none.
std::vector<std::optional<Operand>> as_optional_lengths(nb::handle list) {
  std::vector<std::optional<Operand>> out;
  if (list.is_none()) return out;
  for (nb::handle each : list) out.push_back(optional_operand(each));
  return out;
}

// The tuples of labels of stacked dimensions, as a pandas.MultiIndex. create_index: none: if all of them have labels;
// true: of others the positions.
CoordinatesRef stacked_index(const XVariable& x, const std::vector<std::string>& names,
                             std::optional<bool> create_index) {
  if (!create_index.value_or(true)) return {};
  nb::list levels, codes;
  for (const auto& name : names) {
    const int axis = x.axis(name, "stack");
    const Dim& dim = x.dims()[std::size_t(axis)];
    if (!dim.coordinates() && !create_index) return {};
    if (!dim.coordinates() && x.static_length(axis) == unknown_length)
      throw NotImplementedError(cat("stack: create_index=True: dimension \"", name,
                                    "\" has no coordinates, and its length is not known; assign_coords gives them"));
    const nb::object labels = dim.coordinates() ? labels_of(dim.coordinates())
                                                : nb::module_::import_("numpy").attr("arange")(x.static_length(axis));
    // Levels are in the order of the labels, which unstack gives back; pandas's from_product sorts them.
    const nb::object index = import_pandas("stack: create_index=True: labels of several dimensions")
                                 .attr("Index")(labels, "tupleize_cols"_a = false);
    const nb::object of_index = multi_index_of(dim.coordinates()).is_none() ? index : index.attr("to_flat_index")();
    const nb::object found = of_index.attr("factorize")();
    codes.append(found[0]);
    levels.append(found[1]);
  }
  nb::list all;
  for (nb::handle each : nb::module_::import_("numpy").attr("meshgrid")(*codes, "indexing"_a = "ij"))
    all.append(each.attr("ravel")());
  return as_coordinates(nb::module_::import_("pandas").attr("MultiIndex")(levels, all, "names"_a = names));
}

// A dimension whose coordinates are a pandas.MultiIndex as one dimension for each level. Where no position has the
// labels, the result is nan.
XVariable unstacked_index(const XVariable& x, Any name) {
  const int axis = x.axis(as_dim(name).name(), "unstack");
  const Dim& dim = x.dims()[std::size_t(axis)];
  if (multi_index_of(dim.coordinates()).is_none())
    throw ValueError(cat("unstack: \"", dim.name(),
                         "\" has no coordinates of several levels; give the new dimensions, as ", "in unstack(",
                         dim.name(), "={\"row\": 2, \"column\": 3})"));
  const nb::object index = multi_index_of(dim.coordinates()).attr("remove_unused_levels")();
  if (!nb::cast<bool>(index.attr("is_unique")))
    throw ValueError(cat("unstack: the labels of \"", dim.name(), "\" are at several positions"));
  DimList levels;
  Dims shape;
  std::int64_t size = 1;
  for (nb::handle each : index.attr("levels")) {
    const nb::object own = each.attr("name");
    if (own.is_none()) throw ValueError(cat("unstack: the levels of \"", dim.name(), "\" have no names"));
    levels.emplace_back(nb::cast<std::string>(own), std::nullopt, as_coordinates(each.attr("to_numpy")()));
    shape.push_back(*levels.back().length());
    size *= shape.back();
  }
  std::vector<std::int64_t> position_of(std::size_t(size), -1), at(std::size_t(nb::len(index)), 0);
  std::size_t level = 0;
  for (nb::handle each : index.attr("codes")) {
    const auto codes = nb::cast<std::vector<std::int64_t>>(each.attr("tolist")());
    for (std::size_t i = 0; i < at.size(); ++i) {
      if (codes[i] < 0) throw ValueError(cat("unstack: a label of \"", dim.name(), "\" is missing"));
      at[i] = at[i] * shape[level] + codes[i];
    }
    ++level;
  }
  for (std::size_t i = 0; i < at.size(); ++i) position_of[std::size_t(at[i])] = std::int64_t(i);
  const bool is_full = at.size() == position_of.size();
  std::vector<std::int64_t> clipped = position_of;
  for (auto& each : clipped) each = std::max<std::int64_t>(each, 0);
  const auto table = [&](const Array& values) { return XVariable(constant(values.reshape(shape)), levels); };
  XVariable out = xtensor::isel(x, {{dim.name(), table(Array(clipped))}});
  if (!is_full) {
    if (is_discrete(out.dtype())) out = xtensor::cast(out, DType::Float64);
    const XVariable nan(bitale::cast(constant(Array(std::numeric_limits<double>::quiet_NaN())), out.dtype()), {});
    const XVariable is_there = xtensor::ge(table(Array(position_of)), XVariable(Operand::number(std::int64_t(0)), {}));
    out = xtensor::where(is_there, out, nan);
  }
  std::vector<std::string> order{"..."};
  for (const Dim& each : levels) order.push_back(each.name());
  return xtensor::transpose(out, order);
}

void bind_shapes_of(Class& cls) {
  cls.def(
      "transpose",
      [](const XVariable& x, nb::args dim, const std::string& missing_dims) {
        std::vector<std::string> names;
        for (nb::handle each : dim)
          names.push_back(each.ptr() == Py_Ellipsis ? std::string("...") : as_dim(each).name());
        return xtensor::transpose(x, names, as_missing(missing_dims, "transpose"));
      },
      "dim"_a, "missing_dims"_a = "raise", Caller(),
      nb::sig("def transpose(self, *dim: typing.Any, missing_dims: str = 'raise') -> XTensorVariable"),
      "The dimensions in this order, by default reversed; ... stands for those that are not named.");
  cls.def(
      "_squeeze", [](const XVariable& x, Any dim) { return xtensor::squeeze(x, as_names(dim, "squeeze")); },
      "dim"_a.none() = nb::none(), Caller());
  cls.def(
      "_expand_dims",
      [](const XVariable& x, Any dims, Any lengths) {
        return xtensor::expand_dims(x, as_dims(dims, "expand_dims"), as_optional_lengths(lengths));
      },
      "dims"_a, "lengths"_a.none() = nb::none(), Caller());
  cls.def(
      "_rename",
      [](const XVariable& x, const nb::dict& names) {
        std::vector<std::pair<std::string, Dim>> pairs;
        for (auto [before, after] : names) pairs.emplace_back(as_dim(before).name(), as_dim(after));
        return xtensor::rename(x, pairs);
      },
      "names"_a, Caller());
  cls.def(
      "_stack",
      [](const XVariable& x, Any dim, Any stacked, std::optional<bool> create_index) {
        const std::vector<std::string> names = *as_names(stacked, "stack");
        const XVariable out = xtensor::stack(x, as_dim(dim), names);
        const auto index = stacked_index(x, names, create_index);
        return index ? xtensor::assign_coords(out, {{as_dim(dim).name(), index}}) : out;
      },
      "dim"_a, "stacked"_a, "create_index"_a.none(), Caller());
  cls.def("_unstack_index", unstacked_index, "dim"_a, Caller());
  cls.def(
      "_unstack",
      [](const XVariable& x, Any dim, Any dims, Any lengths) {
        return xtensor::unstack(x, as_dim(dim).name(), as_dims(dims, "unstack"), as_optional_lengths(lengths));
      },
      "dim"_a, "dims"_a, "lengths"_a.none() = nb::none(), Caller());
  cls.def(
      "broadcast_like",
      [](const XVariable& x, nb::handle other, Any exclude) {
        const Names names = exclude.is_none() ? Names(std::vector<std::string>{}) : as_names(exclude, "broadcast_like");
        return xtensor::broadcast_like(x, operand(other), *names);
      },
      "other"_a.none(), "exclude"_a.none() = nb::none(), Caller(), "Repeated along the dimensions of another tensor.");
  cls.def(
      "astype", [](const XVariable& x, const DTypeLike& dtype) { return xtensor::cast(x, dtype_from(dtype)); },
      "dtype"_a, Caller(), "The same tensor with elements of another dtype.");
  cls.def(
      "clip",
      [](const XVariable& x, nb::handle min, nb::handle max) {
        if (min.is_none() && max.is_none()) throw ValueError("clip: expected min, max, or both");
        if (max.is_none()) return xtensor::maximum(x, operand(min));
        return min.is_none() ? xtensor::minimum(x, operand(max)) : xtensor::clip(x, operand(min), operand(max));
      },
      "min"_a.none() = nb::none(), "max"_a.none() = nb::none(), Caller(),
      "The elements, with those outside of the limits replaced by the nearer limit; None stands for no limit.");
  cls.def(
      "fillna", [](const XVariable& x, nb::handle value) { return xtensor::fillna(x, operand(value)); },
      "value"_a.none(), Caller(), "The elements, with those that are nan replaced by a value.");
  cls.def(
      "_assign_coords",
      [](const XVariable& x, const nb::dict& coords) {
        std::vector<std::pair<std::string, CoordinatesRef>> pairs;
        for (auto [dim, labels] : coords) pairs.emplace_back(as_dim(dim).name(), as_coordinates(labels));
        return xtensor::assign_coords(x, pairs);
      },
      "coords"_a, Caller());
}

// ---- indexing -------------------------------------------------------------------------------------------------------

XVariable isel_of(const XVariable& x, const nb::dict& indexers, const std::string& missing_dims) {
  const Missing missing = as_missing(missing_dims, "isel");
  std::vector<std::pair<std::string, Index>> indices;
  for (auto [name, item] : indexers) {
    const Dim dim = as_dim(name);
    if (missing == Missing::Warn && x.find(dim.name()) < 0)
      warn(
          cat("isel: no dimension is called \"", dim.name(), "\"; those of ", x.str(), " are ", names_text(x.names())));
    const int axis = missing == Missing::Raise ? x.axis(dim.name(), "isel") : x.find(dim.name());
    if (axis >= 0) indices.emplace_back(dim.name(), as_index(item, x.dims()[std::size_t(axis)]));
  }
  return xtensor::isel(x, indices);
}

XVariable get_item(const XVariable& x, nb::handle key) {
  if (PyDict_Check(key.ptr())) return isel_of(x, nb::borrow<nb::dict>(key), "raise");
  const nb::tuple items = PyTuple_Check(key.ptr()) ? nb::borrow<nb::tuple>(key) : nb::make_tuple(nb::borrow(key));
  std::size_t given = 0;
  bool has_rest = false;
  for (nb::handle each : items) {
    if (each.ptr() != Py_Ellipsis) {
      ++given;
    } else if (std::exchange(has_rest, true)) {
      throw IndexError("index: expected ... at most once");
    }
  }
  if (given > std::size_t(x.ndim()))
    throw IndexError(cat("index: ", x.str(), " has ", x.ndim(), " dimensions, but there are ", given, " indices"));
  std::vector<std::pair<std::string, Index>> indices;
  std::size_t axis = 0;
  for (nb::handle each : items) {
    if (each.ptr() == Py_Ellipsis) {
      axis += std::size_t(x.ndim()) - given;
      continue;
    }
    const Dim& dim = x.dims()[axis++];
    indices.emplace_back(dim.name(), as_index(each, dim));
  }
  return xtensor::isel(x, indices);
}

// Numbers of positions: one for all dimensions, or by name, in a dict or as keywords. None where nothing is given.
std::optional<Counts> counts_of(const XVariable& x, nb::handle given, const nb::kwargs& keywords, const char* who) {
  if (given.is_none() && keywords.size() == 0) return {};
  if (!given.is_none() && keywords.size())
    throw ValueError(cat(who, ": expected names either in a dict or as keywords, got both"));
  Counts out;
  if (!given.is_none() && !PyDict_Check(given.ptr())) {
    for (const auto& name : x.names()) out.emplace_back(name, as_variable(given));
    return out;
  }
  for (auto [name, count] : given.is_none() ? nb::borrow<nb::dict>(keywords) : nb::borrow<nb::dict>(given))
    out.emplace_back(as_dim(name).name(), as_variable(count));
  return out;
}

void bind_parts_of(Class& cls) {
  const auto bind = [&](const char* name, XVariable (*function)(const XOperand&, const std::optional<Counts>&),
                        const char* doc) {
    cls.def(
        name,
        [name, function](const XVariable& x, Any indexers, const nb::kwargs& keywords) {
          return function(x, counts_of(x, indexers, keywords, name));
        },
        "indexers"_a.none() = nb::none(), "indexers_kwargs"_a, Caller(),
        nb::sig(
            cat("def ", name, "(self, indexers: typing.Any = None, **indexers_kwargs: typing.Any) -> XTensorVariable")
                .c_str()),
        doc);
  };
  bind("head", xtensor::head, "The first positions, by default 5 of each dimension.");
  bind("tail", xtensor::tail, "The last positions, by default 5 of each dimension.");
  bind(
      "thin",
      [](const XOperand& x, const std::optional<Counts>& steps) {
        if (!steps) throw TypeError("thin: expected a step, for all dimensions or for each by name");
        return xtensor::thin(x, *steps);
      },
      "Every n-th position.");
}

void bind_indexing_of(Class& cls) {
  bind_parts_of(cls);
  cls.def("_isel", isel_of, "indexers"_a, "missing_dims"_a = "raise", Caller());
  cls.def("__getitem__", get_item, "key"_a.none(), Caller(),
          nb::sig("def __getitem__(self, key: typing.Any, /) -> XTensorVariable"),
          "The elements at positions, in the order of the dimensions, or by names as a dict.");
  cls.def(
      "set", [](const XVariable& x, nb::handle value) { return xtensor::set(x, operand(value)); }, "value"_a.none(),
      Caller(), "Of an indexed tensor, x[index]: a copy of x in which these elements are the value.");
  cls.def(
      "inc", [](const XVariable& x, nb::handle value) { return xtensor::inc(x, operand(value)); }, "value"_a.none(),
      Caller(), "Of an indexed tensor, x[index]: a copy of x in which the value is added to these elements.");
}

// ---- functions ------------------------------------------------------------------------------------------------------

void bind_functions_of(nb::module_& m) {
  m.def(
      "xtensor_of_values",
      [](const Like& values, Any dims) { return XVariable(as_variable(values), as_dims(dims, "as_xtensor")); },
      "values"_a, "dims"_a, Caller(), "A tensor with names for its dimensions.");
  m.def(
      "xtensor_jacobian_dims",
      [](Any expression, Any wrt) { return jacobian_dims(as_dims(expression, "jacobian"), as_dims(wrt, "jacobian")); },
      "expression"_a, "wrt"_a, "Dimensions of a Jacobian: those of the expression, then those of the variable.");
  m.def(
      "xtensor_operand", [](nb::handle x) { return as_labelled(x); }, "x"_a.none(), Caller(),
      "A labelled tensor, scalar or xarray.DataArray as a labelled tensor.");
  m.def(
      "xtensor_elementwise",
      [](const std::string& name, const nb::callable& function, nb::args given) {
        XVariables all;
        for (nb::handle each : given) all.push_back(as_labelled(each));
        return elementwise(name, all, [&](const Variables& values) {
          nb::list arguments;
          for (auto& each : values) arguments.append(each);
          return nb::cast<Variable>(function(*arguments));
        });
      },
      "name"_a, "function"_a, "operands"_a, Caller(), "An elementwise function of tensors, of labelled ones.");
  m.def(
      "xtensor_concat", [](Any tensors, Any dim) { return xtensor::concat(operands(tensors, "concat"), as_dim(dim)); },
      "xtensors"_a, "dim"_a, Caller());
  m.def(
      "xtensor_broadcast",
      [](Any tensors, Any exclude) {
        const Names names = exclude.is_none() ? Names(std::vector<std::string>{}) : as_names(exclude, "broadcast");
        return xtensor::broadcast(operands(tensors, "broadcast"), *names);
      },
      "xtensors"_a, "exclude"_a.none() = nb::none(), Caller());
  m.def(
      "xtensor_full_like",
      [](nb::handle x, nb::handle value, const std::optional<std::string>& dtype) {
        return xtensor::full_like(operand(x), operand(value),
                                  dtype ? std::optional(dtype_from(nb::str(dtype->c_str()))) : std::nullopt);
      },
      "x"_a.none(), "fill_value"_a.none(), "dtype"_a.none() = nb::none(), Caller());
}

}  // namespace

void bind_xtensor(nb::module_& m) {
  Class cls(m, "XTensorVariable",
            "A tensor in an expression whose dimensions have names. Functions find axes by names while the expression "
            "is built; `values` is the tensor.");
  bind_properties(cls);
  bind_binary_operators(cls);
  bind_equality(cls, "__eq__", xtensor::eq, false);
  bind_equality(cls, "__ne__", xtensor::neq, true);
  bind_unary_operators(cls);
  bind_refusals(cls);
  bind_product_of(cls);
  bind_shapes_of(cls);
  bind_indexing_of(cls);
  bind_functions_of(m);
}

}  // namespace bitale::python
