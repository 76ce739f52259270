// Shared by the files of rules: the vocabulary of declarations, and small queries about graphs.
#pragma once

#include <optional>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "bitale/ops/ops.hpp"
#include "bitale/rewriting/rules.hpp"
#include "ops/elementwise/scalar_op.hpp"

namespace bitale::rewriting {

// Whether the variable's node is an application of this elementwise operation.
bool is_elemwise(const Variable& v, std::string_view scalar_name);
// The only use of the variable, or nullptr.
ApplyNode* only_user(const FunctionGraph& graph, const Variable& v);
// Whether a dimension has length 1 by its type.
inline bool is_one(const Variable& v, int axis) { return v.static_shape()[std::size_t(axis)] == 1; }
// Whether all dimensions have length 1 by their type: the variable is one number.
bool is_single(const Variable& v);
// Whether a scalar expression is the length of x along an axis.
bool is_length_of(const Variable& scalar, const Variable& x, int axis);
// Whether the values depend on a leaf that is not a constant (true if the search takes too long). Lengths do not count.
bool depends_on_inputs(const Variable& v);
// Whether both have the same rank and the same static pattern of broadcast dimensions.
bool same_broadcast(const Variable& a, const Variable& b);
// The op of the variable's node if it is of the class, else nullptr.
template <class OpClass>
const OpClass* op_as(const Variable& v) {
  static_assert(std::is_final_v<OpClass>);  // so that no search through bases is needed
  const Op* op = v.owner_op();
  return op && typeid(*op) == typeid(OpClass) ? static_cast<const OpClass*>(op) : nullptr;
}
// Whether v shows elements of its first input: by indices, by another order or number of dimensions, as another float.
bool is_view(const Variable& v);
// A variable below all its views.
struct Viewed {
  Variable base;
  Variables views = {};  // the outermost first

  explicit Viewed(const Variable& v);
  Variable of(Variable other) const;  // another variable through the same views
};
// If v is a difference, a maximum of its first operand that the second contains: then exponentials of v don't overflow.
// It may be one of those elements that a switch selects. A null variable if there is none near the root.
Variable subtracted_maximum(const Variable& v);
// v with leading dimensions of length 1 added up to the rank.
Variable padded(const Variable& v, int rank);
inline std::optional<Variables> one(std::optional<Variable> replacement) {
  if (!replacement) return std::nullopt;
  return Variables{*replacement};
}
// Whether a + b has no rounding error in the dtype. Integers wrap, so their sums have none.
bool is_exact_sum(double a, double b, DType dtype);
// Leaves for samples.
Variable sample_leaf(DType dtype, const Dims& shape);
Variable sample_vector();  // float64, of unknown length
Variable sample_matrix();
inline constexpr std::int64_t any_length = unknown_length;

}  // namespace bitale::rewriting
