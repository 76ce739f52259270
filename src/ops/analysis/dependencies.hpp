// How common kinds of ops pass on dependencies (graph/dependencies.hpp).
#pragma once

#include "graph/dependencies.hpp"

namespace bitale {

// Of an op whose output consists of elements of the inputs `moved`: the op itself, applied to the numbers of their
// sets. nullopt unless the values of the other inputs are known.
std::optional<Array> moved_dependencies(const Apply& node, InputDependencies& inputs, std::span<const int> moved);
// Of an op that computes each element from the elements of these inputs at the same position, repeated to the output's
// lengths.
Array united_dependencies(InputDependencies& inputs, std::span<const int> of);
// Of an op that computes each element of a batch, whose dimensions come first, from all elements of the inputs at the
// same position in the batch.
Array batch_dependencies(InputDependencies& inputs, std::size_t input_count, std::size_t batch_ndim);
// The union of each row of sets[rows, ...].
Array united_rows(ElementSets& sets, const Array& rows);
// The positions in the first input, in row-major order, of what `gather` selects, given that input and the node's
// inputs from the third on. nullopt unless these are known.
std::optional<Array> selected_positions(const Op& gather, const Apply& node, InputDependencies& inputs);
// Of an update that adds to x, the first input, the elements of y, the second one, at `targets` in x.
Array dependencies_of_sum(InputDependencies& inputs, const Array& targets);

}  // namespace bitale
