// Positions as constants of a graph.
#pragma once

#include <cstdint>
#include <vector>

#include "bitale/ops/ops.hpp"

namespace bitale::sparse {

inline Variable index_vector(const std::vector<std::int64_t>& positions) { return constant(Array(positions)); }

}  // namespace bitale::sparse
