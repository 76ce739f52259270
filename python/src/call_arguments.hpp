// The arguments of a call as the compiled code reads them. What is plainly of an input's type is looked at once and
// read where it lies; everything else is converted first.
#pragma once

#include <Python.h>

#include <cstdint>
#include <span>
#include <vector>

#include "bitale/compile/function.hpp"
#include "bitale/core/small_vector.hpp"

namespace bitale::python {

struct FunctionObject;

// What a call has to know of an input or output, without following handles.
struct Kind {
  DType dtype;
  int type_number;  // NumPy's
  int ndim;
  const TensorType* type;                      // of the memory
  const TypeBase* other;                       // of a value that is no array: its type, else null
  PyTypeObject* scalar_type;                   // NumPy's numbers of this dtype; lives for ever
  Downcast downcast = Downcast::FloatLiteral;  // of an input, as its strictness
  bool strict = false;
};
Kind kind_of(const Variable& variable);
// What is given for an input, as it takes it. TypeError.
Array input_value(const Kind& kind, PyObject* object);

class CallArguments {
 public:
  // A null argument is a View without data. TypeError naming the input for what can't be one.
  // `may_stay`: an array of JAX, for a function of mode JAX, is one that `behind` gives.
  CallArguments(const FunctionObject& function, std::span<PyObject* const> arguments, bool may_stay = false);
  CallArguments(const CallArguments&) = delete;
  CallArguments& operator=(const CallArguments&) = delete;
  std::span<const View> views() const { return {views_.data(), views_.size()}; }
  // The Array that holds argument i, where it is on a device; else null.
  const Array* behind(int i) const;

 private:
  bool take_array(PyObject* object, const Kind& kind, View& view);
  bool take_number(PyObject* object, const Kind& kind, std::size_t i);
  bool take_from_device(PyObject* object, const Kind& kind, std::size_t i);
  void convert(const FunctionObject& function, std::size_t i, PyObject* object);

  SmallVector<View, 8> views_;
  SmallVector<std::int64_t, 8> numbers_;    // the bits of scalars
  SmallVector<std::int64_t, 32> geometry_;  // lengths and strides: an ndarray may get others during the call
  std::size_t geometry_end_ = 0;
  std::vector<Array> converted_;
};

}  // namespace bitale::python
