#include "stats/arguments.hpp"

#include <vector>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "graph/literal.hpp"

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

}  // namespace bitale::stats
