#include "sparse/real_form.hpp"

#include "bitale/ops/complex.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"

namespace bitale::sparse {

Variable in_real_form(const Variable& data, const RealForm& form) {
  const Variable re = real(data), im = imag(data);
  return subtensor(concatenate({re, im, -im, zeros({1}, re.dtype())}, 0), {IndexItem(form.source)});
}

Variable from_real_form(const Variable& data, const RealForm& form) {
  const Variable values = concatenate({data, zeros({1}, data.dtype())}, 0);
  return complex(subtensor(values, {IndexItem(form.real)}), subtensor(values, {IndexItem(form.imaginary)}));
}

Variable interleaved(const Variable& x) {
  const Variable both = stack({real(x), imag(x)}, 1);
  return x.ndim() == 1 ? flatten(both) : reshape(both, Operands{length_of(x, 0) * 2, length_of(x, 1)});
}

Variable from_interleaved(const Variable& x) {
  const auto part = [&](int first) { return subtensor(x, {IndexItem(Slice{first, {}, 2})}); };
  return complex(part(0), part(1));
}

}  // namespace bitale::sparse
