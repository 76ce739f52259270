// Counts of elements between limits. Names and arguments are NumPy's.
#pragma once

#include <optional>
#include <utility>

#include "bitale/ops/operand.hpp"

namespace bitale {

struct Histogram {
  Variable counts, edges;  // one count for each pair of neighbouring edges
};
struct HistogramOptions {
  std::optional<std::pair<Operand, Operand>> range = {};  // the outermost edges; by default the extremes of x
  bool density = false;                                   // counts divided by their sum and by the lengths of the bins
  std::optional<Operand> weights = {};                    // what each element counts, in the shape of x
};
// How many elements of x lie in each bin, which includes its lower edge; the last includes the upper one as well.
// Elements outside and nan do not count. bins: a constant number of equal bins, or a vector of increasing edges.
// ValueError for other bins, and when edges don't increase.
Histogram histogram(const Operand& x, const Operand& bins = 10, const HistogramOptions& options = {});

}  // namespace bitale
