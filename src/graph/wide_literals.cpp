#include "graph/wide_literals.hpp"

#include "bitale/core/config.hpp"
#include "graph/literal.hpp"

namespace bitale {

bool literals_are_wide() { return config::float_x() == DType::Float64 && config::get("cast_policy") != "pytensor"; }

Variable with_wide_literal(const Variable& v) {
  if (!is_literal(v) || !is_float(v.dtype()) || !literals_are_wide()) return v;
  return constant(v.constant()->astype(DType::Float64));
}

}  // namespace bitale
