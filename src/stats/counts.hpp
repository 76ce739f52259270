// Binomial coefficients by their logarithms.
#pragma once

#include "bitale/graph/variable.hpp"

namespace bitale::stats {

// n over k.
Variable log_binomial(const Variable& n, const Variable& k);
// n + k - 1 over k, for any positive n.
Variable log_choices_of_failures(const Variable& n, const Variable& k);

}  // namespace bitale::stats
