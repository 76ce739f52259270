// Selection by labels from Python, where they are any objects that NumPy makes arrays of.
#include "bitale/xtensor/selection.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "define.hpp"
#include "labelled.hpp"
#include "numpy_bridge.hpp"

namespace bitale::python {

namespace {

using namespace xtensor;

LookupOptions as_lookup(const std::optional<std::string>& method, std::optional<double> tolerance) {
  LookupOptions out{.tolerance = tolerance};
  if (!method) return out;
  if (*method == "nearest")
    out.method = Inexact::Nearest;
  else if (*method == "pad" || *method == "ffill")
    out.method = Inexact::Pad;
  else if (*method == "backfill" || *method == "bfill")
    out.method = Inexact::Backfill;
  else
    throw ValueError(cat("sel: expected method None, \"nearest\", \"pad\" or \"backfill\", got \"", *method, '"'));
  return out;
}

CoordinatesRef one_label(nb::handle label) {
  nb::list list;
  list.append(label);
  return as_coordinates(list);
}
CoordinatesRef end_of_range(nb::handle label) { return label.is_none() ? CoordinatesRef() : one_label(label); }

// An array of labels, which may have names for its dimensions.
SeveralLabels array_of_labels(const nb::object& array, const DimList* dims) {
  SeveralLabels out{as_coordinates(array.attr("ravel")())};
  if (!dims) return out;
  Dims shape;
  for (nb::handle length : nb::tuple(array.attr("shape"))) shape.push_back(nb::cast<std::int64_t>(length));
  out.points = {std::move(shape), *dims};
  return out;
}

[[noreturn]] void refuse_computed(const Dim& dim, std::string_view label) {
  throw NotImplementedError(
      cat("sel: \"", dim.name(),
          "\": labels are looked up while the expression is built, so they can't be computed: ", label));
}

Index index_of_labels(const Dim& dim, nb::handle item, const LookupOptions& options) {
  if (const XVariable* x = labelled_in(item)) {
    const Array* constant = x->values().constant();
    if (!constant) refuse_computed(dim, x->str());
    if (x->dtype() == DType::Bool && x->ndim() == 1) return *x;
    return positions(dim, array_of_labels(to_numpy(*constant), &x->dims()), options);
  }
  if (is_variable(item)) refuse_computed(dim, as_variable(item).str());
  if (is_data_array(item)) {
    if (nb::cast<std::string>(item.attr("dtype").attr("kind")) == "b") return as_labelled(item);
    const DimList dims = dims_of_data_array(item);
    return positions(dim, array_of_labels(item.attr("values"), &dims), options);
  }
  if (PySlice_Check(item.ptr())) {
    const nb::object step = item.attr("step");
    return positions(dim,
                     LabelRange{end_of_range(item.attr("start")), end_of_range(item.attr("stop")),
                                step.is_none() ? std::nullopt : std::optional(nb::cast<std::int64_t>(step))},
                     options);
  }
  const bool is_list = PyList_Check(item.ptr());
  if (!is_list && !(is_ndarray(item) && nb::cast<int>(item.attr("ndim")) > 0))
    return positions(dim,
                     OneLabel{one_label(is_ndarray(item) ? nb::object(item.attr("reshape")(-1)[0]) : nb::borrow(item))},
                     options);
  const CoordinatesRef labels = as_coordinates(item);
  if (nb::cast<std::string>(labels_of(labels).attr("dtype").attr("kind")) == "b") return as_index(item, dim);
  return positions(dim, SeveralLabels{labels}, options);
}

}  // namespace

void bind_xtensor_selection(nb::module_& m) {
  m.def(
      "xtensor_sel",
      [](nb::handle given, const nb::dict& indexers, const std::optional<std::string>& method,
         std::optional<double> tolerance) {
        const XVariable x = as_labelled(given);
        const LookupOptions options = as_lookup(method, tolerance);
        std::vector<std::pair<std::string, Index>> indices;
        for (auto [name, item] : indexers) {
          const Dim& dim = x.dims()[std::size_t(x.axis(as_dim(name).name(), "sel"))];
          indices.emplace_back(dim.name(), index_of_labels(dim, item, options));
        }
        return xtensor::isel(x, indices);
      },
      "x"_a.none(), "indexers"_a, "method"_a.none(), "tolerance"_a.none(), nb::call_guard<AtCaller>(),
      "The elements with these labels.");
}

}  // namespace bitale::python
