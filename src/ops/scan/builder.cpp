// Converts taps, go_backwards and updates to the normal form of Scan: taps of sequences become slices, a result with
// taps becomes a chain of states that shift by one step each, an updated shared variable becomes a state.
#include <algorithm>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/test_value.hpp"
#include "bitale/graph/traversal.hpp"
#include "bitale/ops/debugging.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/scan.hpp"
#include "graph/literal.hpp"
#include "graph/wide_literals.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/scan/scan.hpp"
#include "ops/shapes/arange.hpp"

namespace bitale {

namespace {

Variable rows(const Variable& x, const std::optional<Operand>& start, const std::optional<Operand>& stop) {
  if (!start && !stop) return x;
  return subtensor(x, {IndexItem(Slice{start, stop, {}})});
}

Type row_of(const Variable& stack) {
  const Dims& shape = stack.static_shape();
  Dims row;
  for (std::size_t axis = 1; axis < shape.size(); ++axis) row.push_back(shape[axis]);
  return tensor_type(stack.dtype(), row);
}

Variable leaf_for(const Type& type, const std::string& name, std::string_view suffix) {
  return Variable(type, name.empty() ? "" : cat(name, suffix));
}

std::string tap_text(int tap) { return tap == 0 ? "[t]" : cat("[t", tap > 0 ? "+" : "-", std::abs(tap), "]"); }

// Whether dtype `to` holds values of dtype `from` without loss.
bool holds(DType to, DType from) {
  try {
    (void)filter(*as_tensor(tensor_type(to, 0)), Array::zeros(from, Dims{}));
    return true;
  } catch (const TypeError&) {
    return false;
  }
}

// The sequence, with a check that it has elements for its taps.
Variable long_enough(const std::string& who, std::size_t i, const Variable& sequence, int first, int last) {
  const int least = last - first;
  const auto length = sequence.static_shape()[0];
  if (least == 0 || length >= least) return sequence;
  const auto message = [&](std::string_view has) {
    return cat(who, ": sequence ", i, " has taps from ", first, " to ", last, ", and ", has, ": expected ", least,
               " or more, because otherwise taps reach ", first < 0 ? "before the start" : "behind the end");
  };
  if (length != unknown_length) throw ValueError(message(count_text(length, "element")));
  return check_and_raise(sequence, {ge(length_of(sequence, 0), int64_constant(least))}, "ValueError",
                         message("fewer elements"));
}

// Whether a step's output is computed of literals and of states whose initial values are literals, so that nothing in
// it was given a dtype.
bool is_of_literals_only(const Variable& output, const std::vector<Variables>& states, const ScanArguments& given) {
  const Variables leaves = graph_inputs({&output, 1});
  return std::ranges::all_of(leaves, [&](const Variable& leaf) {
    if (leaf.is_constant()) return is_literal(leaf) || leaf.dtype() != DType::Float32;
    for (std::size_t k = 0; k < states.size(); ++k)
      if (std::ranges::any_of(states[k], [&](const Variable& state) { return state.same_as(leaf); }))
        return given.initial[k].is_weak || is_literal(given.initial[k].value);
    return false;
  });
}

}  // namespace

void scan_detail::refuse_arity(std::size_t taken, std::size_t given) {
  throw TypeError(cat("scan: the step takes ", count_text(std::int64_t(taken), "value"), ", and is given ", given,
                      ": elements of the sequences, earlier values, and non_sequences"));
}

namespace {

// An `arange` among the sequences numbers the steps and may be longer or shorter than the others: the shorter of both
// determines the number of steps.
void end_with_numbers(Variables& slices, Variable& n_steps) {
  const auto is_range = [](const Variable& slice) { return dynamic_cast<const ARange*>(slice.owner_op()) != nullptr; };
  if (std::none_of(slices.begin(), slices.end(), is_range)) return;
  Variable fewest;
  for (const bool of_ranges : {false, true})
    for (auto& slice : slices) {
      if (is_range(slice) != of_ranges) continue;
      const Variable length = length_of(slice, 0);
      if (!fewest.defined() || (!of_ranges && known_integer(length) && !known_integer(fewest)))
        fewest = length;
      else if (of_ranges && !is_same_length(length, fewest))
        fewest = lengths::min(fewest, length);
    }
  n_steps = fewest;
  for (auto& slice : slices)
    if (!is_same_length(length_of(slice, 0), fewest)) slice = rows(slice, {}, Operand(fewest));
}

}  // namespace

std::string ScanBuilder::called() const { return given_.name.empty() ? "scan" : cat("scan `", given_.name, "`"); }

ScanBuilder::ScanBuilder(ScanArguments arguments, const Location& where) : given_(std::move(arguments)), where_(where) {
  const LocationScope here(where_);
  const std::string who = called();
  if (given_.sequences.empty() && !given_.n_steps)
    throw ValueError(cat(who, ": expected a sequence, or n_steps: nothing says how many steps to take"));
  if (given_.truncate_gradient < -1 || given_.truncate_gradient == 0)
    throw ValueError(
        cat(who, ": truncate_gradient is ", given_.truncate_gradient, ": expected a number of steps, or -1 for all"));
  if (given_.n_steps) {
    n_steps_ = as_length(given_.n_steps->variable, cat(who, ": n_steps"));
    if (const auto known = known_integer(n_steps_); known && *known < 0)
      throw ValueError(cat(who, ": n_steps is ", *known,
                           ": expected a number of steps, 0 or more; go_backwards "
                           "steps through the sequences from their ends"));
  }
  for (std::size_t i = 0; i < given_.sequences.size(); ++i) {
    const auto& [input, taps] = given_.sequences[i];
    if (!input.defined() || !as_tensor(input.type()) || input.ndim() == 0)
      throw TypeError(cat(who, ": sequence ", i, ": expected a tensor of one dimension or more, got ",
                          input.defined() ? input.type()->str() : "nothing"));
    if (taps.empty()) throw ValueError(cat(who, ": sequence ", i, " has no taps"));
    // There are only steps at which tap 0 has an element, too.
    const int first = std::min(0, *std::min_element(taps.begin(), taps.end()));
    const int last = std::max(0, *std::max_element(taps.begin(), taps.end()));
    const Variable sequence = long_enough(who, i, input, first, last);
    for (int tap : taps) {
      std::optional<Operand> start, stop;
      if (tap != first) start = Operand(tap - first);
      if (tap != last) stop = Operand(tap - last);
      Variable slice = rows(sequence, start, stop);
      if (given_.go_backwards) slice = subtensor(slice, {IndexItem(Slice{{}, {}, Operand(-1)})});
      if (given_.n_steps) {
        const auto length = slice.static_shape()[0];
        if (const auto known = known_integer(n_steps_); known && length != unknown_length && length < *known)
          throw ShapeError(cat(who, ": sequence ", i, " has ", length, " elements",
                               taps.size() > 1 ? " at its taps" : "", " for ", *known, " steps"));
        if (known_integer(n_steps_) != length) slice = rows(slice, {}, Operand(n_steps_));
      } else if (!n_steps_.defined() ||
                 (n_steps_.defined() && !known_integer(n_steps_) && slice.static_shape()[0] != unknown_length)) {
        n_steps_ = length_of(slice, 0);
      }
      slices_.push_back(slice);
    }
  }
  if (!given_.n_steps) end_with_numbers(slices_, n_steps_);
  for (std::size_t k = 0; k < given_.initial.size(); ++k) {
    const auto& [value, taps, is_weak] = given_.initial[k];
    initial_.emplace_back();
    if (!value.defined()) continue;
    if (taps.empty()) throw ValueError(cat(who, ": the initial value of result ", k, " has no taps"));
    int furthest = 0;
    for (int tap : taps) {
      if (tap >= 0)
        throw ValueError(cat(who, ": result ", k, " has the tap ", tap,
                             ": a step takes only earlier values, so taps must be negative"));
      furthest = std::max(furthest, -tap);
    }
    if (furthest == 1) {
      initial_.back() = {value};
      continue;
    }
    if (!as_tensor(value.type()) || value.ndim() == 0)
      throw TypeError(cat(who, ": result ", k, " has taps back to ", -furthest, ": expected a stack of ", furthest,
                          " initial values, got ", value.type()->str()));
    if (const auto length = value.static_shape()[0]; length != unknown_length && length < furthest)
      throw ValueError(cat(who, ": result ", k, " has taps back to ", -furthest, ", and its initial value has ",
                           count_text(length, "element"), ": the tap reaches before the start"));
    const Variable& stack = given_.initial[k].value;
    const bool is_known = stack.static_shape()[0] != unknown_length;
    const Variable checked =
        is_known ? stack
                 : check_and_raise(stack, {ge(length_of(stack, 0), int64_constant(furthest))}, "ValueError",
                                   cat(who, ": result ", k, " has taps back to ", -furthest,
                                       ", and its initial value has fewer elements: the tap reaches before the start"));
    for (int back = 1; back <= furthest; ++back)
      initial_.back().push_back(subtensor(checked, {IndexItem(furthest - back)}));
  }
  make_leaves();
}

void ScanBuilder::make_leaves() {
  elements_.clear(), states_.clear(), leaves_.clear();
  std::size_t at = 0;
  for (auto& [input, taps] : given_.sequences)
    for (int tap : taps) {
      elements_.push_back(leaf_for(row_of(slices_[at++]), input.name(), tap_text(tap)));
      leaves_.push_back(elements_.back());
    }
  for (std::size_t k = 0; k < initial_.size(); ++k) {
    states_.emplace_back();
    for (std::size_t back = 1; back <= initial_[k].size(); ++back)
      states_.back().push_back(
          leaf_for(initial_[k][back - 1].type(), given_.initial[k].value.name(), tap_text(-int(back))));
    if (!initial_[k].empty())
      for (int tap : given_.initial[k].taps) leaves_.push_back(states_.back()[std::size_t(-tap - 1)]);
  }
  for (const Variable& each : given_.non_sequences)
    if (!each.defined()) throw TypeError(cat(called(), ": one of non_sequences is null"));
  leaves_.insert(leaves_.end(), given_.non_sequences.begin(), given_.non_sequences.end());
}

bool ScanBuilder::adapts_to(const ScanStep& step) {
  const LocationScope here(where_);
  bool changed = false;
  for (std::size_t k = 0; k < std::min(initial_.size(), step.outputs.size()); ++k) {
    const auto& given = given_.initial[k];
    const bool adapts = given.is_weak || is_literal(given.value);
    if (!adapts || initial_[k].empty() || !as_tensor(step.outputs[k].type())) continue;
    // An integer that was written as a number says nothing about its range: a narrow dtype would wrap.
    const DType result = step.outputs[k].dtype();
    // So does a float that is computed of such numbers alone about its digits.
    const bool is_of_numbers =
        result == DType::Float32 && literals_are_wide() && is_of_literals_only(step.outputs[k], states_, given_);
    const DType wanted = is_signed_int(result) ? DType::Int64 : is_of_numbers ? DType::Float64 : result;
    for (auto& initial : initial_[k])
      if (as_tensor(initial.type()) && initial.dtype() != wanted && !holds(initial.dtype(), wanted) &&
          holds(wanted, initial.dtype())) {
        initial = cast(initial, wanted);
        changed = true;
      }
  }
  if (changed) make_leaves();
  return changed;
}

void ScanBuilder::require_known_leaves(const Variables& results, const ScanParts& parts,
                                       const Replacements& updated) const {
  VariableSet known(given_.non_sequences.begin(), given_.non_sequences.end());
  known.insert(parts.elements.begin(), parts.elements.end());
  known.insert(parts.states.begin(), parts.states.end());
  for (auto& [variable, state] : updated) known.insert(variable);
  for (auto& leaf : graph_inputs(results, known))
    if (!known.contains(leaf))
      throw MissingInputError(cat(called(), ": the step uses `", leaf.str(),
                                  "`, which is not among non_sequences, as the option strict demands"));
}

// What a user can name is a constant of the loop, so that the loop is given whatever a later call puts in its place.
void ScanBuilder::name_values(const Variables& results, const Replacements& updated, ScanParts& parts) const {
  Variables own = parts.elements;
  own.insert(own.end(), parts.states.begin(), parts.states.end());
  for (const Variable& each : given_.non_sequences)
    if (each.has_owner()) parts.named.push_back(each);
  for (auto& [variable, state] : updated) own.push_back(variable);
  const Variables held = bitale::named_values(results, own, parts.named);
  parts.named.insert(parts.named.end(), held.begin(), held.end());
}

// The results with states in place of updated shared variables. What is given to the step stays as it was.
Variables ScanBuilder::with_states(const Variables& results, const Replacements& updated, ScanParts& parts) const {
  const TestValuesOff none_are_known;
  Replacements all = updated;
  Variables variables;
  for (auto& [variable, state] : updated) variables.push_back(variable);
  for (const Variable& each : given_.non_sequences)
    if (each.has_owner() && depends_on(each, variables)) {
      parts.constants.emplace_back(Variable(each.type(), each.name()), each);
      all.emplace_back(each, parts.constants.back().first);
    }
  return clone_replace(results, all);
}

ScanResult ScanBuilder::finish(const ScanStep& step) const {
  const LocationScope here(where_);
  const std::string who = called();
  const std::size_t count = step.outputs.size();
  if (!given_.initial.empty() && count != given_.initial.size())
    throw ValueError(cat(who, ": the step gives ", count_text(std::int64_t(count), "result"), ", expected ",
                         given_.initial.size(), ", one per initial value"));
  ScanParts parts;
  parts.n_steps = n_steps_;
  parts.sequences = slices_;
  parts.elements = elements_;
  parts.truncate_gradient = given_.truncate_gradient;
  parts.name = given_.name;
  std::vector<int> first_state(count, -1), traces;
  for (std::size_t k = 0; k < count; ++k) {
    Variable value = step.outputs[k];
    if (!value.defined()) throw TypeError(cat(who, ": result ", k, " of the step is missing"));
    const Variables* states = k < states_.size() && !states_[k].empty() ? &states_[k] : nullptr;
    if (states) {
      const Variable& state = states->front();
      if (as_tensor(state.type()) && as_tensor(value.type())) {
        const TensorType &from = state.tensor(), &to = value.tensor();
        if (from.dtype != to.dtype && from.ndim() == to.ndim() && holds(from.dtype, to.dtype))
          value = cast(value, from.dtype);
        bool fits = from.dtype == value.dtype() && from.ndim() == to.ndim();
        for (int axis = 0; fits && axis < from.ndim(); ++axis) {
          const auto a = from.shape[std::size_t(axis)], b = to.shape[std::size_t(axis)];
          fits = a == b || a == unknown_length || b == unknown_length;
        }
        if (!fits) {
          TypeError error(cat(who, ": result ", k, " starts as ", state.type()->str(), ", and the step makes it ",
                              step.outputs[k].type()->str(), "; it keeps its type from step to step"));
          if (from.ndim() != to.ndim())
            error.add("try", cat("an initial value of ", count_text(to.ndim(), "dimension")));
          else if (from.dtype != to.dtype)
            error.add("try", cat("cast the initial value to ", dtype_name(to.dtype), ", or the next one to ",
                                 dtype_name(from.dtype)));
          else
            error.add("try", "an initial value of the full shape: alloc, or zeros of it");
          if (const Location where = step.outputs[k].where()) error.add("built at", where.str_with_callers());
          throw error;
        }
      }
      first_state[k] = int(parts.states.size());
      for (std::size_t back = 0; back < states->size(); ++back) {
        parts.states.push_back((*states)[back]);
        parts.initial.push_back(initial_[k][back]);
        parts.next.push_back(back == 0 ? value : (*states)[back - 1]);
      }
    }
    // A value that is not a tensor, such as a generator's state, has a final value and no trace.
    traces.push_back(as_tensor(value.type()) || !states ? int(parts.traced.size()) : -1);
    if (traces.back() >= 0) parts.traced.push_back(value);
  }
  const std::size_t first_update = parts.states.size();
  Variables inner = parts.next;
  inner.insert(inner.end(), parts.traced.begin(), parts.traced.end());
  Replacements shared;
  for (auto& [variable, value] : step.updates) {
    shared.emplace_back(variable, Variable(variable.type(), variable.name()));
    parts.states.push_back(shared.back().second);
    parts.initial.push_back(variable);
    inner.push_back(filtered(value, variable.type(), cat(who, ": the update of `", variable.str(), "`")));
  }
  if (step.until.defined()) {
    if (!as_tensor(step.until.type()) || step.until.ndim() != 0 || step.until.dtype() != DType::Bool) {
      TypeError error(cat(who, ": until: expected a scalar bool, got ", step.until.type()->str()));
      error.add("try", as_tensor(step.until.type()) && step.until.ndim() != 0
                           ? "any or all of it, which are scalars"
                           : "a comparison, such as `until(error < tolerance)` or `until(left == 0)`");
      throw error;
    }
    inner.push_back(step.until);
  }
  if (given_.strict) require_known_leaves(inner, parts, shared);
  name_values(inner, shared, parts);
  if (!shared.empty()) inner = with_states(inner, shared, parts);
  auto at = inner.begin();
  for (auto* list : {&parts.next, &parts.traced}) {
    for (auto& each : *list) each = *at++;
  }
  for (std::size_t k = 0; k < step.updates.size(); ++k) parts.next.push_back(*at++);
  if (step.until.defined()) parts.until = *at;
  // A sequence that the step does not use only determines the number of steps.
  if (inner.empty()) throw ValueError(cat(who, ": the step gives no result"));
  const Apply node = make_scan(parts);

  ScanResult out;
  out.steps = parts.until.defined() ? node.outputs().back() : n_steps_;
  for (std::size_t k = 0; k < count; ++k) {
    out.finals.push_back(first_state[k] < 0 ? Variable() : node.output(first_state[k]));
    if (traces[k] < 0) {
      out.traces.push_back(out.finals.back());
      continue;
    }
    const Variable trace = node.output(int(parts.states.size()) + traces[k]);
    out.traces.push_back(parts.until.defined() ? rows(trace, {}, Operand(out.steps)) : trace);
  }
  for (std::size_t k = 0; k < step.updates.size(); ++k)
    out.updates.emplace_back(step.updates[k].first, node.output(int(first_update + k)));
  return out;
}

}  // namespace bitale
