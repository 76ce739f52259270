#include "ops/analysis/range.hpp"

#include <algorithm>
#include <cmath>

#include "bitale/core/array.hpp"
#include "bitale/graph/op.hpp"
#include "ops/analysis/interval.hpp"

namespace bitale {

namespace {

using interval::closed;
using interval::max_exact;

constexpr int max_nodes = 200;
constexpr std::int64_t max_elements = 4096;

Range dtype_range(DType dtype) {
  if (dtype == DType::Bool) return closed(0, 1);
  const double bits = double(8 * itemsize(dtype));
  if (kind(dtype) == DTypeKind::UInt) return closed(0, std::exp2(bits) - 1);
  if (kind(dtype) == DTypeKind::Int) return closed(-std::exp2(bits - 1), std::exp2(bits - 1) - 1);
  return {};
}

// A range that leaves an integer dtype wraps, and large integers are rounded in a double: both give the range of the
// dtype.
Range within_dtype(const Range& r, DType dtype) {
  const Range all = dtype_range(dtype);
  if (!is_discrete(dtype)) return r;
  const bool fits = r.low >= std::max(all.low, -max_exact) && r.high <= std::min(all.high, max_exact);
  return fits ? closed(std::floor(r.low), std::ceil(r.high)) : all;
}

Range constant_range(const Array& value) {
  if (value.size() == 0 || value.size() > max_elements || kind(value.dtype()) == DTypeKind::Complex) return {};
  const Array flat = value.astype(DType::Float64).contiguous();
  const double* data = flat.data_as<double>();
  if (std::any_of(data, data + flat.size(), [](double v) { return std::isnan(v); })) return {};
  const auto [low, high] = std::minmax_element(data, data + flat.size());
  return closed(*low, *high);
}

bool is_tensor(const Variable& v) { return as_tensor(v.type()) != nullptr; }

class Search {
 public:
  Range of(const Variable& v, int depth) {
    if (v.is_constant()) return is_tensor(v) ? constant_range(*v.constant()) : Range{};
    if (!is_tensor(v)) return {};
    if (!v.has_owner() || depth == 0 || --left_ < 0) return dtype_range(v.dtype());
    const Apply node = v.owner();
    Inputs inputs(*this, node, depth - 1);
    return within_dtype(v.owner_op()->range(node, int(v.index()), inputs), v.dtype());
  }

 private:
  class Inputs final : public InputRanges {
   public:
    Inputs(Search& search, const Apply& node, int depth) : search_(search), node_(node), depth_(depth) {}
    Range of(int input) override { return search_.of(node_.input(input), depth_); }

   private:
    Search& search_;
    const Apply& node_;
    int depth_;
  };

  int left_ = max_nodes;
};

}  // namespace

Range range_of(const Variable& variable) { return Search().of(variable, levels_of_ranges); }

}  // namespace bitale
