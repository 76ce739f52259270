// Groups, windows, shifts and interpolation of labelled tensors.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arguments.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/xtensor/windows.hpp"
#include "define.hpp"
#include "flag.hpp"
#include "instance.hpp"
#include "labelled.hpp"
#include "numpy_bridge.hpp"

namespace bitale::python {

namespace {

using namespace xtensor;
using Caller = nb::call_guard<AtCaller>;

// The windows of a tensor along a dimension, from which reductions are taken.
struct RollingWindows {
  XVariable x;
  std::string dim;
  std::int64_t length;
  std::optional<std::int64_t> min_periods;
  WindowPlace place;

  XVariable reduced(Rolling reduction, int ddof = 0) const {
    return rolling(x, dim, length, reduction, {.min_periods = min_periods, .place = place, .ddof = ddof});
  }
};

struct NamedRolling {
  const char* name;
  Rolling reduction;
  const char* doc;
};
constexpr NamedRolling rolling_reductions[] = {
    {"sum", Rolling::Sum, "The sum of each window."},
    {"mean", Rolling::Mean, "The mean of each window."},
    {"max", Rolling::Max, "The largest element of each window."},
    {"min", Rolling::Min, "The smallest element of each window."},
    {"prod", Rolling::Prod, "The product of each window."},
    {"count", Rolling::Count, "How many elements of each window are there."}};
constexpr NamedRolling rolling_spreads[] = {{"var", Rolling::Var, "The variance in each window."},
                                            {"std", Rolling::Std, "The standard deviation in each window."}};

void bind_rolling(nb::module_& m) {
  nb::class_<RollingWindows> cls(
      m, "Rolling",
      "Windows along a dimension: its reductions are of each window, and nan where too few elements are there.");
  for (const NamedRolling& each : rolling_reductions)
    cls.def(
        each.name, [reduction = each.reduction](const RollingWindows& self) { return self.reduced(reduction); },
        Caller(), each.doc);
  for (const NamedRolling& each : rolling_spreads)
    cls.def(
        each.name,
        [reduction = each.reduction](const RollingWindows& self, int ddof) { return self.reduced(reduction, ddof); },
        nb::kw_only(), "ddof"_a = 0, Caller(), each.doc);
  cls.def(
      "construct",
      [](const RollingWindows& self, Any window_dim) {
        return windows(self.x, self.dim, self.length, as_dim(window_dim), self.place);
      },
      "window_dim"_a, Caller(), "The windows along a new dimension, with nan for elements that are not there.");
  m.def(
      "xtensor_rolling",
      [](nb::handle x, Any dim, std::int64_t length, std::optional<std::int64_t> min_periods, Flag center) {
        RollingWindows out{as_labelled(x), as_dim(dim).name(), length, min_periods,
                           center ? WindowPlace::Center : WindowPlace::End};
        out.x.axis(out.dim, "rolling");  // says whether it is there
        return out;
      },
      "x"_a.none(), "dim"_a, "length"_a, "min_periods"_a.none(), "center"_a, Caller());
}

// By a dimension, whose coordinates are the labels; by a labelled constant of one dimension; or by an array, whose
// dimension is `dim`.
Groups groups_of(nb::handle given, nb::handle group, nb::handle dim, const std::string& name) {
  const XVariable x = as_labelled(given);
  if (PyUnicode_Check(group.ptr()) || instance_of<Dim>(nb::borrow(group)))
    return groupby(x, as_dim(group).name(), {}, name);
  if (const XVariable* labels = labelled_in(group)) {
    const CoordinatesRef all = as_coordinates(to_numpy(constant_labels(*labels)));
    return groupby(x, labels->dims()[0].name(), all, !name.empty() ? name : labels->name());
  }
  if (is_data_array(group)) {
    const DimList dims = dims_of_data_array(group);
    if (dims.size() != 1)
      throw ValueError(cat("groupby: expected labels along one dimension, got ", shown(group.attr("dims"))));
    const nb::object own = group.attr("name");
    return groupby(x, dims[0].name(), as_coordinates(group.attr("values")),
                   name.empty() && !own.is_none() ? nb::cast<std::string>(own) : name);
  }
  if (dim.is_none()) throw TypeError("groupby: expected dim=, the dimension whose positions the labels are for");
  return groupby(x, as_dim(dim).name(), as_coordinates(group), name);
}

void bind_groups(nb::module_& m) {
  nb::class_<Groups>(
      m, "GroupBy",
      "A labelled tensor in groups. Its reductions have a dimension of groups, whose coordinates are the "
      "groups' labels. `groupby` makes it.")
      .def("sum", &Groups::sum, Caller(), "The sum of each group.")
      .def("mean", &Groups::mean, Caller(), "The mean of each group.")
      .def("var", &Groups::var, nb::kw_only(), "ddof"_a = 0, Caller(), "The variance in each group.")
      .def("std", &Groups::std_, nb::kw_only(), "ddof"_a = 0, Caller(), "The standard deviation in each group.")
      .def("count", &Groups::count, Caller(), "How many positions each group has.")
      .def("max", &Groups::max, Caller(), "The largest element of each group.")
      .def("min", &Groups::min, Caller(), "The smallest element of each group.")
      .def("prod", &Groups::prod, Caller(), "The product of each group.")
      .def("all", &Groups::all, Caller(), "Whether all elements of each group are true.")
      .def("any", &Groups::any, Caller(), "Whether any element of each group is true.")
      .def("first", &Groups::first, Caller(), "The first element of each group.")
      .def("last", &Groups::last, Caller(), "The last element of each group.")
      .def(
          "spread", [](const Groups& self, nb::handle of_groups) { return self.spread(as_labelled(of_groups)); },
          "of_groups"_a, Caller(),
          "Values of the groups at each position: a tensor with the dimension of groups becomes one with that of "
          "positions.")
      .def_prop_ro("dim", &Groups::dim, "The dimension of groups, with their labels.");
  m.def(
      "xtensor_groupby",
      [](Any x, Any group, Any dim, const std::optional<std::string>& name) {
        return groups_of(x, group, dim, name.value_or(""));
      },
      "x"_a, "group"_a.none(), "dim"_a.none(), "name"_a.none(), Caller());
}

// Where to interpolate. An array's numbers are the coordinates of the result.
XVariable target_of(nb::handle target, const std::string& dim) {
  if (labelled_in(target) || is_data_array(target)) return as_labelled(target);
  if (is_variable(target)) {
    const Variable given = as_variable(target);
    return given.ndim() == 0 ? as_labelled(target) : XVariable(given, {Dim(dim)});
  }
  const nb::object array = nb::module_::import_("numpy").attr("asarray")(target, "dtype"_a = "float64");
  if (nb::cast<int>(array.attr("ndim")) == 0) return as_labelled(array);
  return XVariable(as_variable(array), {Dim(dim, {}, as_coordinates(array))});
}

}  // namespace

void bind_xtensor_windows(nb::module_& m) {
  bind_groups(m);
  bind_rolling(m);
  m.def(
      "xtensor_shift",
      [](const XVariable& x, Any dim, std::int64_t periods, Any fill) {
        return shift(x, as_dim(dim).name(), periods,
                     fill.is_none() ? std::nullopt : std::optional(XOperand(as_labelled(fill))));
      },
      "x"_a, "dim"_a, "periods"_a, "fill_value"_a.none(), Caller());
  m.def(
      "xtensor_roll",
      [](const XVariable& x, Any dim, std::int64_t periods) { return xtensor::roll(x, as_dim(dim).name(), periods); },
      "x"_a, "dim"_a, "periods"_a, Caller());
  m.def(
      "xtensor_diff",
      [](const XVariable& x, Any dim, std::int64_t n, Flag is_upper) {
        return xtensor::diff(x, as_dim(dim).name(), n, is_upper ? DiffLabel::Upper : DiffLabel::Lower);
      },
      "x"_a, "dim"_a, "n"_a, "is_upper"_a, Caller());
  m.def(
      "xtensor_interp",
      [](const XVariable& x, Any dim, nb::handle target, const std::string& method) {
        const std::string name = as_dim(dim).name();
        x.axis(name, "interp");
        return xtensor::interp(x, name, target_of(target, name), method);
      },
      "x"_a, "dim"_a, "target"_a, "method"_a, Caller());
  m.def(
      "xtensor_vectorize_graph",
      [](const std::vector<XVariable>& outputs, Any replace) {
        std::vector<std::pair<XVariable, XVariable>> pairs;
        for (auto& [before, after] : as_pairs(replace, "vectorize_graph"))
          pairs.emplace_back(as_labelled(before), as_labelled(after));
        return xtensor::vectorize_graph(outputs, pairs);
      },
      "outputs"_a, "replace"_a, Caller());
}

}  // namespace bitale::python
