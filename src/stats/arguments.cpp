#include "stats/arguments.hpp"

#include <algorithm>
#include <vector>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "graph/literal.hpp"
#include "ops/analysis/lengths.hpp"

namespace bitale::stats {

DType common_dtype(std::span<const Variable> values) {
  std::vector<DType> dtypes;
  for (const Variable& each : values) {
    if (is_complex(each.dtype()))
      throw TypeError(cat("expected real numbers, got ", each.str(), " of type ", each.type()->str()));
    if (is_literal(each)) continue;
    dtypes.push_back(is_discrete(each.dtype()) ? config::float_x() : each.dtype());
  }
  return dtypes.empty() ? config::float_x() : promote(dtypes);
}

Variable is_no_count(const Variable& x, double low) {
  return or_(or_(lt(x, low), gt(x - floor(x), 0)), eq(x, infinity));
}

Variable misses_unit_sum(const Operand& given, const Variable& shares) {
  const auto epsilon_of = [](DType dtype) {
    return visit_dtype(dtype, []<class T>() { return double(std::numeric_limits<T>::epsilon()); });
  };
  const double epsilon = std::max(epsilon_of(given.dtype()), epsilon_of(shares.dtype()));
  const Variable terms = cast(length_of(shares, shares.ndim() - 1), shares.dtype());
  return gt(abs(sum(shares, Axes{-1}) - 1), maximum(epsilon * (terms + 8), 1e-8));
}

Variable log1p_of_square(const Variable& size) {
  const Variable is_far = gt(size, 0x1p56);
  const Variable value = log1p(switch_(is_far, size, sqr(size)));
  return switch_(is_far, 2 * value, value);
}

}  // namespace bitale::stats
