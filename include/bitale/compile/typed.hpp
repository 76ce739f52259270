// Typed view of a function: `f.as<double(double, std::span<const double>)>()`. A call takes C++ values and memory as
// they are, creates no Array and allocates nothing. Intended for samplers and optimisers, which call small functions
// millions of times.
//
//   input parameters    T, std::span<const T>, ArrayView<const T, N>      scalars, vectors, N dimensions
//   output parameters   T&, std::span<T>, ArrayView<T, N>                 their lengths must be the result's
//   return type         T: the first output, a scalar; void: all outputs are parameters
//
// Inputs and outputs are each in the function's order; an output may overlap an input (it is then copied).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "bitale/compile/function.hpp"
#include "bitale/core/array_view.hpp"

namespace bitale {

namespace typed {

// Memory without elements may have a null address; a call needs one that is not null.
template <class T>
void* address(T* data) {
  alignas(64) static char nowhere;
  return data ? const_cast<std::remove_const_t<T>*>(data) : static_cast<void*>(&nowhere);
}

// How a parameter is passed to the function: its kind, and its View, valid as long as the parameter lives.
template <class P>
struct Parameter {
  static_assert(Element<P>,
                "f.as: a parameter is a number, std::span or ArrayView of const elements (an input), or a reference, "
                "std::span or ArrayView of elements that are not const (an output)");
  static constexpr bool is_output = false;
  static constexpr Slot slot{dtype_of<P>::value, 0};
  explicit Parameter(P& given_value) : value(given_value) {}
  View view() { return {&value, nullptr, nullptr}; }
  P& value;
};

template <Element P>
struct Parameter<P&> {
  static constexpr bool is_output = true;
  static constexpr Slot slot{dtype_of<P>::value, 0};
  explicit Parameter(P& given_value) : value(given_value) {}
  View view() { return {&value, nullptr, nullptr}; }
  P& value;
};

template <class T>
struct Parameter<std::span<T>> {
  static constexpr bool is_output = !std::is_const_v<T>;
  static constexpr Slot slot{dtype_of<std::remove_const_t<T>>::value, 1};
  explicit Parameter(std::span<T>& given_span) : span(given_span), length(std::int64_t(given_span.size())) {}
  View view() { return {address(span.data()), &length, &stride}; }
  std::span<T>& span;
  std::int64_t length, stride = sizeof(T);
};

template <class T, std::size_t N>
struct Parameter<ArrayView<T, N>> {
  static constexpr bool is_output = !std::is_const_v<T>;
  static constexpr Slot slot{dtype_of<std::remove_const_t<T>>::value, int(N)};
  explicit Parameter(ArrayView<T, N>& given_array) : array(given_array) {}
  View view() { return {address(array.data()), array.shape().data(), array.strides().data()}; }
  ArrayView<T, N>& array;
};

}  // namespace typed

template <class Signature>
class TypedFunction;

template <class Result, class... Parameters>
class TypedFunction<Result(Parameters...)> {
  static constexpr bool returns = !std::is_void_v<Result>;
  static constexpr std::size_t output_parameters = (std::size_t(typed::Parameter<Parameters>::is_output) + ... + 0);
  static constexpr std::size_t inputs = sizeof...(Parameters) - output_parameters;
  static constexpr std::size_t outputs = output_parameters + returns;

 public:
  // TypeError saying which input or output has another dtype or rank than the signature.
  explicit TypedFunction(Function function) : function_(std::move(function)) {
    std::array<Slot, inputs> in{};
    std::array<Slot, outputs> out{};
    std::size_t i = 0, o = 0;
    if constexpr (returns) out[o++] = typed::Parameter<Result>::slot;
    ((typed::Parameter<Parameters>::is_output ? out[o++] = typed::Parameter<Parameters>::slot
                                              : in[i++] = typed::Parameter<Parameters>::slot),
     ...);
    function_.require_signature(in, out);
  }

  // ShapeError when the lengths of an output are not the result's; TypeError when those of an input don't match; and
  // what the computation raises. After an error the outputs are unchanged.
  Result operator()(Parameters... parameters) const { return call(typed::Parameter<Parameters>(parameters)...); }

 private:
  template <class... Views>
  Result call(Views... views) const {
    std::array<View, inputs> in;
    std::array<View, outputs> out;
    std::size_t i = 0, o = returns;
    ((Views::is_output ? out[o++] = views.view() : in[i++] = views.view()), ...);
    if constexpr (returns) {
      Result result;
      out[0] = {&result, nullptr, nullptr};
      function_.run_into(in, out);
      return result;
    } else {
      function_.run_into(in, out);
    }
  }

  Function function_;
};

template <class Signature>
TypedFunction<Signature> Function::as() const {
  return TypedFunction<Signature>(*this);
}

}  // namespace bitale
