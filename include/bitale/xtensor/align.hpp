// Alignment: how labelled tensors meet in one function. Their common dimensions, in the order in which the operands
// first have them, become the axes of all; an operand that lacks one is repeated along it. Core dimensions are those
// that the function itself uses, such as the rows and columns of a matrix: they come last, in the given order.
#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bitale/xtensor/variable.hpp"

namespace bitale::xtensor {

struct Aligned {
  Variables values;  // their axes: the common dimensions (1 where one is missing), then the operand's core dimensions
  DimList dims;      // the common dimensions
  Dims lengths;      // their static lengths
  std::vector<DimList> core;  // the core dimensions of each operand
};

// core: for each operand the names of its core dimensions; empty: no operand has any. Leading axes of length 1 may be
// left out, since elementwise functions repeat operands along them anyway. ValueError for a core dimension
// that is not there, for coordinates that differ, and for a name that looks like a misspelt declared one; ShapeError
// for lengths that are known to differ.
enum class LeadingAxes { Keep, LeaveOut };
Aligned align(std::string_view who, std::span<const XVariable> operands,
              std::span<const std::vector<std::string>> core = {}, LeadingAxes leading = LeadingAxes::Keep);

// The operand's values, with a check of lengths: where the others have a static length of 1, the operand must have it
// as well. Tensors would be repeated; labelled ones of different lengths don't go together.
Variable with_common_lengths(const XVariable& x, const Aligned& common);

// Both are the same dimension of operands of `who`. Errors as above.
Dim merged(std::string_view who, const Dim& a, const Dim& b);

// The names of a function's core dimensions. ValueError unless there are as many as one of `counts` says, and they
// differ.
std::vector<std::string> core_names(std::string_view who, std::vector<std::string> names,
                                    std::initializer_list<int> counts);

// A function of tensors whose leading axes are batches, such as one of matrices, for labelled ones: `core` are the
// names of each operand's core dimensions, and `results` the core dimensions of each result, which has the common ones
// before them. A result has the coordinates of each dimension that is a core dimension of an operand. ValueError for a
// name that is a core dimension of one operand and a batch of another.
using BatchedFunction = std::function<Variables(const Variables&)>;
XVariables blockwise(std::string_view who, std::span<const XVariable> operands,
                     std::span<const std::vector<std::string>> core, const std::vector<DimList>& results,
                     const BatchedFunction& function);

using TensorFunction = std::function<Variable(const Variables&)>;
// An elementwise function of tensors, for labelled ones.
XVariable elementwise(std::string_view who, std::span<const XVariable> operands, const TensorFunction& function);
// One of the scalar functions of the registry, by name.
XVariable elementwise(std::string_view scalar_function, const XOperands& operands);

}  // namespace bitale::xtensor
