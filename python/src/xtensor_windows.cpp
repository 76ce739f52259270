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
#include "labelled.hpp"

namespace bitale::python {

namespace {

using namespace xtensor;
using Caller = nb::call_guard<AtCaller>;

struct NamedRolling {
  const char* name;
  Rolling reduction;
};
constexpr NamedRolling rolling_reductions[] = {{"sum", Rolling::Sum}, {"mean", Rolling::Mean},  {"max", Rolling::Max},
                                               {"min", Rolling::Min}, {"prod", Rolling::Prod},  {"var", Rolling::Var},
                                               {"std", Rolling::Std}, {"count", Rolling::Count}};

Rolling rolling_of(const std::string& name) {
  for (const NamedRolling& each : rolling_reductions)
    if (name == each.name) return each.reduction;
  throw ValueError(cat("rolling: no reduction is called \"", name, '"'));
}

void bind_groups(nb::module_& m) {
  nb::class_<Groups>(m, "XTensorGroups", "A labelled tensor whose positions along a dimension are in groups.")
      .def(
          "__init__",
          [](Groups* self, const XVariable& x, Any along, const std::vector<std::int64_t>& group_of, Any dim) {
            new (self) Groups(x, as_dim(along).name(), group_of, as_dim(dim));
          },
          "x"_a, "along"_a, "group_of"_a, "dim"_a, Caller())
      .def("sum", &Groups::sum, Caller(), "The sum of each group; 0 of an empty one.")
      .def("mean", &Groups::mean, Caller(), "The mean of each group.")
      .def("var", &Groups::var, "ddof"_a = 0, Caller(), "The variance in each group.")
      .def("std", &Groups::std_, "ddof"_a = 0, Caller(), "The standard deviation in each group.")
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
          "of_groups"_a, Caller(), "Values of groups at each of their positions.");
}

}  // namespace

void bind_xtensor_windows(nb::module_& m) {
  bind_groups(m);
  m.def(
      "xtensor_windows",
      [](const XVariable& x, Any dim, std::int64_t length, Any window, bool center) {
        return windows(x, as_dim(dim).name(), length, as_dim(window), center);
      },
      "x"_a, "dim"_a, "length"_a, "window"_a, "center"_a, Caller());
  m.def(
      "xtensor_rolling",
      [](const XVariable& x, Any dim, std::int64_t length, const std::string& reduction,
         std::optional<std::int64_t> min_periods, bool center,
         int ddof) { return rolling(x, as_dim(dim).name(), length, rolling_of(reduction), min_periods, center, ddof); },
      "x"_a, "dim"_a, "length"_a, "reduction"_a, "min_periods"_a.none(), "center"_a, "ddof"_a, Caller());
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
      [](const XVariable& x, Any dim, std::int64_t n, bool is_upper) {
        return xtensor::diff(x, as_dim(dim).name(), n, is_upper);
      },
      "x"_a, "dim"_a, "n"_a, "is_upper"_a, Caller());
  m.def(
      "xtensor_interp",
      [](const XVariable& x, Any dim, const Like& at, nb::handle target, const std::string& method) {
        return xtensor::interp(x, as_dim(dim).name(), as_variable(at), as_labelled(target), method);
      },
      "x"_a, "dim"_a, "at"_a, "target"_a, "method"_a, Caller());
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
