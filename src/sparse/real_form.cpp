#include "sparse/real_form.hpp"

#include <algorithm>

#include "bitale/ops/complex.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"

namespace bitale::sparse {

namespace {

Variable taken(const Variable& x, const std::vector<std::int64_t>& which) {
  return subtensor(x, {IndexItem(constant(Array(which)))});
}

// The matrix of elements whose values are one after the other in these vectors; equal positions are added.
Matrix with_values(const Compressed& at, const Variables& values) {
  const Variable all = concatenate(values, 0), start = zeros({at.pattern.count()}, all.dtype());
  return Matrix(at.pattern, inc_subtensor(start, {IndexItem(constant(Array(at.stored)))}, all));
}

}  // namespace

RealForm real_form(const Matrix& a) {
  const Elements own = elements_of(a.pattern(), "the real form of a complex matrix");
  const auto [height, width] = own.lengths;
  Elements form(2 * height, 2 * width);
  const auto add = [&](std::int64_t down, std::int64_t right) {
    for (std::size_t k = 0; k < own.rows.size(); ++k) form.add(own.rows[k] + down, own.columns[k] + right);
  };
  add(0, 0), add(height, width), add(height, 0), add(0, width);
  const Variable re = real(a.data()), im = imag(a.data());
  const Compressed at = compress(form, a.format());
  const auto part = [&](std::size_t number) {
    const auto begin = at.stored.begin() + std::ptrdiff_t(number * own.rows.size());
    return std::vector<std::int64_t>(begin, begin + std::ptrdiff_t(own.rows.size()));
  };
  return {with_values(at, {re, re, im, -im}), part(0), part(2)};
}

HermitianForm hermitian_form(const Matrix& a) {
  const Elements own = elements_of(a.pattern(), "the real form of a complex matrix");
  const std::int64_t n = own.lengths[0];
  const std::size_t count = own.rows.size();
  Elements form(2 * n, 2 * n);
  std::vector<std::int64_t> below;  // the elements that are not on the diagonal
  std::vector<bool> is_read(count);
  const auto lower = [&](std::size_t k) { return std::minmax(own.rows[k], own.columns[k]); };
  for (const std::int64_t shift : {std::int64_t(0), n})
    for (std::size_t k = 0; k < count; ++k) form.add(lower(k).second + shift, lower(k).first + shift);
  for (std::size_t k = 0; k < count; ++k) {
    is_read[k] = own.rows[k] >= own.columns[k];
    if (own.rows[k] != own.columns[k]) below.push_back(std::int64_t(k));
  }
  for (const std::int64_t k : below) form.add(lower(std::size_t(k)).second + n, lower(std::size_t(k)).first);
  for (const std::int64_t k : below) form.add(lower(std::size_t(k)).first + n, lower(std::size_t(k)).second);
  const Compressed at = compress(form, Format::csc);

  std::vector<std::int64_t> real_at(at.stored.begin(), at.stored.begin() + std::ptrdiff_t(count));
  std::vector<std::int64_t> imaginary_at(count, -1);
  for (std::size_t e = 0; e < below.size(); ++e) {
    const auto k = std::size_t(below[e]);
    imaginary_at[k] = at.stored[2 * count + e + (is_read[k] ? 0 : below.size())];
  }
  // Only the lower triangle is read; other elements are in the pattern.
  std::vector<std::int64_t> numbers;
  for (const bool each : is_read) numbers.push_back(each);
  const Variable mask = constant(Array(numbers).astype(DType::Bool));
  const Variable re = switch_(mask, real(a.data()), zeros_like(real(a.data())));
  const Variable im = taken(switch_(mask, imag(a.data()), zeros_like(imag(a.data()))), below);
  return {with_values(at, {re, re, im, -im}), std::move(real_at), std::move(imaginary_at)};
}

Variable elements_of_form(const HermitianForm& form, const Variable& data) {
  std::vector<std::int64_t> at = form.imaginary, is_there;
  for (std::int64_t& each : at) {
    is_there.push_back(each >= 0);
    each = std::max(each, std::int64_t(0));
  }
  const Variable im = taken(data, at);
  return complex(taken(data, form.real), switch_(constant(Array(is_there).astype(DType::Bool)), im, zeros_like(im)));
}

Variable real_form(const Variable& x) { return concatenate({real(x), imag(x)}, 0); }

Variable from_real_form(const Variable& x) {
  const Variable half = lengths::floor_div(length_of(x, 0), int64_constant(2));
  return complex(subtensor(x, {IndexItem(Slice{{}, half, {}})}), subtensor(x, {IndexItem(Slice{half, {}, {}})}));
}

}  // namespace bitale::sparse
