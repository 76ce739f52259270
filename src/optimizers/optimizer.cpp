// The two forms of a step, by the formulas of rules: a pure function of variables, and updates of shared variables.
#include <algorithm>
#include <map>
#include <unordered_set>

#include "bitale/autodiff/gradient.hpp"
#include "bitale/compile/shared.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/creation.hpp"
#include "bitale/ops/known.hpp"
#include "core/call_scope.hpp"
#include "optimizers/rule.hpp"

namespace bitale::optimizers {

namespace {

// By name: the rules of several files register themselves in no particular order.
std::map<std::string_view, RuleRecord>& table() {
  static auto& all = *new std::map<std::string_view, RuleRecord>;
  return all;
}

// The name of the optimiser itself, by which errors and nodes name a chain.
const char* name_of(const std::vector<Optimizer::Part>& parts) {
  const auto found = std::ranges::find(parts, Role::optimizer, [](auto& part) { return part.rule->role; });
  return found == parts.end() ? "chain" : found->rule->name.data();
}

// "adam: parameter 1 `w`", for errors.
std::string described(const char* name, const char* kind, std::size_t position, const Variable& variable) {
  return cat(name, ": ", kind, " ", position, variable.name().empty() ? "" : cat(" `", variable.name(), "`"));
}

void require_parameters(const char* name, const Variables& parameters) {
  if (parameters.empty()) throw ValueError(cat(name, ": expected parameters, got none"));
  std::unordered_set<const VariableNode*> seen;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const Variable& each = parameters[k];
    const TensorType* tensor = as_tensor(each.type());
    if (!tensor || !is_float(tensor->dtype))
      throw TypeError(
          cat(described(name, "parameter", k, each), ": expected a tensor of a float dtype, got ", each.type()->str()));
    if (!seen.insert(each.node()).second)
      throw ValueError(cat(described(name, "parameter", k, each), " is given twice"));
  }
}

void require_shared(const char* name, const Variables& parameters) {
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    if (is_shared(parameters[k])) continue;
    TypeError error(cat(described(name, "parameter", k, parameters[k]), ": expected a shared variable, got ",
                        parameters[k].str(), " of type ", parameters[k].type()->str()));
    error.add("hint", "steps of other variables are expressions: init() and update() of the optimizer without a loss");
    throw error;
  }
}

// What is used with a parameter, in the dtype of its computation.
Variable fitting(const char* name, const char* kind, std::size_t k, const Variable& given, const Variable& parameter) {
  const DType dtype = computing_dtype(parameter.dtype());
  if (const TensorType* tensor = as_tensor(given.type()); !tensor || is_complex(tensor->dtype))
    throw TypeError(cat(described(name, kind, k, given), ": expected a real tensor, got ", given.type()->str()));
  if (given.ndim() != parameter.ndim())
    throw ShapeError(cat(described(name, kind, k, given), ": expected ", parameter.ndim(),
                         " dimensions, as its parameter has, got ", given.ndim()));
  return cast(given, dtype);
}

// How many slots all parts have together.
std::size_t count_of_slots(const std::vector<Optimizer::Part>& parts) {
  std::size_t count = 0;
  for (const auto& part : parts) count += part.rule->slots.size();
  return count;
}

}  // namespace

const RuleRecord& register_rule(RuleRecord record) {
  const std::string_view name = record.name;
  return table().emplace(name, std::move(record)).first->second;
}

std::vector<const RuleRecord*> rules() {
  std::vector<const RuleRecord*> out;
  for (const auto& [name, rule] : table()) out.push_back(&rule);
  return out;
}

Optimizer optimizer_of(const RuleRecord& rule, std::vector<Setting> settings) {
  for (std::size_t i = 0; i < settings.size(); ++i)
    settings[i].check(cat(rule.name, ": ", rule.settings[i].name), rule.settings[i].range);
  return Optimizer({{&rule, std::move(settings)}});
}

