// What ops on LU factors of sparse matrices share: their inputs, and the checks of these in a call.
#include <algorithm>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/sample_values.hpp"
#include "ops/sparse/lu.hpp"

namespace bitale::sparse_lu_inputs {

namespace {

Array integers(const Array& x) { return x.astype(DType::Int64).contiguous(); }

bool is_permutation_of(const Array& order, std::int64_t size) {
  if (order.size() != size) return false;
  std::vector<bool> seen(std::size_t(size), false);
  for (std::int64_t k = 0; k < size; ++k) {
    const std::int64_t each = order.data_as<std::int64_t>()[k];
    if (each < 0 || each >= size || seen[std::size_t(each)]) return false;
    seen[std::size_t(each)] = true;
  }
  return true;
}

// Whether these numbers begin at 0, don't decrease, and end at `last`.
bool are_bounds(const Array& bounds, std::int64_t last) {
  const auto* at = bounds.data_as<std::int64_t>();
  bool fits = bounds.size() > 0 && at[0] == 0 && at[bounds.size() - 1] == last;
  for (std::int64_t k = 0; fits && k + 1 < bounds.size(); ++k) fits = at[k] <= at[k + 1];
  return fits;
}

}  // namespace

bool is_odd(const std::int64_t* order, std::int64_t size) {
  std::vector<bool> seen(std::size_t(size), false);
  bool odd = false;
  for (std::int64_t start = 0; start < size; ++start)
    for (std::int64_t k = start; !seen[std::size_t(k)]; k = order[k]) {
      seen[std::size_t(k)] = true;
      odd ^= order[k] != start;  // a cycle of m rows takes m - 1 exchanges
    }
  return odd;
}

Variables of(const SparseLuMatrix& a, const SparseLuFactors& factors) {
  return {a.values, a.bounds, a.rows, a.order, factors.values, factors.bounds, factors.rows, factors.row_order};
}

SparseLuMatrix matrix(const Apply& node) { return {node.input(0), node.input(1), node.input(2), node.input(3)}; }
SparseLuFactors factors(const Apply& node) { return {node.input(4), node.input(5), node.input(6), node.input(7)}; }

Matrix::Matrix(std::span<const Array> in)
    : values(in[0].contiguous()), bounds(integers(in[1])), rows(integers(in[2])), order(integers(in[3])) {
  const std::int64_t size = bounds.size() - 1;
  bool fits = values.size() == rows.size() && are_bounds(bounds, rows.size()) && is_permutation_of(order, size);
  for (std::int64_t p = 0; fits && p < rows.size(); ++p) {
    const std::int64_t row = rows.data_as<std::int64_t>()[p];
    fits = row >= 0 && row < size;
  }
  if (!fits)
    throw ValueError(
        "sparse lu: expected compressed columns with rows in range, a value for each, and an order of the columns");
}

runtime::SparseColumns Matrix::columns() const {
  return {bounds.size() - 1, bounds.data_as<std::int64_t>(), rows.data_as<std::int64_t>()};
}

Factors::Factors(std::span<const Array> in, std::int64_t size)
    : values(in[4].contiguous()), bounds(integers(in[5])), rows(integers(in[6])), row_order(integers(in[7])) {
  bool fits = bounds.size() == 2 * size + 1 && values.size() == rows.size() && are_bounds(bounds, rows.size()) &&
              is_permutation_of(row_order, size);
  const auto [count, at, row] = pattern();
  for (std::int64_t k = 0; fits && k < size; ++k) {
    const std::int64_t diagonal = at[2 * k + 1], end = at[2 * k + 2];
    fits = diagonal < end && row[diagonal] == k;
    for (std::int64_t p = at[2 * k]; fits && p < diagonal; ++p) fits = row[p] >= 0 && row[p] < k;
    for (std::int64_t p = diagonal + 1; fits && p < end; ++p) fits = row[p] > k && row[p] < size;
  }
  if (!fits) throw ValueError("sparse lu: expected the factors of the matrix, as sparse_lu returns them");
}

runtime::LuPattern Factors::pattern() const {
  return {row_order.size(), bounds.data_as<std::int64_t>(), rows.data_as<std::int64_t>()};
}

Sample sample(const OpRef& op, bool with_factors, int right_hand_side, bool with_pattern) {
  const std::vector<double> elements = {0.5, 2.0, 3.0, 1.0, -1.0, 4.0};
  const std::vector<std::int64_t> bounds = {0, 2, 4, 6}, rows = {0, 1, 0, 2, 1, 2}, order = {2, 0, 1};
  std::vector<Array> values = {Array(elements), Array(bounds), Array(rows), Array(order)};
  if (with_factors) {
    runtime::LuFactors<double> factors;
    runtime::sparse_lu({3, bounds.data(), rows.data()}, elements.data(), order.data(), factors);
    for (Array each : {Array(factors.values), Array(factors.bounds), Array(factors.rows), Array(factors.row_order)})
      values.push_back(std::move(each));
  }
  if (right_hand_side == 1) values.push_back(Array{1.0, -2.0, 3.0});
  if (right_hand_side == 2) values.push_back(sample_values(DType::Float64, {3, 2}));
  if (with_pattern)
    for (const auto& each : std::vector<std::vector<std::int64_t>>{{0, 3, 5, 6}, {0, 1, 2, 1, 2, 2}})
      values.push_back(Array(each));
  Variables inputs;
  for (const Array& value : values)
    inputs.push_back(sample_input(value.dtype(), Dims(std::size_t(value.ndim()), unknown_length)));
  return {.node = op->make_node(inputs), .values = std::move(values), .smooth = false};
}

}  // namespace bitale::sparse_lu_inputs
