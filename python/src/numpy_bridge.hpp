// NumPy arrays to Arrays and back, without copies where that is possible.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "bitale/graph/type.hpp"

namespace bitale::python {

namespace nb = nanobind;

// Imports NumPy's C API; to be called once, before everything else here.
void import_numpy();

int numpy_type_number(DType dtype);
bool is_ndarray(nb::handle object);
// An ndarray, a NumPy scalar or a Python number: objects that have a dtype of their own or need none.
bool is_numpy_scalar(nb::handle object);
// Whether no other object can access the array's memory.
bool is_only_holder(nb::handle ndarray);

enum class Share { Borrow, Copy };
// Any array-like as NumPy interprets it, in its own dtype, in native byte order. Borrowed memory is kept alive.
// TypeError naming the dtype when Bitale has no such elements; NotImplementedError for those that are planned.
Array array_from(nb::handle object, Share share);
// The object as an array of that dtype: the object itself if it is one, otherwise converted. TypeError where that would
// change its kind, as from complex to float numbers.
nb::object as_dtype(nb::handle object, DType dtype);
// array_from, or std::nullopt when NumPy or Bitale can't convert it to an array of numbers.
std::optional<Array> try_array_from(nb::handle object, Share share);

// A value for a function's input or a shared variable. Arrays keep their dtype (the type's filter decides); numbers,
// NumPy scalars and lists take the type's dtype when this changes no value, or by PyTensor's rule for float literals.
Array value_for(const TensorType& type, nb::handle object, Downcast downcast);

// A NumPy array that owns a handle to the data (small ones are copied); 0-d results are 0-d arrays.
nb::object to_numpy(Array array);

// A NumPy array that owns its memory.
nb::object numpy_copy(const Array& array);
nb::object read_only_copy(const Array& array);

// A read-only NumPy array of a C-contiguous Array's elements. It does not keep them alive.
nb::object numpy_view(const Array& array);

// None is not a dtype; names, NumPy dtypes and Python's number types are; "floatX" is config.floatX.
DType dtype_from(nb::handle object);
std::optional<DType> optional_dtype(nb::handle object);

}  // namespace bitale::python
