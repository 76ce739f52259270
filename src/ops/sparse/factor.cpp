#include "ops/sparse/factor.hpp"

#include <algorithm>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/segments.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/linalg/blockwise.hpp"
#include "ops/sample_values.hpp"
#include "runtime/supernodes.hpp"

namespace bitale::sparse_factor {

Columns::Columns(const Array& given_bounds, const Array& given_rows, std::int64_t elements, bool is_known_closed)
    : bounds(given_bounds.astype(DType::Int64).contiguous()),
      rows(given_rows.astype(DType::Int64).contiguous()),
      is_known_closed(is_known_closed) {
  const runtime::FactorPattern known = pattern();
  const std::int64_t size = known.size, *const at = known.bounds, *const row = known.rows;
  bool fits = bounds.size() > 0 && rows.size() == elements && at[0] == 0 && at[size] == elements;
  std::int64_t first = 0;  // column of the supernode, whose rows are checked
  for (std::int64_t j = 0; fits && j < size; ++j) {
    fits = at[j] < at[j + 1] && at[j + 1] <= elements && row[at[j]] == j;
    if (!fits) break;
    if (is_known_closed && j > 0 && runtime::continues_supernode(known, j)) {
      fits = row[at[first] + j - first] == j;
      continue;
    }
    first = j;
    for (std::int64_t p = at[j] + 1; p < at[j + 1]; ++p) fits &= row[p] > row[p - 1];
    fits &= row[at[j + 1] - 1] < size;
  }
  if (!fits)
    throw ValueError(
        "sparse factor: expected columns in order, each with its diagonal element first and its rows ascending");
}

runtime::FactorPattern Columns::pattern() const {
  return {bounds.size() - 1, bounds.data_as<std::int64_t>(), rows.data_as<std::int64_t>(), is_known_closed};
}

void refuse_open_pattern() {
  throw ValueError(
      "sparse factor: expected the pattern of a factor: where a column has two rows, the column of the upper one has "
      "the other");
}

namespace {

bool is_constant(std::span<const Variable> pattern) { return pattern[0].is_constant() && pattern[1].is_constant(); }

}  // namespace

Columns columns_of(const Apply& node, std::span<const Array> in, std::size_t first, std::int64_t elements) {
  return Columns(in[first], in[first + 1], elements, is_constant(std::span(node.inputs()).subspan(first, 2)));
}

Variables checked(std::string_view who, std::span<const Variable> inputs, std::span<const int> values) {
  const auto is_value = [&](std::size_t k) { return std::find(values.begin(), values.end(), int(k)) != values.end(); };
  DType dtype = DType::Float32;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const Variable& each = inputs[k];
    if (!is_value(k) && (each.ndim() != 1 || !is_integer(each.dtype())))
      throw TypeError(
          cat(who, ": expected a pattern of integer vectors, got ", each.str(), " of type ", each.type()->str()));
    if (!is_value(k)) continue;
    if (is_complex(each.dtype()))
      throw NotImplementedError(cat(who, ": sparse factors of complex matrices are not implemented"));
    dtype = promote(dtype, each.dtype());
  }
  Variables out(inputs.begin(), inputs.end());
  for (const int k : values)
    out[std::size_t(k)] = cast(inputs[std::size_t(k)], dtype == DType::Float32 ? dtype : DType::Float64);
  return out;
}

namespace {

constexpr std::string_view right_hand_side = ",(n)->(n)";

bool is_system(std::string_view signature) { return signature.ends_with(right_hand_side); }

}  // namespace

Apply FactorOp::make_node(std::span<const Variable> inputs) const {
  const Form own = form();
  const Signature dims = parse_signature(own.signature);
  require_inputs(*this, inputs, dims.inputs.size());
  if (const Variable& b = inputs.back(); is_system(own.signature) && b.ndim() != 1 && b.ndim() != 2)
    throw TypeError(
        cat("sparse ", own.who, ": expected a vector or a matrix, got ", b.str(), " of type ", b.type()->str()));
  const Variables checked_inputs = checked(own.who, inputs, own.values);
  Variables pattern;
  for (std::size_t k = 0; k < inputs.size(); ++k)
    if (std::find(own.values.begin(), own.values.end(), int(k)) == own.values.end()) pattern.push_back(inputs[k]);
  if (own.has_cholesky && is_constant(pattern)) {
    const Columns columns(*pattern[0].constant(), *pattern[1].constant());
    if (columns.pattern().size > 0 && runtime::fronts_of(columns.pattern()).nodes.empty()) refuse_open_pattern();
  }
  const Type type =
      own.like ? checked_inputs[std::size_t(*own.like)].type() : tensor_type(checked_inputs[0].dtype(), {});
  return Apply(OpRef(this), checked_inputs, std::vector<Type>(dims.outputs.size(), type));
}

std::vector<Shape> FactorOp::infer_shape(const Apply& node, std::span<const Shape> inputs) const {
  const std::optional<int> like = form().like;
  return std::vector<Shape>(node.output_count(), like ? inputs[std::size_t(*like)] : Shape{});
}

Apply FactorOp::vectorize(const Apply& node, std::span<const Variable> batched) const {
  std::string_view signature = form().signature;
  if (!is_system(signature) || node.inputs().back().ndim() == 1)
    return blockwise(OpRef(this), std::string(signature), batched);
  signature.remove_suffix(right_hand_side.size());
  return blockwise(OpRef(this), cat(signature, ",(n,k)->(n,k)"), batched);
}

std::vector<std::vector<bool>> FactorOp::connection_pattern(const Apply& node) const {
  auto out = connect_first(node, 0);
  for (const int input : form().differentiable) out[std::size_t(input)].assign(node.output_count(), true);
  return out;
}

Sample sample(const OpRef& op, std::string_view inputs, bool smooth) {
  const auto integers = [](std::initializer_list<int> list) {
    return Array(std::vector<std::int64_t>(list.begin(), list.end()));
  };
  Variables variables;
  std::vector<Array> values;
  const auto add = [&](const Array& value) {
    variables.push_back(sample_input(value.dtype(), Dims(std::size_t(value.ndim()), unknown_length)));
    values.push_back(value);
  };
  for (const char each : inputs) switch (each) {
      case 't': add(Array{4.0, 1.0, 5.0, -1.0, 6.0}); break;
      case 'l': add(Array{2.0, 0.5, 2.25, -0.5, 2.5}); break;
      case 'g': add(Array{1.0, -2.0, 0.5, 3.0, -1.0}); break;
      case 'p': add(integers({0, 2, 4, 5})), add(integers({0, 1, 1, 2, 2})); break;
      case 'o': add(integers({2, 0, 1})); break;
      case 'v': add(Array{1.0, -2.0, 3.0}); break;
      default: add(sample_values(DType::Float64, {3, 2}));
    }
  return {.node = op->make_node(variables), .values = std::move(values), .smooth = smooth};
}

Variable column_of(const Variable& bounds, const Variable& rows) { return segment_ids(bounds, length_of(rows, 0)); }

Variable scaled_below(const Variable& triangle, double factor, const Variable& bounds, const Variable& rows) {
  return switch_(eq(rows, column_of(bounds, rows)), triangle, triangle * Operand(factor));
}

Variable products(const Variable& x, const Variable& y, const Variable& bounds, const Variable& rows) {
  const Variable terms = subtensor(x, {IndexItem(rows)}) * subtensor(y, {IndexItem(column_of(bounds, rows))});
  return x.ndim() == 1 ? terms : sum(terms, {1});
}

}  // namespace bitale::sparse_factor
