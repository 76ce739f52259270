#include "out_arrays.hpp"

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "function_object.hpp"
#include "instance.hpp"
#include "numpy_api.hpp"

namespace bitale::python {

OutArrays::OutArrays(const FunctionObject& self, PyObject* out) : others_(self.output_count) {
  std::size_t geometry_size = 0;
  for (auto& kind : self.output_kinds) geometry_size += 2 * std::size_t(kind.ndim);
  geometry_.reserve(geometry_size);  // views point into it
  const bool is_sequence = PyTuple_Check(out) || PyList_Check(out);
  if (!is_sequence) {
    if (self.output_count != 1)
      throw TypeError(
          cat(name_of(self), ": out: expected a tuple of ", self.output_count, " arrays, got ", shown(out)));
    add(self, 0, out);
    return;
  }
  const auto count = std::size_t(PySequence_Fast_GET_SIZE(out));
  if (count != self.output_count)
    throw ValueError(cat(name_of(self), ": out: expected ", self.output_count, " arrays, got ", count));
  for (std::size_t i = 0; i < count; ++i) add(self, i, PySequence_Fast_GET_ITEM(out, Py_ssize_t(i)));
}

void OutArrays::add(const FunctionObject& self, std::size_t output, PyObject* object) {
  if (object == Py_None) {
    views_.push_back({nullptr, nullptr, nullptr});
    given_.push_back(nullptr);
    return;
  }
  const auto where = [&] { return cat(name_of(self), ": out: output ", output, ": "); };
  const Kind& kind = self.output_kinds[output];
  if (kind.other)
    throw TypeError(cat(where(), "a value of type ", kind.other->str(), " is not written into arrays; give None"));
  if (!PyArray_Check(object)) throw TypeError(cat(where(), "expected an array, got ", shown(object)));
  auto* array = reinterpret_cast<PyArrayObject*>(object);
  if (!PyArray_EquivTypenums(PyArray_TYPE(array), kind.type_number))
    throw TypeError(cat(where(), "expected dtype ", dtype_name(kind.dtype), ", got ",
                        nb::str(nb::handle(reinterpret_cast<PyObject*>(PyArray_DESCR(array)))).c_str()));
  if (PyArray_NDIM(array) != kind.ndim)
    throw ValueError(cat(where(), "expected ", kind.ndim, " dimensions, got ", PyArray_NDIM(array)));
  if (!PyArray_ISWRITEABLE(array)) throw ValueError(cat(where(), "the array is read-only"));
  given_.push_back(object);
  if (!PyArray_ISBEHAVED(array)) {
    auto* descr = PyArray_DescrFromType(kind.type_number);
    nb::object other = nb::steal(PyArray_NewLikeArray(array, NPY_CORDER, descr, 0));
    if (!other) nb::raise_python_error();
    stand_ins_.emplace_back(object, other);
    array = reinterpret_cast<PyArrayObject*>(other.ptr());
  }
  const std::int64_t* geometry = geometry_.end();
  for (int axis = 0; axis < kind.ndim; ++axis) geometry_.push_back(PyArray_DIM(array, axis));
  for (int axis = 0; axis < kind.ndim; ++axis) geometry_.push_back(PyArray_STRIDE(array, axis));
  views_.push_back({PyArray_DATA(array), geometry, geometry + kind.ndim});
}

void OutArrays::finish() {
  others_.finish();
  for (auto& [target, source] : stand_ins_)
    if (PyArray_CopyInto(reinterpret_cast<PyArrayObject*>(target), reinterpret_cast<PyArrayObject*>(source.ptr())) < 0)
      nb::raise_python_error();
}

PyObject* OutArrays::take(std::size_t output) {
  return given_[output] ? Py_NewRef(given_[output]) : others_.take(output);
}

}  // namespace bitale::python
