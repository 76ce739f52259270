// Differences of neighbouring elements, as an expression over slices, which fuses with its consumers.
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/calculus.hpp"
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

Variable diff(const Operand& x, const DiffOptions& options) {
  const LocationScope here(x.where);
  const int along = normal_axis(options.axis, x.ndim(), "diff");
  Variables parts{x.variable};
  const auto joined = [&](const std::optional<Operand>& part, bool is_first) {
    if (!part) return;
    Variable more = part->variable;
    if (more.ndim() == 0) {
      Variables lengths;
      for (int axis = 0; axis < x.ndim(); ++axis)
        lengths.push_back(axis == along ? int64_constant(1) : length_of(x.variable, axis));
      more = alloc(more, lengths);
    }
    parts.insert(is_first ? parts.begin() : parts.end(), more);
  };
  joined(options.prepend, true);
  joined(options.append, false);
  return diff(parts.size() == 1 ? x : Operand(concatenate(parts, along)), options.n, along);
}

}  // namespace bitale
