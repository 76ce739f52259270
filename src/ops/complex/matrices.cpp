#include "ops/complex/matrices.hpp"

#include "bitale/core/text.hpp"
#include "bitale/ops/debugging.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/linalg/linalg_core.hpp"

namespace bitale {

namespace {

ComplexParts both_parts(const Variable& z) { return {real(z), imag(z)}; }

// x reshaped so that these lengths replace the dimensions from `axis` on.
Variable with_last_lengths(const Variable& x, int axis, const Variables& last) {
  Variables shape;
  for (int each = 0; each < axis; ++each) shape.push_back(length_of(x, each));
  shape.insert(shape.end(), last.begin(), last.end());
  return reshape(x, Operands(shape));
}

Variable twice(const Variable& length) { return lengths::mul(length, int64_constant(2)); }

// Every second element, starting with the first or the second one.
Slice each_second(int from) { return {.start = Operand(from), .stop = {}, .step = Operand(2)}; }

}  // namespace

std::pair<Variable, Variable> in_common_dtype(const Variable& a, const Variable& b) {
  const DType dtype = promote(a.dtype(), b.dtype());
  return {cast(a, dtype), cast(b, dtype)};
}

Variable required_square(const char* who, const Variable& x) {
  require_square(who, x);
  return required_equal(x, length_of(x, x.ndim() - 2), length_of(x, x.ndim() - 1),
                        cat(who, ": expected square matrices"));
}

Variable required_equal(const Variable& x, const Variable& a, const Variable& b, const std::string& message) {
  if (is_same_length(a, b)) return x;
  const auto known_a = known_integer(a), known_b = known_integer(b);
  if (known_a && known_b) throw ShapeError(cat(message, ", got lengths ", *known_a, " and ", *known_b));
  return check_and_raise(x, {eq(a, b)}, "ShapeError", message);
}

std::pair<Variable, Variable> required_square_pair(const char* who, const Variable& a, const Variable& b) {
  const Variable first = required_square(who, a), second = required_square(who, b);
  return {first, required_equal(second, length_of(a, a.ndim() - 1), length_of(b, b.ndim() - 1),
                                cat(who, ": expected two square matrices of one size"))};
}

Variable as_blocks(const ComplexParts& parts) {
  const Variable &re = parts.real, &im = parts.imag;
  const int ndim = re.ndim();
  const Variable above = stack({re, neg(im)}, ndim), below = stack({im, re}, ndim);
  return with_last_lengths(stack({above, below}, ndim - 1), ndim - 2,
                           {twice(length_of(re, ndim - 2)), twice(length_of(re, ndim - 1))});
}

Variable as_blocks(const Variable& z) { return as_blocks(both_parts(z)); }

Variable blocks_of_pairs(const Variable& pairs) {
  return as_blocks({subtensor(pairs, {Ellipsis{}, 0}), subtensor(pairs, {Ellipsis{}, 1})});
}

Variable pairs_of_blocks(const Variable& blocks) {
  const auto part = [&](int from) { return subtensor(blocks, {Ellipsis{}, each_second(from), each_second(0)}); };
  return stack({part(0), part(1)}, blocks.ndim());
}

Variable as_columns(const Variable& z, int b_ndim) { return columns_of_parts(both_parts(z), b_ndim); }

Variable columns_of_parts(const ComplexParts& parts, int b_ndim) {
  const auto& [re, im] = parts;
  const int axis = re.ndim() - b_ndim;
  Variables last{twice(length_of(re, axis))};
  if (b_ndim == 2) last.push_back(length_of(re, axis + 1));
  return with_last_lengths(stack({re, im}, axis + 1), axis, last);
}

Variable of_columns(const Variable& columns, int b_ndim) {
  const auto part = [&](int from) {
    return b_ndim == 1 ? subtensor(columns, {Ellipsis{}, each_second(from)})
                       : subtensor(columns, {Ellipsis{}, each_second(from), Slice{}});
  };
  return complex(part(0), part(1));
}

Variable adjoint(const Variable& z) { return conj(matrix_transpose(z)); }

Variable hermitian(const Variable& x, bool lower) {
  if (!is_complex(x)) return mirrored(x, lower);
  const Variable strict = lower ? tril(x, -1) : triu(x, 1);
  return add(add(strict, adjoint(strict)), tril(triu(real(x))));
}

}  // namespace bitale
