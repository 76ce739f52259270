// The lengths of draws: `size`, or the shape that the parameters broadcast to; and those of a batch of draws. The last
// dimensions of a parameter may be its own (a row of probabilities, a matrix); those before them broadcast with the
// draw's.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "bitale/graph/op.hpp"
#include "bitale/ops/random.hpp"

namespace bitale {

struct DrawParameter {
  Variable value;
  int core_ndim = 0;  // the number of its last dimensions that are its own
};

// `size`, or the shape that the parameters broadcast to. ValueError naming `who` if they have more dimensions than
// size.
Shape lengths_of_draw(std::string_view who, std::span<const DrawParameter> parameters, const random::Size& size);

// The parameter broadcast to these lengths, unless it is a single value or already has them. With `may_broadcast`, a
// parameter that broadcasts to them implicitly is returned unchanged. ShapeError for lengths that don't fit.
Variable fitted(const DrawParameter& parameter, const Shape& lengths, bool may_broadcast = false);

// The given lengths of a draw as int64. ValueError naming `who` for one that is known to be negative.
Variables given_lengths(std::string_view who, std::span<const Variable> lengths);

// The parameter in the dtype that the draw takes. TypeError naming `who` for real numbers if integers are required.
Variable in_dtype_of_draw(std::string_view who, std::string_view parameter, const Variable& given, DType dtype);

// For connection_pattern: the drawn numbers depend on the real parameters among those from `first_parameter` on, which
// have these dtypes.
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
