// Labelled tensors among the arguments from Python, and their dimensions.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bitale/xtensor/indexing.hpp"
#include "bitale/xtensor/variable.hpp"

namespace bitale::python {

namespace nb = nanobind;

// The labelled tensor that the object is, or nullptr.
const xtensor::XVariable* labelled_in(nb::handle object);
// The same, or the labelled tensor that a scalar, a number or an xarray.DataArray stands for. TypeError for others,
// tensors and arrays with dimensions among them: these have no names.
xtensor::XVariable as_labelled(nb::handle object);
// std::nullopt for objects that are not operands at all: an operator then lets Python try the other one.
std::optional<xtensor::XVariable> try_as_labelled(nb::handle object);

// Whether it is one of xarray's arrays: the class is not asked for, since xarray may not be installed.
bool is_data_array(nb::handle object);
// Its dimensions, with their labels.
xtensor::DimList dims_of_data_array(nb::handle array);
// The values of one of xarray's arrays in this order of dimensions; anything else as it is. ValueError, which begins
// with the label, for other dimensions, and for coordinates that differ where both have them.
nb::object array_in_order(const xtensor::DimList& dims, nb::handle value, std::string_view label);

xtensor::Dim as_dim(nb::handle object);
// A name, a Dim, or a sequence of them.
xtensor::DimList as_dims(nb::handle object, std::string_view who);
// The same; none for None and Ellipsis, which stand for all dimensions.
xtensor::Names as_names(nb::handle object, std::string_view who);

// The names of core dimensions: as above, but no dimensions stand for none.
std::vector<std::string> as_core_names(nb::handle object, std::string_view who);

// Labels of a NumPy array, or of anything that it makes an array of. Null for None.
xtensor::CoordinatesRef as_coordinates(nb::handle labels);
nb::object labels_of(const xtensor::CoordinatesRef& coordinates);       // the array or pandas.MultiIndex, or None
nb::object multi_index_of(const xtensor::CoordinatesRef& coordinates);  // or None
// NotImplementedError, for `who`, where it is not installed.
nb::object import_pandas(std::string_view who);

// One index of a dimension. ("points", [0, 2]) has a name of its own, as a variable of xarray.
xtensor::Index as_index(nb::handle item, const xtensor::Dim& dim);

void bind_dims(nb::module_& m);
void bind_xtensor(nb::module_& m);  // after bind_dims
void bind_xtensor_windows(nb::module_& m);
void bind_labelled_functions(nb::module_& m);
void bind_xtensor_loops(nb::module_& m);
void bind_xtensor_selection(nb::module_& m);

}  // namespace bitale::python
