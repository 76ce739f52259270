#include "ops/complex/pairs.hpp"

#include "bitale/ops/complex.hpp"
#include "bitale/ops/ops.hpp"

namespace bitale {

Variable as_pairs(const Variable& z) { return stack({real(z), imag(z)}, z.ndim()); }

Variable of_pairs(const Variable& pairs) {
  return complex(subtensor(pairs, {Ellipsis{}, 0}), subtensor(pairs, {Ellipsis{}, 1}));
}

}  // namespace bitale
