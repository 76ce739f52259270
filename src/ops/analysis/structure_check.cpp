// Whether the elements of a matrix contradict facts that are assumed of it. The interpreter checks stated facts with
// this, and tests check the facts that ops infer. Rounding is allowed for, and a matrix with nan or infinities
// contradicts nothing.
#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "bitale/core/array.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/assume.hpp"

namespace bitale {

namespace {

// Relative to the largest element. Finite differences change single elements of a symmetric matrix by less.
constexpr double tolerance_of_float64 = 1e-4, tolerance_of_float32 = 1e-3;

// One matrix of a batch, C-contiguous.
struct MatrixView {
  const double* data;
  std::int64_t rows, columns;
  double tolerance;  // for elements that differ by rounding

  double operator()(std::int64_t i, std::int64_t j) const { return data[i * columns + j]; }
  std::int64_t diagonal() const { return std::min(rows, columns); }

  // Whether `holds(i, j)` everywhere.
  template <class Predicate>
  bool all(Predicate holds) const {
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        if (!holds(i, j)) return false;
    return true;
  }
  bool is_zero(std::int64_t i, std::int64_t j) const { return std::abs((*this)(i, j)) <= tolerance; }
};

bool is_symmetric(const MatrixView& a) {
  return a.rows == a.columns &&
         a.all([&](auto i, auto j) { return j >= i || std::abs(a(i, j) - a(j, i)) <= a.tolerance; });
}

// Whether a Cholesky factor exists, after the diagonal is increased a little.
bool is_semidefinite(const MatrixView& a) {
  const std::int64_t n = a.rows;
  std::vector<double> factor(std::size_t(n * n), 0.0);
  const auto at = [&](std::int64_t i, std::int64_t j) -> double& { return factor[std::size_t(i * n + j)]; };
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = j; i < n; ++i) {
      double rest = a(i, j) + (i == j ? a.tolerance * double(n) : 0.0);
      for (std::int64_t k = 0; k < j; ++k) rest -= at(i, k) * at(j, k);
      if (i > j)
        at(i, j) = at(j, j) == 0 ? 0 : rest / at(j, j);
      else if (rest < 0)
        return false;
      else
        at(j, j) = std::sqrt(rest);
    }
  return true;
}

bool is_orthogonal(const MatrixView& a) {
  if (a.rows != a.columns) return false;
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = 0; k <= i; ++k) {
      double product = 0;
      for (std::int64_t j = 0; j < a.columns; ++j) product += a(i, j) * a(k, j);
      if (std::abs(product - (i == k)) > a.tolerance * double(a.rows)) return false;
    }
  return true;
}

bool is_selection(const MatrixView& a) {
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const double* row = a.data + i * a.columns;
    if (std::count(row, row + a.columns, 1.0) != 1 || std::count(row, row + a.columns, 0.0) != a.columns - 1)
      return false;
  }
  return true;
}

bool is_permutation(const MatrixView& a) { return a.rows == a.columns && is_selection(a) && is_orthogonal(a); }

bool contradicts(const MatrixView& a, Fact fact) {
  switch (fact) {
    case Fact::Diagonal:
      return a.rows != a.columns || !a.all([&](auto i, auto j) { return i == j || a.is_zero(i, j); });
    case Fact::LowerTriangular: return !a.all([&](auto i, auto j) { return j <= i || a.is_zero(i, j); });
    case Fact::UpperTriangular: return !a.all([&](auto i, auto j) { return j >= i || a.is_zero(i, j); });
    case Fact::Symmetric: return !is_symmetric(a);
    case Fact::PositiveDefinite:
    case Fact::PositiveSemidefinite: return !is_symmetric(a) || !is_semidefinite(a);
    case Fact::Orthogonal: return !is_orthogonal(a);
    case Fact::Selection: return !is_selection(a);
    case Fact::Permutation: return !is_permutation(a);
    case Fact::UniqueIndices: return false;  // not a fact about matrices
    case Fact::PositiveDiagonal: return !a.all([&](auto i, auto j) { return i != j || a(i, i) >= -a.tolerance; });
    case Fact::UnitDiagonal:
      return !a.all([&](auto i, auto j) { return i != j || std::abs(a(i, i) - 1) <= a.tolerance; });
    case Fact::Square: return a.rows != a.columns;
    case Fact::Tridiagonal: return !a.all([&](auto i, auto j) { return std::abs(i - j) <= 1 || a.is_zero(i, j); });
    case Fact::UnitMagnitude: return false;  // not a fact about matrices
    case Fact::SkewSymmetric:
      return a.rows != a.columns || !a.all([&](auto i, auto j) { return std::abs(a(i, j) + a(j, i)) <= a.tolerance; });
  }
  return false;
}

