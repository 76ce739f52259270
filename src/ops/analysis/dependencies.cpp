#include "ops/analysis/dependencies.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "bitale/graph/variable.hpp"
#include "graph/evaluate.hpp"
#include "ops/analysis/support_masks.hpp"

namespace bitale {

namespace {

bool is_static(const Dims& lengths) {
  return std::ranges::none_of(lengths, [](std::int64_t length) { return length == unknown_length; });
}

Array evaluated(const Op& op, std::span<const Variable> variables, std::vector<Array> values) {
  const Apply node = op.make_node(variables);
  std::vector<Array> out(1);
  copy_destroyed(node, values);
  evaluate_node(node, values, out);
  return out[0].contiguous();
}

}  // namespace

std::optional<Array> moved_dependencies(const Apply& node, InputDependencies& inputs, std::span<const int> moved) {
  Variables variables = node.inputs();
  std::vector<Array> values(variables.size());
  for (std::size_t i = 0; i < variables.size(); ++i) {
    std::optional<Array> value;
    if (std::ranges::find(moved, int(i)) == moved.end()) {
      value = inputs.value(int(i));
    } else {
      const Dims lengths = inputs.input_lengths(int(i));
      value = inputs.of(int(i));
      if (!value && is_static(lengths)) value = Array::zeros(DType::Int64, lengths);
      if (value) variables[i] = Variable(tensor_type(DType::Int64, value->shape()));
    }
    if (!value) return std::nullopt;
    values[i] = *value;
  }
  return evaluated(node.op(), variables, std::move(values));
}

Array united_dependencies(InputDependencies& inputs, std::span<const int> of) {
  std::optional<Array> out;
  for (const int i : of) {
    const std::optional<Array> given = inputs.of(i);
    if (!given) continue;
    const Array own = given->broadcast_to(inputs.lengths()).contiguous();
    if (!out) {
      out = own;
      continue;
    }
    const std::int64_t *a = out->data_as<std::int64_t>(), *b = own.data_as<std::int64_t>();
    if (std::equal(a, a + own.size(), b)) continue;
    const Array both = Array::zeros(DType::Int64, inputs.lengths());
    for (std::int64_t k = 0; k < own.size(); ++k)
      both.mutable_data_as<std::int64_t>()[k] = inputs.sets().united(a[k], b[k]);
    out = both;
  }
  return out ? *out : Array::zeros(DType::Int64, inputs.lengths());
}

Array batch_dependencies(InputDependencies& inputs, std::size_t input_count, std::size_t batch) {
  const Dims& lengths = inputs.lengths();
  Dims of_batch;
  std::int64_t count = 1;
  for (std::size_t axis = 0; axis < batch; ++axis) {
    of_batch.push_back(lengths[axis]);
    count *= lengths[axis];
  }
  Array out = Array::zeros(DType::Int64, of_batch);
  if (count == 0) return Array::zeros(DType::Int64, lengths);
  for (std::size_t i = 0; i < input_count; ++i) {
    const std::optional<Array> given = inputs.of(int(i));
    if (!given) continue;
    Dims own = given->shape();
    std::copy(of_batch.begin(), of_batch.end(), own.begin());
    const Array rows = given->broadcast_to(own).contiguous();
    const Array united = united_rows(inputs.sets(), rows.reshape({count, rows.size() / count}));
    for (std::int64_t k = 0; k < count; ++k)
      out.mutable_data_as<std::int64_t>()[k] =
          inputs.sets().united(out.mutable_data_as<std::int64_t>()[k], united.data_as<std::int64_t>()[k]);
  }
  for (std::size_t axis = batch; axis < lengths.size(); ++axis) out = out.insert_axis(int(axis), lengths[axis]);
  return out.contiguous();
}

Array united_rows(ElementSets& sets, const Array& rows) {
  const Array given = rows.contiguous();
  const std::int64_t count = given.shape(0), width = count ? given.size() / count : 0;
  const Array out = Array::zeros(DType::Int64, {count});
  for (std::int64_t i = 0; i < count; ++i)
    out.mutable_data_as<std::int64_t>()[i] =
        sets.united(std::span(given.data_as<std::int64_t>() + i * width, std::size_t(width)));
  return out;
}

std::optional<Array> selected_positions(const Op& gather, const Apply& node, InputDependencies& inputs) {
  std::vector<Array> values{Array::zeros(DType::Int64, inputs.lengths())};
  const std::span<std::int64_t> numbers = values[0].mutable_span_as<std::int64_t>();
  std::iota(numbers.begin(), numbers.end(), std::int64_t(0));
  Variables variables{Variable(tensor_type(DType::Int64, inputs.lengths()))};
  for (std::size_t i = 2; i < node.inputs().size(); ++i) {
    const std::optional<Array> value = inputs.value(int(i));
    if (!value) return std::nullopt;
    variables.push_back(node.inputs()[i]);
    values.push_back(*value);
  }
  return evaluated(gather, variables, std::move(values));
}

Array dependencies_of_sum(InputDependencies& inputs, const Array& targets) {
  const std::optional<Array> x = inputs.of(0), y = inputs.of(1);
  const Array out = x ? x->copy() : Array::zeros(DType::Int64, inputs.lengths());
  if (!y) return out;
  const Array added = y->broadcast_to(targets.shape()).contiguous(), to = targets.contiguous();
  std::vector<std::pair<std::int64_t, ElementSets::Set>> terms;
  for (std::int64_t k = 0; k < to.size(); ++k)
    terms.emplace_back(to.data_as<std::int64_t>()[k], added.data_as<std::int64_t>()[k]);
  std::ranges::sort(terms);
  std::vector<ElementSets::Set> own;
  for (std::size_t k = 0; k < terms.size();) {
    const std::int64_t at = terms[k].first;
    own.assign(1, out.mutable_data_as<std::int64_t>()[at]);
    for (; k < terms.size() && terms[k].first == at; ++k) own.push_back(terms[k].second);
    out.mutable_data_as<std::int64_t>()[at] = inputs.sets().united(own);
  }
  return out;
}

std::optional<Array> MovesElements::dependencies(const Apply& node, int, InputDependencies& inputs) const {
  static constexpr int first[] = {0};
  return moved_dependencies(node, inputs, first);
}

}  // namespace bitale
