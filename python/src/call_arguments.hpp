// The arguments of a call in the form that compiled code reads. An object that is recognized as one of an input's type
// is inspected once and read in place; everything else is converted first.
#pragma once

#include <Python.h>

#include <cstdint>
#include <span>
#include <vector>

#include "bitale/compile/function.hpp"
#include "bitale/core/small_vector.hpp"

namespace bitale::python {

struct FunctionObject;

// What a call needs to know of an input or output, without following handles.
struct Kind {
  DType dtype;
  int type_number;  // NumPy's
  int ndim;
  const TensorType* type;                      // the storage type
  const TypeBase* other;                       // the type of a value that is not an array, otherwise null
  PyTypeObject* scalar_type;                   // NumPy's scalars of this dtype; never freed
  Downcast downcast = Downcast::FloatLiteral;  // of an input; so is `strict`
  bool strict = false;
};
Kind kind_of(const Variable& variable);
// The object as a value of an input. Throws a TypeError for unsuitable ones.
Array input_value(const Kind& kind, PyObject* object);

class CallArguments {
 public:
  // A null argument becomes a View without data. TypeError naming the input for an object that can't be its value.
  // `may_stay`: in a function of mode JAX, an array of JAX is kept as it is and returned by `behind`.
  CallArguments(const FunctionObject& function, std::span<PyObject* const> arguments, bool may_stay = false);
  CallArguments(const CallArguments&) = delete;
  CallArguments& operator=(const CallArguments&) = delete;
  std::span<const View> views() const { return {views_.data(), views_.size()}; }
  // The Array that holds argument i, if it is on a device; otherwise null.
  const Array* behind(int i) const;

 private:
  bool take_array(PyObject* object, const Kind& kind, View& view);
  bool take_number(PyObject* object, const Kind& kind, std::size_t i);
  bool take_from_device(PyObject* object, const Kind& kind, std::size_t i);
  void convert(const FunctionObject& function, std::size_t i, PyObject* object);

  SmallVector<View, 8> views_;
  SmallVector<std::int64_t, 8> numbers_;    // the bits of scalars
  SmallVector<std::int64_t, 32> geometry_;  // lengths and strides: those of an ndarray may be changed during the call
  std::size_t geometry_end_ = 0;
  std::vector<Array> converted_;
};

}  // namespace bitale::python
