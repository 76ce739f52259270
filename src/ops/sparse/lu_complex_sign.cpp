// SparseLuComplexSign: the sign of a complex sparse matrix's determinant, which its real form doesn't have: that one's
// determinant is the square of the absolute value. So the matrix itself is eliminated, a column at a time. The
// derivative is by the real form, whose inverse has the elements of A's.
#include <cmath>
#include <complex>

#include "bitale/core/error.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/linalg/linalg_core.hpp"
#include "ops/sample_values.hpp"
#include "ops/sparse/factor.hpp"
#include "ops/sparse/lu.hpp"

namespace bitale {

namespace {

constexpr auto own_inputs = std::size_t(sparse_lu_inputs::count);  // the first of SparseComplexColumns

// Inputs: those of other ops on factors, of the real form, and SparseComplexColumns.
class SparseLuComplexSign final : public sparse_factor::FactorOp {
 public:
  std::string_view name() const override { return "SparseLuComplexSign"; }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    const Array parts[] = {in[own_inputs].astype(DType::Int64).contiguous(),
                           in[own_inputs + 1].astype(DType::Int64).contiguous()};
    with_float(in[0].dtype(), [&]<class T>(T) {
      const Array values = in[0].contiguous();
      Array own = Array::zeros(complex_dtype_of<T>(), {parts[0].size()});
      if (parts[1].size() != parts[0].size())
        throw ShapeError("lu: slogdet: the real and imaginary parts have different lengths");
      const auto at = [&](int part, std::int64_t k) {
        const std::int64_t index = parts[part].data_as<std::int64_t>()[k];
        if (index < 0 || index >= values.size()) throw IndexError("lu: slogdet: an element is not in the real form");
        return values.data_as<T>()[index];
      };
      for (std::int64_t k = 0; k < own.size(); ++k) own.mutable_data_as<std::complex<T>>()[k] = {at(0, k), at(1, k)};
      const Array columns[] = {own, in[own_inputs + 2], in[own_inputs + 3], in[own_inputs + 4]};
      const sparse_lu_inputs::Matrix a(columns);
      runtime::LuFactors<std::complex<T>> factors;
      const std::int64_t size = a.columns().size;
      if (const std::int64_t failed =
              runtime::sparse_lu(a.columns(), a.values.data_as<std::complex<T>>(), a.column_order(), factors))
        throw LinAlgError(cat("lu: the sparse matrix is singular: elimination finds no pivot other than 0 in column ",
                              a.column_order()[failed - 1]));
      std::complex<double> sign =
          sparse_lu_inputs::is_odd(factors.row_order.data(), size) != sparse_lu_inputs::is_odd(a.column_order(), size)
              ? -1
              : 1;
      for (std::int64_t k = 0; k < size; ++k) {
        const std::complex<double> pivot(factors.values[std::size_t(factors.bounds[std::size_t(2 * k + 1)])]);
        sign *= pivot / std::abs(pivot);
        sign /= std::abs(sign);
      }
      out[0] = Array(sign.real()).astype(in[0].dtype());
      out[1] = Array(sign.imag()).astype(in[0].dtype());
    });
  }
  // d sign = i sign Im tr(Z dA), with the inverse Z. Where the real form has an element of Re A or Im A, its inverse
  // has Re Z or -Im Z.
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    Variables out = no_gradients(node);
    if (cotangents[0].is_disconnected() && cotangents[1].is_disconnected()) return out;
    const Variable of_angle = cotangent_or_zeros(node, cotangents, 1) * node.output(0) -
                              cotangent_or_zeros(node, cotangents, 0) * node.output(1);
    const Variable inverse =
        sparse_lu_selected_inverse(sparse_lu_inputs::matrix(node), sparse_lu_inputs::factors(node));
    const IndexItem re(node.input(int(own_inputs))), im(node.input(int(own_inputs) + 1));
    const Variable by_real = -of_angle * subtensor(inverse, {im}), by_imaginary = of_angle * subtensor(inverse, {re});
    out[0] = set_subtensor(set_subtensor(zeros_like(inverse), {re}, by_real), {im}, by_imaginary);
    return out;
  }

 private:
  Form form() const override {
    return {"lu: slogdet", "(p),(b),(p),(n),(f),(g),(f),(n),(e),(e),(c),(e),(m)->(),()", {0, 4}, {0}};
  }
  template <class T>
  static constexpr DType complex_dtype_of() {
    return sizeof(T) == sizeof(float) ? DType::Complex64 : DType::Complex128;
  }
};

// ---- samples --------------------------------------------------------------------------------------------------------

// Of [[1 + 2i, 3], [-i, 2 - i]].
std::vector<Sample> sparse_lu_complex_sign_samples() {
  const std::vector<double> elements = {1, 0, 2, -1, 3, 2, 0, -1, -2, 1, 1, 0, 0, 1, 3, 2};
  const std::vector<std::int64_t> bounds = {0, 4, 8, 12, 16}, order = {0, 1, 2, 3};
  const std::vector<std::int64_t> rows = {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3};
  runtime::LuFactors<double> factors;
  runtime::sparse_lu({4, bounds.data(), rows.data()}, elements.data(), order.data(), factors);
  const auto integers = [](std::initializer_list<int> list) {
    return Array(std::vector<std::int64_t>(list.begin(), list.end()));
  };
  std::vector<Array> values = {Array(elements), Array(bounds), Array(rows), Array(order)};
  for (Array each :
       {Array(factors.values), Array(factors.bounds), Array(factors.rows), Array(factors.row_order),
        integers({0, 1, 4, 5}), integers({2, 3, 6, 7}), integers({0, 2, 4}), integers({0, 1, 0, 1}), integers({1, 0})})
    values.push_back(std::move(each));
  Variables inputs;
  for (const Array& value : values)
    inputs.push_back(sample_input(value.dtype(), Dims(std::size_t(value.ndim()), unknown_length)));
  return {{.node = make_ref<SparseLuComplexSign>()->make_node(inputs), .values = std::move(values), .smooth = false}};
}
BITALE_REGISTER_OP(SparseLuComplexSign, "The sign of the determinant of a complex sparse matrix.",
                   sparse_lu_complex_sign_samples);

}  // namespace

Variables sparse_lu_complex_sign(const SparseLuMatrix& a, const SparseLuFactors& factors,
                                 const SparseComplexColumns& columns) {
  Variables inputs = sparse_lu_inputs::of(a, factors);
  for (const Variable& each : {columns.real, columns.imaginary, columns.bounds, columns.rows, columns.order})
    inputs.push_back(each);
  const Apply node = make_ref<SparseLuComplexSign>()->make_node(inputs);
  return {node.output(0), node.output(1)};
}

}  // namespace bitale
