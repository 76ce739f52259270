// The lengths of draws: what parameters broadcast to or `size` says, and what they become in a batch. A parameter's
// last dimensions may be its own (a row of probabilities, a matrix); those before broadcast with the draw's.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "bitale/graph/op.hpp"
#include "bitale/ops/random.hpp"

namespace bitale {

struct DrawParameter {
  Variable value;
  int core_ndim = 0;  // how many of its last dimensions are its own
};

// `size`, or what the parameters broadcast to. ValueError naming `who` where they have more dimensions than size says.
Shape lengths_of_draw(std::string_view who, std::span<const DrawParameter> parameters, const random::Size& size);

// The parameter, repeated to these lengths unless it is one value for all of them, or has them already. What broadcasts
// by itself stays as it is where `may_broadcast`. ShapeError for lengths that don't fit.
Variable fitted(const DrawParameter& parameter, const Shape& lengths, bool may_broadcast = false);

// The lengths that a draw is given, as int64. ValueError naming `who` for one that is known to be negative.
Variables given_lengths(std::string_view who, std::span<const Variable> lengths);

// The parameter in the dtype that the draw takes. TypeError naming `who` for real numbers where whole ones are taken.
Variable in_dtype_of_draw(std::string_view who, std::string_view parameter, const Variable& given, DType dtype);

// For connection_pattern: numbers drawn depend on real parameters, those from `first_parameter` on with these dtypes.
std::vector<std::vector<bool>> connected_parameters(std::size_t first_parameter, std::span<const DType> dtypes);

struct BatchedDraw {
  Shape lengths;     // the batch's, and those of the draw
  Variables others;  // the inputs between these and the parameters
  std::vector<DrawParameter> parameters;
};

// The node of a draw with inputs (state, `length_count` lengths, ..., parameters from `first_parameter` on), for
// batched inputs: one generator draws for the whole batch. NotImplementedError for batches of generators or of lengths.
BatchedDraw batched_draw(const Apply& node, std::span<const Variable> batched, std::string_view who, int length_count,
                         std::size_t first_parameter, std::span<const int> core_ndims);

}  // namespace bitale
