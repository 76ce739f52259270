// Reductions of NumPy beyond those of ops.hpp: those that leave nan out, counts, and cumulative sums with a start.
// Names and arguments are NumPy's, and those of the array-API standard. Tensors without nan (integers, bool) are
// reduced as by the function without the prefix.
#pragma once

#include <optional>

#include "bitale/ops/ops.hpp"

namespace bitale {

Variable nansum(const Operand& x, const Axes& axis = all_axes, KeepDims keepdims = KeepDims::No,
                std::optional<DType> dtype = {});
Variable nanprod(const Operand& x, const Axes& axis = all_axes, KeepDims keepdims = KeepDims::No,
                 std::optional<DType> dtype = {});
// nan where all elements are nan.
Variable nanmax(const Operand& x, const Axes& axis = all_axes, KeepDims keepdims = KeepDims::No);
Variable nanmin(const Operand& x, const Axes& axis = all_axes, KeepDims keepdims = KeepDims::No);
Variable nanmean(const Operand& x, const Axes& axis = all_axes, KeepDims keepdims = KeepDims::No,
                 std::optional<DType> dtype = {});
// nan where no more elements than `ddof` remain.
Variable nanvar(const Operand& x, const Axes& axis = all_axes, int ddof = 0, KeepDims keepdims = KeepDims::No);
Variable nanstd(const Operand& x, const Axes& axis = all_axes, int ddof = 0, KeepDims keepdims = KeepDims::No);
// ValueError when a call finds that all elements are nan. nullopt: of the flattened x.
Variable nanargmax(const Operand& x, std::optional<int> axis = {}, KeepDims keepdims = KeepDims::No);
Variable nanargmin(const Operand& x, std::optional<int> axis = {}, KeepDims keepdims = KeepDims::No);
Variable nancumsum(const Operand& x, std::optional<int> axis = {});
Variable nancumprod(const Operand& x, std::optional<int> axis = {});

// How many elements are not 0: int64.
Variable count_nonzero(const Operand& x, const Axes& axis = all_axes, KeepDims keepdims = KeepDims::No);
// cumsum and cumprod along an axis, which may be left out for vectors only; include_initial: begin with 0 (1), so that
// there is one element more. ValueError for other tensors without an axis.
struct CumulativeOptions {
  std::optional<int> axis = {};
  std::optional<DType> dtype = {};
  bool include_initial = false;
};
Variable cumulative_sum(const Operand& x, const CumulativeOptions& options = {});
Variable cumulative_prod(const Operand& x, const CumulativeOptions& options = {});

}  // namespace bitale
