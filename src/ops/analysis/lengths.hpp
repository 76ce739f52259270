// Lengths of tensors as graph expressions: constants if they are known, otherwise Shape_i. Arithmetic on lengths folds
// known values as it builds expressions, so that shape graphs are small.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/op.hpp"
#include "graph/batch.hpp"

namespace bitale {

// The largest number of elements that constant folding stores in the graph in place of a repeated or counted value.
constexpr std::int64_t largest_folded_size = 1024;

Variable int64_constant(std::int64_t value);
// The value of a 0-d integer expression, if it is known statically: a constant, a static length, or arithmetic on
// these.
std::optional<std::int64_t> known_integer(const Variable& scalar);
// The static length that a scalar length expression implies; unknown_length if it is not known.
std::int64_t static_length(const Variable& length);
Dims static_lengths(std::span<const Variable> lengths);
// A 0-d integer as int64, a constant if it is known. TypeError naming `who` for anything else.
Variable as_length(const Variable& scalar, std::string_view who);
// Whether an expression can't be negative: lengths, non-negative constants, and sums and products of them.
bool is_never_negative(const Variable& scalar);

// Whether two scalar lengths are provably the same: lengths are traced back to those of leaves.
bool is_same_length(const Variable& a, const Variable& b);

Variable length_of(const Variable& x, int axis);
Shape lengths_of(const Variable& x);
// Element i of an integer vector of known length, without indexing if the vector was built from scalars.
Variable element_of(const Variable& vector, int i);
// The elements of a vector of statically known length. ValueError naming `who` when the length is not known.
Variables elements_of(const Variable& vector, std::string_view who);

namespace lengths {
Variable add(const Variable& a, const Variable& b);
Variable sub(const Variable& a, const Variable& b);
Variable mul(const Variable& a, const Variable& b);
Variable floor_div(const Variable& a, const Variable& b);  // floored; not folded if b is a known 0
Variable min(const Variable& a, const Variable& b);
Variable max(const Variable& a, const Variable& b);
Variable is_negative(const Variable& a);  // a constant 0 or 1 when known, else bool
Variable choose(const Variable& condition, const Variable& if_true, const Variable& if_false);
Variable product(std::span<const Variable> factors);
}  // namespace lengths

// A possibly negative axis made non-negative. AxisError naming `who` when it is out of bounds.
int normal_axis(int axis, int ndim, std::string_view who);
// The common static length of dimensions that must be equal. ShapeError naming `who`, the dimension and both lengths.
std::int64_t common_length(std::int64_t a, std::int64_t b, int axis, std::string_view who);
// TypeError unless there are `count` inputs.
void require_inputs(const Op& op, std::span<const Variable> inputs, std::size_t count);
// A disconnected gradient for each input.
Variables no_gradients(const Apply& node);
// connection_pattern of a node with one output, to which the first `connected` inputs are connected.
std::vector<std::vector<bool>> connect_first(const Apply& node, std::size_t connected);
// g with the static lengths of x: for a gradient of x or a part of it, whose lengths are known to be those of x.
Variable with_static_shape_of(const Variable& x, const Variable& g);
// Lengths of the batch dimensions, from the first input that has them.
Shape batch_lengths(const Batch& batch);
// The lengths of a batch of tensors with these lengths.
Variables with_batch_lengths(const Batch& batch, const Variables& own);
// Input i such that it broadcasts with those that are batches. One that is a batch gets dimensions of length 1 between
// those of the batch and its own ones, up to core_ndim core dimensions.
Variable broadcast_in_batch(const Batch& batch, int input, int core_ndim = 0);
// Input i with all batch dimensions and at least core_ndim core dimensions: repeated if it was not batched.
Variable with_batch(const Batch& batch, int input, int core_ndim = 0);

}  // namespace bitale
