// Zero-copy exchange with NumPy through its C API. An Array that borrows a NumPy array's memory keeps that array alive;
// a NumPy array made from an Array has a capsule as its base, which holds the Array's handle.
#include "numpy_bridge.hpp"

#define BITALE_HOLDS_NUMPY_API
#include "numpy_api.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "variable_object.hpp"

namespace bitale::python {

namespace {

std::array<int, dtype_count> type_numbers;  // NumPy's, by dtype

std::optional<DType> dtype_of_number(int number) {
  if (number == NPY_LONGLONG) number = NPY_LONG;
  if (number == NPY_ULONGLONG) number = NPY_ULONG;
  const auto found = std::find(type_numbers.begin(), type_numbers.end(), number);
  return found == type_numbers.end() ? std::nullopt : std::optional(DType(found - type_numbers.begin()));
}
static_assert(sizeof(long) == 8, "NPY_LONG is taken for int64");

// A masked array: the elements that it hides would be taken for values. Its class exists only if numpy.ma has been
// imported.
bool is_masked(nb::handle object) {
  if (!PyArray_Check(object.ptr()) || PyArray_CheckExact(object.ptr())) return false;
  const nb::handle module = PyImport_GetModuleDict();
  const nb::handle masked = PyDict_GetItemString(module.ptr(), "numpy.ma");
  return masked.is_valid() && PyObject_IsInstance(object.ptr(), nb::object(masked.attr("MaskedArray")).ptr()) == 1;
}

PyArrayObject* as_ndarray(nb::handle object) { return reinterpret_cast<PyArrayObject*>(object.ptr()); }

DType require_dtype(PyArray_Descr* descr) {
  auto dtype = dtype_of_number(descr->type_num);
  if (!dtype) {
    nb::handle name(reinterpret_cast<PyObject*>(descr));
    TypeError error(cat("dtype ", nb::str(name).c_str(), " can't be used: expected booleans, integers or floats"));
    if (descr->type_num == NPY_OBJECT)
      error.add("hint", "an integer beyond 64 bits, None, or another Python object is among the values");
    throw error;
  }
  return *dtype;
}

// The last handle may be released where the GIL is not held, or after the interpreter has been finalized.
std::shared_ptr<void> keep_alive(PyObject* object) {
  Py_INCREF(object);
  return std::shared_ptr<void>(object, [](void* held) {
    if (!Py_IsInitialized()) return;
    nb::gil_scoped_acquire gil;
    Py_DECREF(static_cast<PyObject*>(held));
  });
}

// The array if it is aligned and in native byte order, otherwise such a copy.
nb::object behaved(nb::handle ndarray) {
  auto* array = as_ndarray(ndarray);
  if (PyArray_ISALIGNED(array) && PyArray_ISNOTSWAPPED(array)) return nb::borrow(ndarray);
  PyObject* copy =
      PyArray_CheckFromAny(ndarray.ptr(), nullptr, 0, 0, NPY_ARRAY_ALIGNED | NPY_ARRAY_NOTSWAPPED, nullptr);
  if (!copy) nb::raise_python_error();
  return nb::steal(copy);
}

Array from_ndarray(nb::handle object, Share share) {
  if (is_masked(object))
    throw TypeError(
        "a masked array can't be used: expected an array; x.filled(value) is one, and x.data ignores the mask");
  DType dtype = require_dtype(PyArray_DESCR(as_ndarray(object)));
  nb::object held = behaved(object);
  auto* ndarray = as_ndarray(held);
  const auto ndim = std::size_t(PyArray_NDIM(ndarray));
  Dims shape(ndim), strides(ndim);
  for (std::size_t axis = 0; axis < ndim; ++axis) {
    shape[axis] = PyArray_DIM(ndarray, int(axis));
    strides[axis] = PyArray_STRIDE(ndarray, int(axis));
  }
  if (ndim == 0) return Array::scalar(dtype, PyArray_DATA(ndarray));
  if (share == Share::Copy)
    return Array::borrow(PyArray_DATA(ndarray), dtype, shape, strides, nullptr, Array::Writeable::No).copy();
  return Array::borrow(PyArray_DATA(ndarray), dtype, shape, strides, keep_alive(held.ptr()),
                       Array::Writeable(PyArray_ISWRITEABLE(ndarray)));
}

nb::object any_to_ndarray(nb::handle object) {
  // NumPy would wrap a Variable as an object, or try to iterate over it.
  if (is_variable(object))
    throw TypeError(
        cat("expected an array, a number or a list, not the symbolic variable ", variable_of(object).str()));
  PyObject* ndarray = PyArray_FromAny(object.ptr(), nullptr, 0, 0, 0, nullptr);
  if (!ndarray) nb::raise_python_error();
  return nb::steal(ndarray);
}

bool same_values(const Array& a, const Array& b) {
  if (is_complex(a.dtype()) || is_complex(b.dtype())) return allclose(b, a, 0, 0);
  // Compared in the original dtype for precision, and in float64 for the sign of large unsigned integers.
  return allclose(b.astype(a.dtype()), a, 0, 0) && allclose(b.astype(DType::Float64), a.astype(DType::Float64), 0, 0);
}

bool is_float_object(nb::handle object) {
  return PyFloat_Check(object.ptr()) || PyArray_IsScalar(object.ptr(), Floating);
}

PyObject* new_ndarray(const Array& array, void* data, int flags) {
  const auto ndim = array.shape().size();
  Dims strides = array.strides();
  auto* descr = PyArray_DescrFromType(numpy_type_number(array.dtype()));
  PyObject* ndarray = PyArray_NewFromDescr(&PyArray_Type, descr, int(ndim), array.shape().data(),
                                           data ? strides.data() : nullptr, data, flags, nullptr);
  if (!ndarray) nb::raise_python_error();
  return ndarray;
}

void release_capsule(PyObject* capsule) { delete static_cast<Array*>(PyCapsule_GetPointer(capsule, nullptr)); }

}  // namespace

int numpy_type_number(DType dtype) { return type_numbers[std::size_t(dtype)]; }

void import_numpy() {
  if (_import_array() < 0) nb::raise_python_error();
  for (int k = 0; k < dtype_count; ++k) {
    PyArray_Descr* descr = nullptr;
    if (!PyArray_DescrConverter(nb::str(dtype_name(DType(k)).data()).ptr(), &descr)) nb::raise_python_error();
    type_numbers[std::size_t(k)] = descr->type_num;
    Py_DECREF(descr);
  }
}

bool is_ndarray(nb::handle object) { return PyArray_Check(object.ptr()); }

bool is_numpy_scalar(nb::handle object) { return PyArray_CheckScalar(object.ptr()) != 0; }

bool is_only_holder(nb::handle ndarray) {
  auto* array = reinterpret_cast<PyArrayObject*>(ndarray.ptr());
  if (Py_REFCNT(ndarray.ptr()) != 1 || !PyArray_ISWRITEABLE(array)) return false;
  if (PyArray_CHKFLAGS(array, NPY_ARRAY_OWNDATA)) return true;
  PyObject* base = PyArray_BASE(array);
  return base && PyArray_Check(base) && Py_REFCNT(base) == 1 &&
         PyArray_CHKFLAGS(reinterpret_cast<PyArrayObject*>(base), NPY_ARRAY_OWNDATA);
}

Array array_from(nb::handle object, Share share) {
  if (is_ndarray(object)) return from_ndarray(object, share);
  nb::object ndarray = any_to_ndarray(object);
  // An array that NumPy has just created has no other owner, unless the object returned its own.
  return from_ndarray(ndarray,
                      Py_REFCNT(ndarray.ptr()) == 1 && !PyArray_BASE(as_ndarray(ndarray)) ? Share::Borrow : share);
}

nb::object as_dtype(nb::handle object, DType dtype) {
  if (is_ndarray(object) && PyArray_TYPE(as_ndarray(object)) == numpy_type_number(dtype)) return nb::borrow(object);
  const nb::object array = nb::steal(PyArray_FromAny(object.ptr(), nullptr, 0, 0, 0, nullptr));
  if (!array.is_valid()) nb::raise_python_error();
  PyArray_Descr* descr = PyArray_DescrFromType(numpy_type_number(dtype));
  if (!PyArray_CanCastArrayTo(as_ndarray(array), descr, NPY_SAME_KIND_CASTING)) {
    Py_DECREF(descr);
    const nb::object given = array.attr("dtype").attr("name");
    throw TypeError(cat("expected ", dtype_name(dtype), ", got an array of ", PyUnicode_AsUTF8(given.ptr()),
                        ", which can't be cast to it without loss"));
  }
  PyObject* converted = PyArray_FromAny(array.ptr(), descr, 0, 0, NPY_ARRAY_FORCECAST, nullptr);
  if (!converted) nb::raise_python_error();
  return nb::steal(converted);
}

std::optional<Array> try_array_from(nb::handle object, Share share) {
  if (is_variable(object)) return {};
  PyObject* ndarray = PyArray_FromAny(object.ptr(), nullptr, 0, 0, 0, nullptr);
  if (!ndarray) {
    PyErr_Clear();
    return {};
  }
  nb::object held = nb::steal(ndarray);
  if (!dtype_of_number(PyArray_DESCR(as_ndarray(held))->type_num)) return {};
  return array_from(object, share);
}

namespace {

// Floats of dtypes that Bitale does not have, where any conversion is allowed.
std::optional<Array> from_other_floats(const TensorType& type, nb::handle object) {
  if (!is_ndarray(object) && !is_numpy_scalar(object)) return {};
  const nb::object ndarray = any_to_ndarray(object);
  const int number = PyArray_TYPE(as_ndarray(ndarray));
  if (number != NPY_HALF && number != NPY_LONGDOUBLE) return {};
  PyArray_Descr* descr = PyArray_DescrFromType(numpy_type_number(type.dtype));
  PyObject* converted = PyArray_CastToType(as_ndarray(ndarray), descr, 0);
  if (!converted) nb::raise_python_error();
  return from_ndarray(nb::steal(converted), Share::Borrow);
}

// The value of an int that no integer dtype can hold, for a float type.
std::optional<double> from_large_int(const TensorType& type, nb::handle object, Downcast downcast) {
  if (!PyLong_Check(object.ptr()) || !is_float(type.dtype)) return {};
  const double number = PyLong_AsDouble(object.ptr());
  if (number == -1 && PyErr_Occurred()) nb::raise_python_error();
  if (number >= -0x1p63 && number < 0x1p64) return {};
  const bool rounds =
      downcast == Downcast::Always || (downcast == Downcast::FloatLiteral && type.dtype == config::float_x());
  const bool is_exact = type.dtype == DType::Float64 || double(float(number)) == number;
  if (rounds || (is_exact && nb::steal(PyLong_FromDouble(number)).equal(object))) return number;
  throw TypeError(cat("expected ", dtype_name(type.dtype), "; the value ", shown(object),
                      " would change by conversion; allow_input_downcast=True converts anyway"));
}

}  // namespace

Array value_for(const TensorType& type, nb::handle object, Downcast downcast) {
  if (downcast == Downcast::Always)
    if (auto value = from_other_floats(type, object)) return *value;
  if (auto number = from_large_int(type, object, downcast)) return Array(*number).astype(type.dtype);
  if (is_ndarray(object)) return from_ndarray(object, Share::Borrow);
  if (is_variable(object))
    throw TypeError(cat("expected an array, a number or a list, not the symbolic variable ", variable_of(object).str(),
                        ": a function is called with values"));
  Array value = array_from(object, Share::Borrow);
  if (value.size() == 0 && value.ndim() == 1 && PySequence_Check(object.ptr()) && !is_numpy_scalar(object))
    return value.astype(type.dtype);  // [] has no dtype of its own
  if (value.dtype() == type.dtype || downcast == Downcast::Always || can_cast_safely(value.dtype(), type.dtype))
    return value;
  const bool literal = downcast == Downcast::FloatLiteral && is_float_object(object);
  if (is_complex(value.dtype()) && !is_complex(type.dtype))
    throw TypeError(cat("expected ", dtype_name(type.dtype), ", got the complex value ", shown(object)));
  Array converted = value.astype(type.dtype);
  if ((literal && type.dtype == config::float_x()) || same_values(value, converted)) return converted;
  throw TypeError(cat("expected ", dtype_name(type.dtype), "; the value ", shown(object), " (",
                      dtype_name(value.dtype()),
                      ") would change by conversion; allow_input_downcast=True converts anyway"));
}

nb::object numpy_copy(const Array& array) {
  if (!array.is_contiguous()) return numpy_copy(array.contiguous());
  nb::object ndarray = nb::steal(new_ndarray(array, nullptr, 0));
  if (array.nbytes()) std::memcpy(PyArray_DATA(as_ndarray(ndarray)), array.data(), std::size_t(array.nbytes()));
  return ndarray;
}

nb::object read_only_copy(const Array& array) {
  nb::object ndarray = numpy_copy(array);
  PyArray_CLEARFLAGS(as_ndarray(ndarray), NPY_ARRAY_WRITEABLE);
  return ndarray;
}

nb::object to_numpy(Array array) {
  constexpr std::int64_t small = 256;  // bytes; below that a copy is cheaper than a capsule
  if (array.writeable() && array.is_contiguous() && array.nbytes() <= small) return numpy_copy(array);
  nb::object ndarray = nb::steal(new_ndarray(array, array.mutable_data(), array.writeable() ? NPY_ARRAY_WRITEABLE : 0));
  PyArray_UpdateFlags(as_ndarray(ndarray), NPY_ARRAY_UPDATE_ALL);
  auto held = std::make_unique<Array>(std::move(array));
  PyObject* capsule = PyCapsule_New(held.get(), nullptr, release_capsule);
  if (!capsule) nb::raise_python_error();
  held.release();
  if (PyArray_SetBaseObject(as_ndarray(ndarray), capsule) < 0) nb::raise_python_error();
  return ndarray;
}

nb::object numpy_view(const Array& array) {
  nb::object ndarray = nb::steal(new_ndarray(array, array.mutable_data(), 0));
  PyArray_UpdateFlags(as_ndarray(ndarray), NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS | NPY_ARRAY_ALIGNED);
  return ndarray;
}

DType dtype_from(nb::handle object) {
  std::string name;
  if (PyUnicode_Check(object.ptr())) {
    name = nb::cast<std::string>(object);
    if (name == "floatX") return config::float_x();
  }
  PyArray_Descr* descr = nullptr;  // NumPy parses "int", "double", "<f8"
  if (object.is_none() || !PyArray_DescrConverter(object.ptr(), &descr)) {
    PyErr_Clear();
    if (!name.empty()) return parse_dtype(name);  // the error lists the available ones
    throw TypeError(cat("expected a dtype such as \"float64\", got ", shown(object)));
  }
  nb::object held = nb::steal(reinterpret_cast<PyObject*>(descr));
  return require_dtype(descr);
}

std::optional<DType> optional_dtype(nb::handle object) {
  if (object.is_none()) return {};
  return dtype_from(object);
}

}  // namespace bitale::python
