// Sorting, as functions and as methods.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <string_view>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/sorting.hpp"
#include "define.hpp"
#include "flag.hpp"

namespace bitale::python {

namespace {

using Sorting = Variable (*)(const Operand&, std::optional<int>, SortOrder);

// One stable algorithm implements all kinds.
void check_options(const char* function, std::string_view kind, nb::handle order) {
  for (std::string_view known : {"quicksort", "mergesort", "heapsort", "stable"})
    if (kind == known) {
      if (order.is_none()) return;
      throw NotImplementedError(cat(function, ": order is not supported: there are no structured arrays"));
    }
  throw ValueError(
      cat(function, ": expected kind \"quicksort\", \"mergesort\", \"heapsort\" or \"stable\", got \"", kind, "\""));
}

void bind_sort(nb::module_& m, const char* name, Sorting function) {
  const auto bound = [function, name](const Like& a, const AxisLike& axis, const std::optional<std::string>& kind,
                                      const Any& order, const Any&, Flag descending) {
    check_options(name, kind.value_or("stable"), order);
    return function(as_variable(a), as_optional_int(axis, cat(name, ": axis")),
                    descending ? SortOrder::Decreasing : SortOrder::Increasing);
  };
  define(m, name, bound, "a"_a, "axis"_a.none() = -1, "kind"_a = nb::none(), "order"_a = nb::none(),
         "stable"_a = nb::none(), nb::kw_only(), "descending"_a = false);
  define_method(m, name, bound, "axis"_a.none() = -1, "kind"_a = nb::none(), "order"_a = nb::none(),
                "stable"_a = nb::none(), nb::kw_only(), "descending"_a = false);
}

}  // namespace

void bind_sorting(nb::module_& m) {
  bind_sort(m, "sort", sort);
  bind_sort(m, "argsort", argsort);
}

}  // namespace bitale::python
