// Sparse matrices of derivatives: one pullback with a batch of sums of rows, and one pushforward with a batch of sums
// of columns, as colors say; elements are picked from the products.
#include "bitale/autodiff/sparse.hpp"

#include <algorithm>
#include <array>

#include "autodiff/agreement.hpp"
#include "autodiff/coloring.hpp"
#include "autodiff/dependencies.hpp"
#include "autodiff/sweep.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/debugging.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/vectorize.hpp"
#include "bitale/sparse/functions.hpp"
#include "ops/analysis/lengths.hpp"

namespace bitale {

namespace {

using sparse::Elements;
using sparse::Pattern;

constexpr std::int64_t max_elements = std::int64_t(1) << 27;  // of a pattern that is found

void require_vector(const char* who, const char* what, const Variable& v) {
  if (!v.defined() || !as_tensor(v.type()) || v.ndim() != 1 || is_discrete(v.dtype()))
    throw TypeError(cat(who, ": with a sparsity, ", what, " must be a vector of a float dtype, got ",
                        v.defined() ? cat("`", v.str(), "` of type ", v.type()->str()) : std::string("none")));
}

// The condition that v has the length given by the sparsity; a ShapeError if it is known not to.
Variable has_length(const char* who, const char* side, const Variable& v, std::int64_t length,
                    const Elements& elements) {
  const std::int64_t known = v.static_shape()[0];
  if (known != unknown_length && known != length)
    throw ShapeError(cat(who, ": the sparsity has shape (", elements.lengths[0], ", ", elements.lengths[1], "), but `",
                         v.str(), "`, to which its ", side, " belong, has length ", known));
  return eq(shape_i(v, 0), Operand(length));
}

Pattern pattern_from(const char* who, const Array& sparsity) {
  if (sparsity.ndim() != 2 || sparsity.dtype() != DType::Bool)
    throw TypeError(cat(who, ": expected a matrix of bool as sparsity, got ", dtype_name(sparsity.dtype()), " with ",
                        sparsity.ndim(), " dimensions"));
  Elements elements(sparsity.shape(0), sparsity.shape(1));
  for (std::int64_t i = 0; i < sparsity.shape(0); ++i)
    for (std::int64_t j = 0; j < sparsity.shape(1); ++j)
      if (sparsity.at(std::array{i, j}) != 0) elements.add(i, j);
  return compress(elements, sparse::Format::csr).pattern;
}

// The product with each group's sum of unit vectors, as rows one after the other, and where its elements are.
class Products {
 public:
  // `product` is linear in `variable`, and has this length.
  Products(const Variable& product, const Variable& variable, const Coloring& coloring, std::int64_t length)
      : coloring_(coloring), length_(length) {
    const std::int64_t count = coloring.count, size = std::int64_t(coloring.group.size());
    Array seeds = Array::zeros(DType::Bool, Dims{count, size});
    for (std::int64_t i = 0; i < size; ++i)
      if (const std::int64_t group = coloring.group[std::size_t(i)]; group >= 0)
        seeds.mutable_data_as<bool>()[group * size + i] = true;
    if (count == 1) {
      const Variable all = cast(constant(seeds.reshape({size})), variable.dtype());
      flat_ = clone_replace(Variables{product}, Replacements{{variable, all}})[0];
      return;
    }
    Variable rows = vectorize_graph({product}, {{variable, cast(constant(seeds), variable.dtype())}})[0];
    if (rows.ndim() == 1) rows = broadcast_to(rows, {count, length});  // independent of the seeds
    flat_ = flatten(rows);
  }
  const Variable& flat() const { return flat_; }
  std::int64_t size() const { return coloring_.count * length_; }
  std::int64_t position(std::int64_t seed, std::int64_t other) const {
    return coloring_.group[std::size_t(seed)] * length_ + other;
  }

