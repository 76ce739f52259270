#include "graph/wide_literals.hpp"

#include "bitale/core/config.hpp"
#include "graph/literal.hpp"

namespace bitale {

bool is_literal_computed_widely() {
  return config::float_x() == DType::Float64 && config::get("cast_policy") != "pytensor";
}

Variable only_operand(const Variable& v) {
  if (!is_literal(v) || !is_float(v.dtype()) || !is_literal_computed_widely()) return v;
  return constant(v.constant()->astype(DType::Float64));
}

}  // namespace bitale