Optimizer chain(const std::vector<Optimizer>& given) {
  std::vector<Optimizer::Part> parts;
  for (const Optimizer& each : given) {
    for (const Optimizer::Part& part : each.parts()) {
      if (!parts.empty() && (part.rule->role < parts.back().rule->role ||
                             (part.rule->role == Role::optimizer && parts.back().rule->role == Role::optimizer)))
        throw ValueError(cat("chain: expected what changes gradients, then one optimizer, then averages; got ",
                             part.rule->name, " after ", parts.back().rule->name));
      parts.push_back(part);
    }
  }
  return Optimizer(std::move(parts));
}

Optimizer::Optimizer(std::vector<Part> parts) : parts_(std::make_shared<const std::vector<Part>>(std::move(parts))) {}

void Optimizer::require_complete() const {
  if (std::ranges::any_of(*parts_, [](const Part& part) { return part.rule->role == Role::optimizer; })) return;
  ValueError error(cat(str(), " has no optimizer"));
  error.add("hint", "chain it with one: what changes gradients before sgd or adam, averages after it");
  throw error;
}

bool Optimizer::has_count() const {
  return std::ranges::any_of(*parts_, [](const Part& part) {
    return part.rule->counts || std::ranges::any_of(part.settings, &Setting::is_schedule);
  });
}

std::vector<std::string> Optimizer::slot_names() const {
  std::vector<std::string> out;
  std::map<std::string_view, int> uses;
  for (const Part& part : *parts_)
    for (const SlotRecord& slot : part.rule->slots) {
      const int use = ++uses[slot.name];
      out.push_back(use == 1 ? std::string(slot.name) : cat(slot.name, "_", use));
    }
  return out;
}

std::string Optimizer::str() const {
  std::vector<std::string> texts;
  for (const Part& part : *parts_) {
    std::vector<std::string> settings;
    for (std::size_t i = 0; i < part.settings.size(); ++i)
      settings.push_back(cat(part.rule->settings[i].name, "=", part.settings[i].str()));
    texts.push_back(cat(part.rule->name, "(", join(settings, ", "), ")"));
  }
  return texts.size() == 1 ? texts[0] : cat("chain(", join(texts, ", "), ")");
}

std::vector<Array> Optimizer::initial_slots(const Array& parameter) const {
  if (!is_float(parameter.dtype()))
    throw TypeError(
        cat(name_of(*parts_), ": expected a parameter of a float dtype, got one of ", dtype_name(parameter.dtype())));
  const DType dtype = computing_dtype(parameter.dtype());
  std::vector<Array> out;
  for (const Part& part : *parts_) {
    for (const SlotRecord& slot : part.rule->slots) {
      if (slot.start == Start::parameter) {
        out.push_back(parameter.astype(dtype).copy());
        continue;
      }
      double value = 0;
      if (slot.start == Start::setting) {
        const auto known = part.settings[slot.setting].number();
        if (!known)
          throw ValueError(cat(part.rule->name, ": expected a number as ", part.rule->settings[slot.setting].name,
                               ", got ", part.settings[slot.setting].str()));
        value = *known;
      }
      out.push_back(Array::full(dtype, parameter.shape(), value));
    }
  }
  return out;
}

State Optimizer::init(const Variables& parameters, Source where) const {
  const LocationScope here(where);
  require_complete();
  const char* name = name_of(*parts_);
  require_parameters(name, parameters);
  State out;
  // An expression, so that a function may have it as an input in place of the state.
  if (has_count()) out.count = zeros(Operands(Variables{}), DType::Int64);
  for (const Part& part : *parts_) {
    for (const SlotRecord& slot : part.rule->slots) {
      Variables& each = out.slots.emplace_back();
      for (const Variable& parameter : parameters) {
        const DType dtype = computing_dtype(parameter.dtype());
        each.push_back(
            slot.start == Start::parameter ? tensor_copy(cast(parameter, dtype))
            : slot.start == Start::setting
                ? full_like(parameter, part.settings[slot.setting].at(constant(Array(std::int64_t(0)))), dtype)
                : zeros_like(parameter, dtype));
      }
    }
  }
  return out;
}

