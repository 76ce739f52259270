// Operand: the argument type of the functions of ops.hpp. It holds a Variable, a number or an Array, together with the
// line of the caller (captured as the argument converts), which the nodes then carry. Operands: any number of them.
#pragma once

#include <initializer_list>
#include <source_location>
#include <utility>

#include "bitale/graph/variable.hpp"

namespace bitale {

class Operand {
 public:
  using Source = std::source_location;
  // ValueError with the caller's line for a null handle.
  Operand(const Variable& v, Source given_where = Source::current()) : variable(v), where(given_where) {
    if (!v.defined()) [[unlikely]]
      refuse_null_handle("Variable", given_where);
  }
  Operand(const Array& v, Source given_where = Source::current()) : variable(constant(v)), where(given_where) {}
  // Python-like scalar casting (PyTensor's "custom" policy): an int becomes the smallest signed integer that holds it,
  // a float becomes float32 when that is exact (nan is) and else float64; always float32 when floatX is.
  template <Element T>
  Operand(T value, Source given_where = Source::current()) : variable(number(value)), where(given_where) {}
  // A vector of the elements of a std::vector, a std::span, or another range of numbers.
  template <ElementRange R>
  Operand(const R& values, Source given_where = Source::current())
      : variable(constant(Array(values))), where(given_where) {}

  Variable variable;
  Location where;

  DType dtype() const { return variable.dtype(); }
  int ndim() const { return variable.ndim(); }

  static Variable number(bool value);
  static Variable number(std::int64_t value);
  static Variable number(std::uint64_t value);  // uint64 when no signed integer holds it
  static Variable number(double value);
  static Variable number(std::complex<double> value);  // complex128, as in PyTensor
  template <Element T>
  static Variable number(T value) {
    if constexpr (is_complex_type<T>)
      return number(std::complex<double>(value));
    else if constexpr (std::is_floating_point_v<T>)
      return number(double(value));
    else if constexpr (std::is_unsigned_v<T>)
      return number(std::uint64_t(value));
    else
      return number(std::int64_t(value));
  }
};

class Operands {
 public:
  using Source = std::source_location;
  Operands(Variables given, Source given_where = Source::current()) : variables(std::move(given)), where(given_where) {
    for (auto& each : variables)
      if (!each.defined()) [[unlikely]]
        refuse_null_handle("Variable", given_where);
  }
  Operands(std::initializer_list<Operand> operands, Source given_where = Source::current()) : where(given_where) {
    variables.reserve(operands.size());
    for (auto& operand : operands) variables.push_back(operand.variable);
  }

  Variables variables;
  Location where;
};

}  // namespace bitale