bool has_duplicates(const Array& indices) {
  const Array flat = indices.astype(DType::Float64).contiguous();
  std::vector<double> sorted(flat.data_as<double>(), flat.data_as<double>() + flat.size());
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

bool has_other_magnitudes(const Array& value) {
  const Array flat = value.astype(DType::Complex128).contiguous();
  const auto* const from = flat.data_as<std::complex<double>>();
  const bool is_narrow = component_dtype(value.dtype()) == DType::Float32;
  const double tolerance = is_narrow ? tolerance_of_float32 : tolerance_of_float64;
  return std::any_of(from, from + flat.size(), [&](auto z) { return std::abs(std::abs(z) - 1) > tolerance; });
}

std::optional<Fact> contradicted(const Array& value, const Structure& facts) {
  const std::int64_t rows = value.shape(value.ndim() - 2), columns = value.shape(value.ndim() - 1);
  const Array flat = value.astype(DType::Float64).contiguous();
  const double relative = value.dtype() == DType::Float32 ? tolerance_of_float32 : tolerance_of_float64;
  for (std::int64_t from = 0; from < flat.size(); from += rows * columns) {
    const double* data = flat.data_as<double>() + from;
    double scale = 0;
    bool is_finite = true;
    for (std::int64_t k = 0; k < rows * columns; ++k) {
      is_finite &= std::isfinite(data[k]);
      scale = std::max(scale, std::abs(data[k]));
    }
    if (!is_finite) continue;
    const MatrixView matrix{data, rows, columns, relative * scale};
    for (int k = 0; k < fact_count; ++k)
      if (facts.is(Fact(k)) && contradicts(matrix, Fact(k))) return Fact(k);
  }
  return {};
}

// The absolute values of complex matrices; and the real matrices in which a + ib is the block [[a, -b], [b, a]].
struct RealForms {
  Array sizes, blocks;
};
RealForms real_forms(const Array& value) {
  using Number = std::complex<double>;
  const Array flat = value.astype(DType::Complex128).contiguous();
  const DType dtype = component_dtype(value.dtype());
  Dims twice = value.shape();
  const std::int64_t columns = twice.back();
  twice[twice.size() - 2] *= 2, twice.back() *= 2;
  Array sizes = Array::zeros(DType::Float64, value.shape()), blocks = Array::zeros(DType::Float64, twice);
  for (std::int64_t k = 0; k < flat.size(); ++k) {
    const Number z = flat.data_as<Number>()[k];
    sizes.mutable_data_as<double>()[k] = z == 1.0 ? 1.0 : std::abs(z);
    double* const at = blocks.mutable_data_as<double>() + 4 * (k / columns) * columns + 2 * (k % columns);
    at[0] = at[2 * columns + 1] = z.real();
    at[1] = -z.imag(), at[2 * columns] = z.imag();
  }
  return {sizes.astype(dtype), blocks.astype(dtype)};
}

}  // namespace

std::optional<Fact> contradicted_fact(const Array& value, const Structure& facts) {
  if (facts.is(Fact::UniqueIndices) && has_duplicates(value)) return Fact::UniqueIndices;
  if (facts.is(Fact::UnitMagnitude) && has_other_magnitudes(value)) return Fact::UnitMagnitude;
  if (value.ndim() < 2 || value.size() == 0) return {};
  if (!is_complex(value.dtype())) return contradicted(value, facts);
  Structure of_zeros, others;
  for (int k = 0; k < fact_count; ++k) {
    const Fact fact = Fact(k);
    const bool is_of_zeros = fact == Fact::Diagonal || fact == Fact::LowerTriangular || fact == Fact::UpperTriangular ||
                             fact == Fact::Selection || fact == Fact::Permutation || fact == Fact::Tridiagonal;
    // A diagonal matrix is symmetric, which need not be Hermitian.
    if (fact == Fact::Symmetric && facts.is(Fact::Diagonal)) continue;
    if (facts.is(fact)) (is_of_zeros ? of_zeros : others).add(fact);
  }
  const RealForms forms = real_forms(value);
  const auto stated = [&](std::optional<Fact> found) { return found && facts.is(*found) ? found : std::nullopt; };
  if (const auto found = stated(contradicted(forms.sizes, of_zeros))) return found;
  return stated(contradicted(forms.blocks, others));
}

}  // namespace bitale
