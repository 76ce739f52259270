// Samples of Elemwise, generated from the records: every scalar op over dtypes, over ways of broadcasting, and at the
// special values that its record names.
#include <algorithm>
#include <cmath>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "ops/sample_values.hpp"

namespace bitale {

namespace {

// Values spread evenly over the interval, in an order that looks random but is always the same.
Array values_in(const Interval& interval, DType dtype, const Dims& shape, int seed) {
  double low = interval.low, high = interval.high;
  if (kind(dtype) == DTypeKind::UInt || dtype == DType::Bool) low = std::max(low, 0.0);
  if (is_discrete(dtype)) {
    low = std::ceil(low);
    high = std::max(low, std::floor(high));
  }
  const std::int64_t size = product(shape);
  const Array flat = Array::empty(DType::Float64, Dims{size});
  for (std::int64_t i = 0; i < size; ++i) {
    const double step = std::fmod(0.6180339887498949 * double(i + 1) + 0.3176 * seed, 1.0);
    const double value = low + (high - low) * step;
    flat.mutable_data_as<double>()[i] = dtype == DType::Bool ? double((i + seed) % 3 == 0)
                                        : is_discrete(dtype) ? std::round(value)
                                                             : value;
  }
  return flat.astype(dtype).reshape(shape);
}

bool accepts(const ScalarOp& op, std::span<const DType> dtypes) {
  try {
    return !is_complex(op.dtypes(dtypes).compute);
  } catch (const TypeError&) {
    return false;
  }
}

// One sample: inputs of these dtypes, static shapes and lengths.
Sample sample(const ScalarOp& op, const std::vector<DType>& dtypes, const std::vector<Dims>& types,
              const std::vector<Dims>& lengths, std::string note) {
  Variables inputs;
  std::vector<Array> values;
  const bool piecewise = op.has(discrete_output);
  for (std::size_t i = 0; i < dtypes.size(); ++i) {
    inputs.push_back(sample_input(dtypes[i], types[i], std::string(1, char('x' + i))));
    values.push_back(values_in(op.domain[i], dtypes[i], lengths[i], int(i)));
  }
  return {elemwise(op.name)->make_node(inputs), values, 1e-6, !piecewise, cat(op.name, ": ", note)};
}

// The same dtype for all inputs, and mixtures if there are several inputs.
std::vector<std::vector<DType>> dtype_combinations(const ScalarOp& op) {
  std::vector<std::vector<DType>> out;
  for (DType dtype : real_dtypes()) out.emplace_back(std::size_t(op.arity), dtype);
  if (op.arity == 2) {
    using enum DType;
    for (auto [a, b] : {std::pair(Int64, Float32), std::pair(Float32, Float64), std::pair(UInt8, Int8),
                        std::pair(Bool, Int32), std::pair(Int8, Float32), std::pair(UInt64, Int64)})
      out.push_back({a, b});
  }
  if (op.arity == 3) {
    out.push_back({DType::Bool, DType::Float64, DType::Float32});
    out.push_back({DType::Float32, DType::Int64, DType::Int8});
  }
  std::erase_if(out, [&](auto& dtypes) { return !accepts(op, dtypes); });
  return out;
}

void add_dtypes(const ScalarOp& op, std::vector<Sample>& out) {
  const auto arity = std::size_t(op.arity);
  for (auto& dtypes : dtype_combinations(op)) {
    std::vector<std::string> names;
    for (DType dtype : dtypes) names.emplace_back(dtype_short_name(dtype));
    out.push_back(sample(op, dtypes, std::vector<Dims>(arity, {unknown_length}), std::vector<Dims>(arity, {5}),
                         join(names, ", ")));
  }
}

void add_broadcasts(const ScalarOp& op, std::vector<Sample>& out) {
  const auto arity = std::size_t(op.arity);
  std::vector<DType> dtypes(arity, DType::Float64);
  if (!accepts(op, dtypes)) dtypes.assign(arity, DType::Int32);
  auto add = [&](std::vector<Dims> types, std::vector<Dims> lengths, const char* note) {
    types.resize(arity, types.back());
    lengths.resize(arity, lengths.back());
    out.push_back(sample(op, dtypes, types, lengths, note));
  };
  add({{}}, {{}}, "0-d");
  add({{unknown_length, unknown_length}}, {{3, 4}}, "matrices");
  if (arity == 1) return;
  add({{1, 1}, {unknown_length, unknown_length}}, {{1, 1}, {3, 4}}, "number with matrix");
  add({{unknown_length, 1}, {1, unknown_length}}, {{3, 1}, {1, 4}}, "column with row");
  add({{2, unknown_length, 1}, {unknown_length, 1, 3}}, {{2, 2, 1}, {2, 1, 3}}, "partly known lengths");
}

// Every combination of the record's special values, as vectors.
void add_edges(const ScalarOp& op, DType dtype, std::vector<Sample>& out) {
  const auto arity = std::size_t(op.arity);
  if (op.edges.empty() || !accepts(op, std::vector<DType>(arity, dtype))) return;
  const std::size_t n = op.edges.size();
  const auto size = std::size_t(std::pow(n, arity));
  Variables inputs;
  std::vector<Array> values;
  std::size_t stride = 1;
  for (std::size_t i = 0; i < arity; ++i, stride *= n) {
    std::vector<double> edges;
    for (std::size_t k = 0; k < size; ++k) edges.push_back(op.edges[k / stride % n]);
    inputs.push_back(sample_input(dtype, {unknown_length}, std::string(1, char('x' + i))));
    values.push_back(Array(edges).astype(dtype));
  }
  out.push_back({elemwise(op.name)->make_node(inputs), values, 1e-6, false,
                 cat(op.name, ": special values, ", dtype_short_name(dtype))});
}

std::vector<Sample> elemwise_samples() {
  std::vector<Sample> out;
  for (const ScalarOp* op : scalar_ops()) {
    if (!op->expand) continue;  // for complex numbers only, see tests/python/tensor/test_complex.py
    add_dtypes(*op, out);
    add_broadcasts(*op, out);
    add_edges(*op, DType::Float64, out);
    add_edges(*op, DType::Float32, out);
  }
  return out;
}

OpRef make_elemwise(const Attributes& attributes) {
  return make_ref<Elemwise>(scalar_op(required_attribute<std::string>(attributes, "scalar_op")),
                            optional_attribute<int>(attributes, "inplace").value_or(-1));
}

BITALE_REGISTER_OP_MADE_BY(Elemwise, make_elemwise, "A scalar function of each element, with broadcasting.",
                           elemwise_samples);

}  // namespace

}  // namespace bitale
