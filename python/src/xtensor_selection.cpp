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
#include "bitale/xtensor/functions.hpp"
#include "define.hpp"
#include "instance.hpp"
#include "labelled.hpp"
#include "numpy_bridge.hpp"

namespace bitale::python {

namespace {

using namespace xtensor;

// A number, or, beside dates, a duration, which is in nanoseconds like the differences of dates.
std::optional<double> as_tolerance(nb::handle tolerance) {
  if (tolerance.is_none()) return {};
  const nb::object array = nb::module_::import_("numpy").attr("asarray")(tolerance);
  const auto kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
  const bool is_duration = kind == "m" || nb::hasattr(tolerance, "total_seconds");
  if (nb::cast<int>(array.attr("ndim")) != 0 || !(is_duration || kind == "i" || kind == "u" || kind == "f"))
    throw TypeError(cat("sel: tolerance: expected a number, or a duration for dates, got ", shown(tolerance)));
  const nb::object number = is_duration ? nb::object(array.attr("astype")("m8[ns]").attr("astype")("float64")) : array;
  return nb::cast<double>(number.attr("item")());
}

LookupOptions as_lookup(const std::optional<std::string>& method, nb::handle tolerance) {
  LookupOptions out{.tolerance = as_tolerance(tolerance)};
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

// ---- what pandas knows of labels ------------------------------------------------------------------------------------

// A call of one of pandas's lookups. Its KeyErrors, and those for texts that are no dates, say which label it is.
template <class Call>
nb::object looked_up(const Dim& dim, nb::handle label, Call call) {
  try {
    return call();
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_KeyError) && !error.matches(PyExc_ValueError) && !error.matches(PyExc_TypeError)) throw;
    const std::string said = nb::cast<std::string>(nb::str(error.value()));
    const bool is_unsorted = said.find("sorted") != std::string::npos || said.find("monotonic") != std::string::npos;
    throw KeyError(cat("sel: '", dim.name(), "' has no label ", shown(label),
                       is_unsorted ? "; a range needs labels in ascending order, which isel can give them" : ""));
  }
}

// What pandas gives for a label: a position, positions, a slice, or a mask.
Index index_at(const Dim& dim, const nb::object& location) {
  if (PySlice_Check(location.ptr())) return as_index(location, dim);
  if (is_ndarray(location)) {
    const bool is_mask = nb::cast<std::string>(location.attr("dtype").attr("kind")) == "b";
    return as_index(is_mask ? nb::module_::import_("numpy").attr("flatnonzero")(location) : location, dim);
  }
  return XVariable(Operand::number(nb::cast<std::int64_t>(nb::int_(location))), {});
}

bool is_label_text(nb::handle object) { return PyUnicode_Check(object.ptr()); }

bool has_dates(const Dim& dim) {
  if (!dim.coordinates()) return false;
  const nb::object labels = labels_of(dim.coordinates());
  if (!is_ndarray(labels)) return false;
  const auto kind = nb::cast<std::string>(labels.attr("dtype").attr("kind"));
  return kind == "M" || kind == "m";
}

// Texts beside dates, of which "2020-01" is all positions in that month; none for anything else.
std::optional<Index> index_of_dates(const Dim& dim, nb::handle item, const LookupOptions& options) {
  if (!has_dates(dim) || options.method != Inexact::None) return {};
  const bool is_range = PySlice_Check(item.ptr());
  if (!is_label_text(item) && !(is_range && (is_label_text(item.attr("start")) || is_label_text(item.attr("stop")))))
    return {};
  const nb::object index = import_pandas("sel: texts for dates").attr("Index")(labels_of(dim.coordinates()));
  return index_at(dim, looked_up(dim, item, [&]() -> nb::object {
                    if (!is_range) return index.attr("get_loc")(item);
                    return index.attr("slice_indexer")(item.attr("start"), item.attr("stop"), item.attr("step"));
                  }));
}

// A selection of some levels of a pandas.MultiIndex, which the result lacks: with one level left, that is the name of
// the dimension.
struct OfLevels {
  Index index;
  std::string name;
  CoordinatesRef left;  // null: the dimension is dropped, or keeps all levels
};

OfLevels index_of_levels(const Dim& dim, const nb::object& index, nb::handle item) {
  OfLevels out{Slice{}, dim.name(), {}};
  if (PySlice_Check(item.ptr())) {
    out.index = index_at(dim, looked_up(dim, item, [&]() -> nb::object {
                           return index.attr("slice_indexer")(item.attr("start"), item.attr("stop"), item.attr("step"));
                         }));
    return out;
  }
  const bool by_name = PyDict_Check(item.ptr());
  const nb::object key = by_name ? nb::object(nb::tuple(item.attr("values")())) : nb::borrow(item);
  const std::size_t given = PyTuple_Check(key.ptr()) ? nb::len(key) : 1;
  const std::size_t count = nb::len(nb::object(index.attr("names")));
  for (nb::handle each : given > 0 && PyTuple_Check(key.ptr()) ? nb::tuple(key) : nb::make_tuple(key))
    if (PySlice_Check(each.ptr()) || PyList_Check(each.ptr()) || is_ndarray(each))
      throw NotImplementedError(cat("sel: '", dim.name(), "': expected one label for each level, got ", shown(each),
                                    "; isel takes positions"));
  if (given > count)
    throw KeyError(
        cat("sel: '", dim.name(), "' has ", count, " levels, but there are ", given, " labels: ", shown(item)));
  nb::object names = index.attr("names")[nb::slice(nb::none(), nb::int_(given), nb::none())];
  if (by_name) names = nb::tuple(item);
  const nb::object levels = nb::list(names);
  const nb::object keys = PyTuple_Check(key.ptr()) ? key : nb::object(nb::make_tuple(key));
  if (given == count) {
    out.index = index_at(dim, looked_up(dim, item, [&]() -> nb::object {
                           nb::list ordered;  // by level
                           for (nb::handle level : index.attr("names")) {
                             const nb::object at = levels.attr("index")(level);
                             ordered.append(keys[at]);
                           }
                           return index.attr("get_loc")(nb::tuple(ordered));
                         }));
    return out;
  }
  const nb::object found = looked_up(dim, item, [&]() -> nb::object {
    if (given == 1) return index.attr("get_loc_level")(keys[0], "level"_a = levels[0]);
    return index.attr("get_loc_level")(keys, "level"_a = levels);
  });
  const nb::object left = found[1];
  out.index = index_at(dim, found[0]);
  if (left.is_none()) return out;
  out.left = as_coordinates(left);
  if (multi_index_of(out.left).is_none()) out.name = nb::cast<std::string>(left.attr("name"));
  return out;
}

// The dimension of x one of whose levels has this name; none where there is none.
const Dim* dimension_of_level(const XVariable& x, nb::handle name) {
  for (const Dim& dim : x.dims()) {
    const nb::object index = multi_index_of(dim.coordinates());
    if (!index.is_none() && PySequence_Contains(index.attr("names").ptr(), name.ptr()) == 1) return &dim;
  }
  return nullptr;
}

// The indexers of dimensions, with labels of levels as a dict of their dimension.
nb::dict by_dimension(const XVariable& x, const nb::dict& indexers) {
  nb::dict out;
  for (auto [name, item] : indexers) {
    const Dim* dim =
        is_label_text(name) && x.find(nb::cast<std::string>(name)) < 0 ? dimension_of_level(x, name) : nullptr;
    if (!dim) {
      out[name] = item;
      continue;
    }
    const nb::str own(dim->name().c_str());
    if (!out.contains(own)) out[own] = nb::dict();
    if (!PyDict_Check(nb::object(out[own]).ptr()))
      throw ValueError(cat("sel: labels are given both for '", dim->name(), "' and for one of its levels"));
    out[own][name] = item;
  }
  return out;
}

Index index_of_labels(const Dim& dim, nb::handle item, const LookupOptions& options) {
  if (const XVariable* x = labelled_in(item)) {
    const Array* constant = x->values().constant();
    if (!constant) refuse_computed(dim, x->str());
    if (x->dtype() == DType::Bool && x->ndim() == 1) return *x;
    return positions(dim, array_of_labels(to_numpy(*constant), &x->dims()), options);
  }
  if (is_variable(item)) refuse_computed(dim, as_variable(item).str());
  if (auto of_dates = index_of_dates(dim, item, options)) return *of_dates;
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
      [](nb::handle given, const nb::dict& indexers, const std::optional<std::string>& method, Any tolerance) {
        const XVariable x = as_labelled(given);
        const LookupOptions options = as_lookup(method, tolerance);
        std::vector<std::pair<std::string, Index>> indices;
        std::vector<std::pair<std::string, CoordinatesRef>> labels_left;
        std::vector<std::pair<std::string, Dim>> names_left;
        for (auto [name, item] : by_dimension(x, indexers)) {
          const Dim& dim = x.dims()[std::size_t(x.axis(as_dim(name).name(), "sel"))];
          const nb::object levels = multi_index_of(dim.coordinates());
          const bool is_array =
              PyList_Check(item.ptr()) || is_ndarray(item) || labelled_in(item) || is_data_array(item);
          if (levels.is_none() || is_array) {
            indices.emplace_back(dim.name(), index_of_labels(dim, item, options));
            continue;
          }
          const OfLevels found = index_of_levels(dim, levels, item);
          indices.emplace_back(dim.name(), found.index);
          if (found.left) labels_left.emplace_back(dim.name(), found.left);
          if (found.name != dim.name()) names_left.emplace_back(dim.name(), Dim(found.name));
        }
        const XVariable out = xtensor::isel(x, indices);
        if (labels_left.empty()) return out;
        const XVariable labelled = xtensor::assign_coords(out, labels_left);
        return names_left.empty() ? labelled : xtensor::rename(labelled, names_left);
      },
      "x"_a.none(), "indexers"_a, "method"_a.none(), "tolerance"_a.none(), nb::call_guard<AtCaller>(),
      "The elements with these labels.");
}

}  // namespace bitale::python
