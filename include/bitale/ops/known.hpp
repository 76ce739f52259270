// Operands as variables, and the values and lengths that are known from a graph. Names are PyTensor's.
#pragma once

#include <optional>
#include <string>

#include "bitale/ops/operand.hpp"

namespace bitale {

inline Variable as_tensor_variable(const Operand& x) { return x.variable; }
// A separate variable with the value of x: a derivative with respect to it counts what is computed from it, not from x.
Variable tensor_copy(const Operand& x);
inline Variable identity(const Operand& x) { return tensor_copy(x); }
// A scalar, which is a tensor without dimensions. TypeError for others.
Variable tensor_from_scalar(const Operand& x);
inline Variable scalar_from_tensor(const Operand& x) { return tensor_from_scalar(x); }
// Returns x. The only target is "cpu"; ValueError for another one.
Variable transfer(const Operand& x, const std::string& target);

inline bool is_flat(const Operand& x, int ndim = 1) { return x.ndim() == ndim; }
// The number of elements of a vector. ValueError where it is not known, and for another rank.
std::int64_t get_vector_length(const Operand& x);
// The element that all elements are equal to, as an array without dimensions; nullopt where there is none.
std::optional<Array> common_element(const Array& value);
// The value that all elements have, where it is known from the graph, which is looked through up to `max_depth` nodes;
// with 0, of constants only. The second function is for scalars only. NotScalarConstantError where there is none, and
// from the second function where x is not a scalar.
Array get_underlying_scalar_constant_value(const Operand& x, int max_depth = 10);
Array get_scalar_constant_value(const Operand& x, int max_depth = 10);

}  // namespace bitale
