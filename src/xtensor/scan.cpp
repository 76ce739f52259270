#include "bitale/xtensor/scan.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/xtensor/align.hpp"
#include "bitale/xtensor/functions.hpp"
#include "bitale/xtensor/indexing.hpp"

namespace bitale::xtensor {

namespace {

AnyTensor with_dims(const Variable& values, const std::optional<DimList>& dims) {
  return dims ? AnyTensor(XVariable(values, *dims)) : AnyTensor(values);
}

DimList without_first(const XVariable& x) { return {x.dims().begin() + 1, x.dims().end()}; }

// The labels at positions from `first` on, `count` of them.
Dim part_of(const Dim& dim, std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> positions(std::size_t(std::max<std::int64_t>(count, 0)));
  std::iota(positions.begin(), positions.end(), first);
  return dim.with(dim.coordinates()->at(positions));
}

}  // namespace

AnyTensor::operator XVariable() const {
  if (const auto* x = std::get_if<XVariable>(this)) return *x;
  return XOperand(std::get<Variable>(*this)).variable;
}

const Variable& AnyTensor::tensor() const {
  const auto* x = std::get_if<XVariable>(this);
  return x ? x->values() : std::get<Variable>(*this);
}

ScanBuilder::ScanBuilder(ScanArguments arguments, const Dim& along, const Location& where)
    : along_(along), where_(where) {
  const LocationScope here(where_);
  bitale::ScanArguments tensors{.n_steps = std::move(arguments.n_steps),
                                .go_backwards = arguments.go_backwards,
                                .truncate_gradient = arguments.truncate_gradient,
                                .strict = arguments.strict,
                                .name = std::move(arguments.name)};
  add_sequences(arguments.sequences, tensors);
  if (!tensors.n_steps && tensors.sequences.empty() && along_.length()) tensors.n_steps = Operand(*along_.length());
  for (const ScanInitial& each : arguments.initial) add_initial(each, tensors);
  for (const AnyTensor& each : arguments.non_sequences) {
    const auto* x = std::get_if<XVariable>(&each);
    argument_dims_.push_back(x ? AnyDims(x->dims()) : std::nullopt);
    tensors.non_sequences.push_back(each.tensor());
  }
  if (arguments.go_backwards && along_.coordinates()) {
    std::vector<std::int64_t> positions(std::size_t(along_.coordinates()->count()));
    std::iota(positions.rbegin(), positions.rend(), 0);
    along_ = along_.with(along_.coordinates()->at(positions));
  }
  builder_.emplace(std::move(tensors), where_);
}

// All are at the same position in a step, so a step is where each tap of each of them is within its sequence: a tap is
// a sequence of its own, from which the others' taps are cut off.
void ScanBuilder::add_sequences(const std::vector<ScanSequence>& sequences, bitale::ScanArguments& to) {
  std::int64_t before = 0, after = 0;
  bool has_labelled = false;
  for (const ScanSequence& each : sequences) {
    if (!each.input.is_labelled()) continue;
    has_labelled = true;
    for (const int tap : each.taps) {
      before = std::max<std::int64_t>(before, -std::int64_t(tap));
      after = std::max<std::int64_t>(after, tap);
    }
  }
  for (const ScanSequence& each : sequences) {
    const auto* x = std::get_if<XVariable>(&each.input);
    if (!x) {
      to.sequences.emplace_back(each.input.tensor(), each.taps);
      argument_dims_.resize(argument_dims_.size() + each.taps.size());
      continue;
    }
    const std::int64_t length = x->static_length(x->axis(along_.name(), "scan"));
    const XVariable first = transpose(*x, {along_.name(), "..."});
    if (length != unknown_length && along_.length() && *along_.length() != length)
      throw ShapeError(
          cat("scan: \"", along_.name(), "\" has the length ", *along_.length(), ", but ", x->str(), " has ", length));
    along_ = merged("scan", along_, first.dims()[0]);
    if (length != unknown_length && length > 0 && length <= before + after)
      throw ValueError(cat("scan: the taps reach over ", before + after + 1, " positions along \"", along_.name(),
                           "\", but ", x->str(), " has ", length));
    for (const int tap : each.taps) {
      const std::int64_t end = tap - after;
      const Slice slice{.start = Operand(before + tap), .stop = end ? std::optional(Operand(end)) : std::nullopt};
      const XVariable part = before || after ? isel(first, {{along_.name(), slice}}) : first;
      to.sequences.emplace_back(part.values());
      argument_dims_.push_back(without_first(part));
    }
  }
  if (!has_labelled || (!before && !after)) return;
  along_ =
      along_.coordinates() ? part_of(along_, before, along_.coordinates()->count() - before - after) : along_.with({});
}

void ScanBuilder::add_initial(const ScanInitial& initial, bitale::ScanArguments& to) {
  auto& tensor = to.initial.emplace_back();
  const auto* x = std::get_if<XVariable>(&initial.value);
  if (!x) {
    tensor.value = initial.value.tensor();
    tensor.taps = initial.taps;
    tensor.is_weak = initial.is_weak;
    state_dims_.emplace_back();
    if (tensor.value.defined()) argument_dims_.resize(argument_dims_.size() + initial.taps.size());
    return;
  }
  const bool is_one = initial.taps == std::vector<int>{-1};
  if (is_one && x->find(along_.name()) >= 0)
    throw ValueError(cat("scan: an initial state has the dimension \"", along_.name(), "\" of the steps: ", x->str()));
  if (!is_one) x->axis(along_.name(), "scan");  // earlier values are along the dimension of the steps
  const XVariable value = is_one ? *x : transpose(*x, {along_.name(), "..."});
  tensor = bitale::ScanInitial(value.values(), initial.taps);
  state_dims_.push_back(is_one ? value.dims() : without_first(value));
  for (std::size_t k = 0; k < initial.taps.size(); ++k) argument_dims_.push_back(state_dims_.back());
}

std::vector<AnyTensor> ScanBuilder::arguments() const {
  std::vector<AnyTensor> out;
  const Variables& tensors = builder_->arguments();
  for (std::size_t i = 0; i < tensors.size(); ++i)
    out.push_back(with_dims(tensors[i], i < argument_dims_.size() ? argument_dims_[i] : std::nullopt));
  return out;
}

// A result that later steps read has the dimensions of its initial state, in the same order.
AnyTensor ScanBuilder::result_of(std::size_t k, const AnyTensor& given) const {
  if (k >= state_dims_.size() || !state_dims_[k]) return given;
  const DimList& state = *state_dims_[k];
  const XVariable result = given;
  std::vector<std::string> names;
  for (const Dim& dim : state) names.push_back(dim.name());
  const auto mine = result.names();
  if (std::set(names.begin(), names.end()) != std::set(mine.begin(), mine.end()))
    throw ValueError(cat("scan: result ", k, " has the dimensions ", names_text(mine), ", but its initial state ",
                         names_text(names)));
  const XVariable ordered = names == mine ? result : transpose(result, names);
  DimList dims;
  for (std::size_t i = 0; i < state.size(); ++i) dims.push_back(merged("scan", state[i], ordered.dims()[i]));
  return XVariable(ordered.values(), std::move(dims));
}

bitale::ScanStep ScanBuilder::of_tensors(const ScanStep& step) const {
  Variables values;
  for (std::size_t k = 0; k < step.outputs.size(); ++k) values.push_back(result_of(k, step.outputs[k]).tensor());
  return {std::move(values), step.until, step.updates};
}

// A loop that ends early has fewer steps than the sequences have positions.
Dim ScanBuilder::steps_of(const Variable& trace) const {
  const std::int64_t known = trace.static_shape()[0];
  if (!along_.length() || known == *along_.length()) return along_;
  if (along_.coordinates() && known != unknown_length && known < *along_.length()) return part_of(along_, 0, known);
  return along_.with({});
}

ScanResult ScanBuilder::finish(const ScanStep& step) const {
  const LocationScope here(where_);
  bitale::ScanResult found = builder_->finish(of_tensors(step));
  ScanResult out;
  out.steps = found.steps;
  out.updates = std::move(found.updates);
  for (std::size_t k = 0; k < found.traces.size(); ++k) {
    const AnyTensor result = result_of(k, step.outputs[k]);
    const auto* x = std::get_if<XVariable>(&result);
    AnyDims dims;
    if (x) {
      dims = DimList{steps_of(found.traces[k])};
      if (x->find(along_.name()) >= 0)
        throw ValueError(
            cat("scan: result ", k, " has the dimension \"", along_.name(), "\" of the steps: ", x->str()));
      dims->insert(dims->end(), x->dims().begin(), x->dims().end());
    }
    out.traces.push_back(with_dims(found.traces[k], dims));
    const bool has_final = k < found.finals.size() && found.finals[k].defined();
    out.finals.push_back(has_final ? with_dims(found.finals[k], x ? AnyDims(x->dims()) : std::nullopt) : AnyTensor());
  }
  return out;
}

}  // namespace bitale::xtensor
