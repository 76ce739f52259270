// NumPy arrays to Arrays and back, without copies where that is possible.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "bitale/graph/type.hpp"

namespace bitale::python {

namespace nb = nanobind;

// Imports NumPy's C API; once, before everything else here.
void import_numpy();

int numpy_type_number(DType dtype);
bool is_ndarray(nb::handle object);
// An ndarray, a NumPy scalar or a Python number: what has a dtype of its own or needs none.
bool is_numpy_scalar(nb::handle object);

enum class Share { Borrow, Copy };
// Any array-like as NumPy sees it, in its own dtype, in native byte order. Borrowed memory is kept alive. TypeError
// naming the dtype when Bitale has no such elements; NotImplementedError for those it will have.
Array array_from(nb::handle object, Share share);
// The object as an array of that dtype, itself if it is one, else converted as NumPy's astype does.
nb::object as_dtype(nb::handle object, DType dtype);
// array_from, or nothing when NumPy or Bitale can't make an array of numbers of it.
std::optional<Array> try_array_from(nb::handle object, Share share);

// A value for a function's input or a shared variable. Arrays keep their dtype (the type's filter judges it); numbers,
// NumPy scalars and lists take the type's dtype when no value changes by that, or by PyTensor's rule for float
// literals.
Array value_for(const TensorType& type, nb::handle object, Downcast downcast);

// A NumPy array that owns a handle to the data (small ones are copied); 0-d results are 0-d arrays.
nb::object to_numpy(Array array);

// A NumPy array in memory of its own.
nb::object numpy_copy(const Array& array);
nb::object read_only_copy(const Array& array);

// A read-only NumPy array of a contiguous Array's elements, for as long as these are there: nothing keeps them alive.
nb::object numpy_view(const Array& array);

// None is no dtype; names, NumPy dtypes and Python's number types are; "floatX" is config.floatX.
DType dtype_from(nb::handle object);
std::optional<DType> optional_dtype(nb::handle object);

}  // namespace bitale::python
