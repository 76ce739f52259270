// Variables as Python lists and tuples.
#pragma once

#include <span>

#include "variable_object.hpp"

namespace bitale::python {

inline nb::list list_of(std::span<const Variable> variables) {
  nb::list out;
  for (auto& variable : variables) out.append(wrap(variable));
  return out;
}
inline nb::tuple tuple_of(std::span<const Variable> variables) { return nb::tuple(list_of(variables)); }

}  // namespace bitale::python