 private:
  const Coloring& coloring_;
  std::int64_t length_;
  Variable flat_;
};

bool counts_up(const std::vector<std::int64_t>& positions) {
  for (std::size_t k = 0; k < positions.size(); ++k)
    if (positions[k] != std::int64_t(k)) return false;
  return true;
}

sparse::Matrix matrix_of(const char* who, const Variable& expression, const Variable& wrt, const Pattern& pattern,
                         const GradOptions& options) {
  require_vector(who, "the expression", expression);
  require_vector(who, "wrt", wrt);
  const Elements elements = elements_of(pattern, who);
  const auto [row_count, column_count] = elements.lengths;
  SparsityPattern by_row{row_count, column_count, {}};
  by_row.columns_of_row.resize(std::size_t(row_count));
  for (std::size_t k = 0; k < elements.rows.size(); ++k)
    by_row.columns_of_row[std::size_t(elements.rows[k])].push_back(elements.columns[k]);
  // Where forward mode is another derivative, all of the matrix is that of reverse mode, as a dense one is.
  const bool any_products = derivatives_agree(expression, {wrt}, options.consider_constant);
  const MatrixColoring coloring = any_products ? color(by_row) : color_rows(by_row);
  const Variable right_rows = has_length(who, "rows", expression, row_count, elements);
  const Variable right_columns = has_length(who, "columns", wrt, column_count, elements);

  GradOptions zero = options;
  zero.return_disconnected = ReturnDisconnected::Zero;
  std::optional<Products> columns, rows;
  Variables flat;
  if (coloring.columns.count) {
    const Variable tangent(wrt.type(), "tangent");
    columns.emplace(pushforward({expression}, {wrt}, {tangent}, zero)[0], tangent, coloring.columns, row_count);
    flat.push_back(columns->flat());
  }
  if (coloring.rows.count) {
    const Variable cotangent(expression.type(), "cotangent");
    rows.emplace(pullback({expression}, {wrt}, {cotangent}, zero)[0], cotangent, coloring.rows, column_count);
    flat.push_back(rows->flat());
  }
  std::vector<std::int64_t> positions;
  for (std::size_t k = 0; k < elements.rows.size(); ++k) {
    const std::int64_t i = elements.rows[k], j = elements.columns[k];
    positions.push_back(coloring.from_the_left[std::size_t(i)] ? (columns ? columns->size() : 0) + rows->position(i, j)
                                                               : columns->position(j, i));
  }
  // Without products nothing has looked yet whether the expression depends on wrt.
  if (flat.empty()) pullback({expression}, {wrt}, {zeros_like(expression)}, zero);
  Variable data = zeros({std::int64_t(positions.size())}, expression.dtype());
  if (!flat.empty()) {
    const Variable all = flat.size() == 1 ? flat[0] : concatenate({flat[0], flat[1]}, 0);
    const bool is_all = (columns ? columns->size() : 0) + (rows ? rows->size() : 0) == std::int64_t(positions.size());
    data = is_all && counts_up(positions) ? all : subtensor(all, {IndexItem(constant(Array(positions)))});
    data = cast(data, expression.dtype());
  }
  return sparse::Matrix(
      pattern, check_and_raise(specify_shape(data, {Operand(std::int64_t(positions.size()))}),
                               {right_rows, right_columns}, "ShapeError",
                               cat(who, ": the sparsity has shape (", row_count, ", ", column_count,
                                   "), which the lengths of `", expression.str(), "` and `", wrt.str(), "` are not")));
}

Pattern found_pattern(const char* who, const Variable& expression, const Variable& wrt, const GradOptions& options) {
  require_vector(who, "the expression", expression);
  require_vector(who, "wrt", wrt);
  const ElementDependencies found = dependencies_of(expression, wrt, options.consider_constant);
  const std::int64_t rows =
                         found.of_expression ? found.of_expression->shape(0) : static_length(length_of(expression, 0)),
                     columns = static_length(length_of(wrt, 0));
  if (rows == unknown_length)
    throw NotImplementedError(cat(who, ": the length of `", expression.str(),
                                  "` is not known statically, so that the pattern of the derivative can't be found"));
  Elements elements(rows, columns);
  if (found.of_expression)
    for (std::int64_t i = 0; i < rows; ++i)
      for (const std::int64_t j : found.sets.elements(found.of_expression->data_as<std::int64_t>()[i])) {
        elements.add(i, j);
        if (std::int64_t(elements.rows.size()) > max_elements)
          throw ValueError(cat(who, ": the derivative of `", expression.str(), "` by `", wrt.str(), "` has more than ",
                               max_elements,
                               " elements that may be nonzero; take products with it instead (pushforward, "
                               "hessian_vector_product)"));
      }
  return compress(elements, sparse::Format::csr).pattern;
}

// The gradient of a cost, and the options for its derivatives.
std::pair<Variable, GradOptions> gradient_of(const Variable& cost, const Variable& wrt, const GradOptions& options) {
  require_vector("hessian", "wrt", wrt);
  require_cost(cost, "hessian");
  GradOptions first = options, second = options;
  first.return_disconnected = ReturnDisconnected::Zero;
  second.disconnected_inputs = OnDisconnected::Ignore;
  second.known_grads.clear();
  return {grad(cost, wrt, first), second};
}

}  // namespace

sparse::Pattern jacobian_pattern(const Variable& expression, const Variable& wrt, const GradOptions& options,
                                 Source where) {
  const LocationScope here(where);
  return found_pattern("jacobian", expression, wrt, options);
}

sparse::Pattern hessian_pattern(const Variable& cost, const Variable& wrt, const GradOptions& options, Source where) {
  const LocationScope here(where);
  const auto [gradient, second] = gradient_of(cost, wrt, options);
  return found_pattern("hessian", gradient, wrt, second);
}

sparse::Matrix sparse_jacobian(const Variable& expression, const Variable& wrt, const sparse::Pattern& pattern,
                               const GradOptions& options, Source where) {
  const LocationScope here(where);
  return matrix_of("jacobian", expression, wrt, pattern, options);
}

sparse::Matrix sparse_hessian(const Variable& cost, const Variable& wrt, const sparse::Pattern& pattern,
                              const GradOptions& options, Source where) {
  const LocationScope here(where);
  const auto [gradient, second] = gradient_of(cost, wrt, options);
  return matrix_of("hessian", gradient, wrt, pattern, second);
}

sparse::Matrix sparse_jacobian(const Variable& expression, const Variable& wrt, const GradOptions& options,
                               Source where) {
  const LocationScope here(where);
  return matrix_of("jacobian", expression, wrt, found_pattern("jacobian", expression, wrt, options), options);
}

sparse::Matrix sparse_hessian(const Variable& cost, const Variable& wrt, const GradOptions& options, Source where) {
  const LocationScope here(where);
  const auto [gradient, second] = gradient_of(cost, wrt, options);
  return matrix_of("hessian", gradient, wrt, found_pattern("hessian", gradient, wrt, second), second);
}

Variable sparse_jacobian(const Variable& expression, const Variable& wrt, const Array& sparsity,
                         const GradOptions& options, Source where) {
  const LocationScope here(where);
  return to_dense(matrix_of("jacobian", expression, wrt, pattern_from("jacobian", sparsity), options));
}

Variable sparse_hessian(const Variable& cost, const Variable& wrt, const Array& sparsity, const GradOptions& options,
                        Source where) {
  const LocationScope here(where);
  const auto [gradient, second] = gradient_of(cost, wrt, options);
  return to_dense(matrix_of("hessian", gradient, wrt, pattern_from("hessian", sparsity), second));
}

}  // namespace bitale