std::pair<Variables, State> Optimizer::update(const Variables& gradients, const State& state,
                                              const Variables& parameters, Source where) const {
  const LocationScope here(where);
  require_complete();
  const char* name = name_of(*parts_);
  const CallScope call(name);
  require_parameters(name, parameters);
  const std::size_t count = parameters.size();
  const auto require_one_each = [&](const char* kind, std::size_t given) {
    if (given != count) throw ValueError(cat(name, ": expected ", count, " ", kind, ", got ", given));
  };
  require_one_each("gradients", gradients.size());
  if (state.slots.size() != count_of_slots(*parts_) || state.count.defined() != has_count())
    throw ValueError(cat(name, ": expected a state with ", has_count() ? "a count and " : "no count and ",
                         count_of_slots(*parts_), " slots, got one with ", state.count.defined() ? "a" : "no",
                         " count and ", state.slots.size(), " slots"));
  if (state.count.defined() && (state.count.ndim() != 0 || !is_integer(state.count.dtype())))
    throw TypeError(cat(name, ": expected an integer scalar as count of the state, got ", state.count.type()->str()));

  Variables values, changes;
  for (std::size_t k = 0; k < count; ++k) {
    values.push_back(cast(parameters[k], computing_dtype(parameters[k].dtype())));
    changes.push_back(fitting(name, "gradient", k, gradients[k], parameters[k]));
  }
  State next;
  for (const Part& part : *parts_) {
    const std::size_t first = next.slots.size(), own = part.rule->slots.size();
    next.slots.resize(first + own);
    for (std::size_t s = 0; s < own; ++s) require_one_each("variables in each slot", state.slots[first + s].size());
    const Variable over_all = part.rule->over_all ? part.rule->over_all(changes) : Variable();
    for (std::size_t k = 0; k < count; ++k) {
      Variables slots;
      for (std::size_t s = 0; s < own; ++s)
        slots.push_back(fitting(name, "state", k, state.slots[first + s][k], parameters[k]));
      Moved moved = part.rule->formula(part.settings, {changes[k], values[k], slots, state.count, over_all});
      changes[k] = std::move(moved.change);
      for (std::size_t s = 0; s < own; ++s) next.slots[first + s].push_back(std::move(moved.slots[s]));
    }
  }
  if (state.count.defined()) next.count = cast(state.count + 1, state.count.dtype());
  Variables out;
  for (std::size_t k = 0; k < count; ++k) out.push_back(cast(values[k] + changes[k], parameters[k].dtype()));
  return {std::move(out), std::move(next)};
}

Updates Optimizer::updates(const Variable& loss, const Variables& parameters, Source where) const {
  const LocationScope here(where);
  require_complete();
  require_parameters(name_of(*parts_), parameters);
  require_shared(name_of(*parts_), parameters);
  return updates(grad(loss, parameters), parameters, where);
}

Updates Optimizer::updates(const Variables& gradients, const Variables& parameters, Source where) const {
  const LocationScope here(where);
  require_complete();
  require_parameters(name_of(*parts_), parameters);
  require_shared(name_of(*parts_), parameters);
  const std::vector<std::string> names = slot_names();
  Updates out;
  if (has_count()) out.state.count = shared(Array(std::int64_t(0)), "count");
  out.state.slots.resize(names.size());
  for (const Variable& parameter : parameters) {
    std::vector<Array> values = initial_slots(get_value(parameter, Borrow::Yes));
    for (std::size_t s = 0; s < names.size(); ++s)
      out.state.slots[s].push_back(shared(values[s],
                                          parameter.name().empty() ? names[s] : cat(parameter.name(), ".", names[s]),
                                          Borrow::Yes, parameter.static_shape()));
  }
  const auto [moved, next] = update(gradients, out.state, parameters, where);
  for (std::size_t k = 0; k < parameters.size(); ++k) out.emplace_back(parameters[k], moved[k]);
  for (std::size_t s = 0; s < names.size(); ++s)
    for (std::size_t k = 0; k < parameters.size(); ++k) out.emplace_back(out.state.slots[s][k], next.slots[s][k]);
  if (next.count.defined()) out.emplace_back(out.state.count, next.count);
  return out;
}

}  // namespace bitale::optimizers
