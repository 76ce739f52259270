// What the elements of a loop's states and traces depend on: the inner graph says it for the elements of one step in
// terms of that step's inputs, and the sets of these follow from step to step.
#include "graph/dependencies.hpp"

#include <algorithm>
#include <vector>

#include "ops/scan/scan.hpp"

namespace bitale {

namespace {

using Set = ElementSets::Set;

// The sets of a step's inputs, by the numbers that the inner graph's dependencies have for their elements.
class StepInputs {
 public:
  StepInputs(const InnerDependencies& inner, std::size_t count) : inner_(inner), sets_(count, ElementSets::none) {}

  // Of an input whose elements are numbered.
  void set(std::size_t input, const Array& sets) {
    const Array given = sets.contiguous();
    const Set* const from = given.data_as<Set>();
    std::copy(from, from + given.size(), sets_.begin() + inner_.first[input]);
  }
  // The sets of an output of the step, of this shape.
  Array of(const std::optional<Array>& output, const Dims& shape, ElementSets& sets) {
    const Array out = Array::zeros(DType::Int64, shape);
    if (!output) return out;
    const Array given = output->contiguous();
    for (std::int64_t k = 0; k < out.size(); ++k) {
      terms_.clear();
      for (const std::int64_t number : inner_.sets.elements(given.data_as<Set>()[k]))
        terms_.push_back(sets_[std::size_t(number)]);
      out.mutable_data_as<Set>()[k] = sets.united(terms_);
    }
    return out;
  }

 private:
  const InnerDependencies& inner_;
  std::vector<Set> sets_, terms_;
};

bool is_numbered(const Variable& inner) { return as_tensor(inner.type()) && !is_discrete(inner.dtype()); }

}  // namespace

std::optional<Array> ScanOp::dependencies(const Apply&, int output, InputDependencies& inputs) const {
  const ScanLayout& layout = layout_;
  const Variables& inner_inputs = graph_->inputs();
  const bool is_trace = output >= layout.states;
  const std::optional<Array> steps = inputs.value(0);
  if (!steps && !is_trace) return std::nullopt;
  const std::int64_t count = is_trace ? inputs.lengths()[0] : steps->int_item();

  std::vector<Dims> lengths;
  std::vector<std::optional<Array>> values(inner_inputs.size());
  std::int64_t numbers = 0;
  for (std::size_t i = 0; i < inner_inputs.size(); ++i) {
    lengths.emplace_back();
    if (!as_tensor(inner_inputs[i].type())) continue;
    Dims& own = lengths.back() = inputs.input_lengths(int(i) + 1);
    if (int(i) < layout.sequences) own.erase(0);
    std::int64_t size = 1;
    for (const std::int64_t length : own) {
      if (length == unknown_length) return std::nullopt;
      size *= length;
    }
    if (int(i) >= layout.sequences + layout.states && !inputs.of(int(i) + 1)) values[i] = inputs.value(int(i) + 1);
    numbers += size;
  }
  const auto inner = inputs.of_inner_graph(*graph_, lengths, values);
  if (!inner) return std::nullopt;

  StepInputs step(*inner, std::size_t(numbers));
  std::vector<std::optional<Array>> sequences;
  for (int k = 0; k < layout.sequences; ++k) sequences.push_back(inputs.of(sequence_input(k)));
  for (std::size_t i = std::size_t(layout.sequences); i < inner_inputs.size(); ++i)
    if (const auto given = inputs.of(int(i) + 1); given && is_numbered(inner_inputs[i])) step.set(i, *given);
  const Array trace = Array::zeros(DType::Int64, is_trace ? inputs.lengths() : Dims{0});
  const auto first_state = std::size_t(layout.sequences);
  std::vector<Array> states;
  for (int k = 0; k < layout.states; ++k) {
    const auto given = inputs.of(initial_input(k));
    states.push_back(given ? *given : Array::zeros(DType::Int64, lengths[first_state + std::size_t(k)]));
  }
  // A loop that stops at a condition ends in any of its states.
  const Array ends = is_trace ? Array() : states[std::size_t(output)].copy();
  const std::int64_t limit = inputs.sets().size() + max_accumulated_elements;
  for (std::int64_t at = 0; at < count; ++at) {
    for (std::size_t k = 0; k < sequences.size(); ++k)
      if (sequences[k] && is_numbered(inner_inputs[k])) step.set(k, sequences[k]->take_index(0, at));
    if (is_trace) {
      const Array row = trace.take_index(0, at);
      row.assign(step.of(inner->outputs[std::size_t(output)], row.shape(), inputs.sets()));
    }
    for (std::size_t k = 0; k < states.size(); ++k)
      if (is_numbered(inner_inputs[first_state + k]))
        states[k] = step.of(inner->outputs[k], states[k].shape(), inputs.sets());
    for (std::size_t k = 0; k < states.size(); ++k)
      if (is_numbered(inner_inputs[first_state + k])) step.set(first_state + k, states[k]);
    if (layout.has_until && !is_trace) {
      const Array& now = states[std::size_t(output)];
      for (std::int64_t k = 0; k < now.size(); ++k) {
        Set& end = ends.mutable_data_as<Set>()[k];
        end = inputs.sets().united(end, now.data_as<Set>()[k]);
      }
    }
    if (inputs.sets().size() > limit) return std::nullopt;
  }
  if (is_trace) return trace;
  return layout.has_until ? ends : states[std::size_t(output)];
}

}  // namespace bitale
