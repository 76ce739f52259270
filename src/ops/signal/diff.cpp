// Differences of neighbouring elements, as an expression over slices, which fuses with its consumers.
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/cumulative.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"

namespace bitale {

Variable diff(const Operand& x, int n, int axis) {
  const LocationScope here(x.where);
  if (n < 0) throw ValueError(cat("diff: expected an order n of at least 0, got ", n));
  const int along = normal_axis(axis, x.ndim(), "diff");
  Variable out = x.variable;
  for (int order = 0; order < n; ++order) {
    std::vector<IndexItem> later(std::size_t(along), IndexItem(Slice{})), earlier = later;
    later.push_back(Slice{1, {}, {}});
    earlier.push_back(Slice{{}, -1, {}});
    const Variable b = subtensor(out, later), a = subtensor(out, earlier);
    out = out.dtype() == DType::Bool ? neq(b, a) : sub(b, a);
  }
  return out;
}

}  // namespace bitale
