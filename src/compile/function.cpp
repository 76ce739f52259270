// Calls of a Function, and its descriptions.
#include "bitale/compile/function.hpp"

#include <algorithm>
#include <array>
#include <ostream>

#include "bitale/core/config.hpp"
#include "bitale/core/resident.hpp"
#include "bitale/printing/printing.hpp"
#include "compile/describe_failure.hpp"
#include "compile/function_impl.hpp"
#include "compile/into_receiver.hpp"
#include "link/measured.hpp"

namespace bitale {

const Array& Results::single() const& {
  if (values_.size() == 1) return values_[0];
  throw ValueError(
      cat("a function with ", values_.size(), " outputs gives ", values_.size(), " results, not one; index them"));
}

void Results::refuse_position(std::size_t i) const {
  throw IndexError(cat("the call gave ", values_.size(), " results, numbered from 0: there is no result ", i));
}

void Results::refuse_count(std::size_t expected) const {
  throw ValueError(cat("expected ", expected, " results, the call gave ", values_.size()));
}

namespace {

constexpr std::size_t max_plain_states = 4, max_plain_views = 16;

// Empty if not all lengths are known, or if there are too many containers.
std::vector<StateLayout> known_layouts(std::span<const Ref<const Container>> containers) {
  std::vector<StateLayout> out;
  if (containers.size() > max_plain_states) return out;
  for (auto& container : containers) {
    const TensorType& storage = *container->type()->storage();
    for (auto length : storage.shape)
      if (length == unknown_length) return {};
    const Array rows = Array::empty(storage.dtype, storage.shape);
    out.push_back({rows.shape(), rows.strides()});
  }
  return out;
}

}  // namespace

Function::Impl::Impl(const Compiled& compiled, const Variables& defaults) : Compiled(compiled) {
  for (auto& variable : shared) containers.emplace_back(container_of(variable));
  for (auto at : updated) update_targets.push_back(containers[at].get());
  default_of.resize(defaults.size(), no_default);
  for (std::size_t i = 0; i < defaults.size(); ++i) {
    if (!defaults[i].defined()) continue;
    default_of[i] = containers.size();
    containers.emplace_back(container_of(defaults[i]));
  }
  std::vector<const Container*> all;
  for (auto& container : containers) all.push_back(container.get());
  claim = SharedClaim::of(std::move(all), update_targets);
  if (containers.empty()) direct = thunk->direct();
  if (!updated.empty() && default_of.empty() && !thunk->keeps_values()) plain_states = known_layouts(containers);
  if (!report.time_rules) return;
  profiled = std::make_unique<ProfiledCalls>(threads, thunk->measured().has_loops);
  if (config::get_bool("profile"))
    profile_entry = std::make_unique<ProfileEntry>([this] { return profile_text(profile()); });
}

// Adds the function's name to an error of the call.
template <class Call>
void Function::Impl::named(Call call) const {
  try {
    call();
  } catch (Error& error) {
    describe_failure(error, name);
    throw;
  }
}

template <class Action>
void Function::Impl::with_views(std::span<const Array> values, Action action) const {
  if (values.size() != inputs.size()) {
    std::vector<std::string> names;
    for (auto& input : inputs) names.push_back(input.str());
    throw TypeError(cat(name.empty() ? std::string("function") : name, ": takes ",
                        count_text(std::int64_t(inputs.size()), "argument"), " (", join(names, ", "), "), got ",
                        values.size()));
  }
  SmallVector<View, 8> views;
  std::vector<Array> converted;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].defined() && inputs[i].type()->is_valid_value(values[i])) {
      views.push_back(view_of(values[i]));
    } else {
      if (converted.empty()) converted.reserve(values.size());  // views point into it
      converted.push_back(accept(i, values[i]));
      views.push_back(view_of(converted.back()));
    }
  }
  action({views.data(), views.size()});
}

Results Function::Impl::call(std::span<const Array> values) const {
  ArrayReceiver results(output_count);
  with_views(values, [&](std::span<const View> views) { run(views, results); });
  return Results(std::move(results).take());
}

Array Function::Impl::accept(std::size_t i, const Array& value) const {
  try {
    return inputs[i].type()->filter(value, Strict::No, downcast);
  } catch (Error& error) {
    error.add("in", label(i));
    throw;
  }
}

namespace {

// Outputs are passed to the caller's receiver; new values of shared variables are held back until the call has
// succeeded.
class UpdateReceiver final : public Receiver {
 public:
  // `homes`: the containers of the inputs; `behind`: the Arrays behind them. Both are empty if nothing is kept on a
  // device.
  UpdateReceiver(Receiver& outputs, std::size_t output_count, std::span<const Container* const> targets,
                 std::vector<std::optional<Array>>& updates, std::span<const Container* const> homes,
                 std::span<const Array* const> behind)
      : outputs_(outputs),
        output_count_(int(output_count)),
        targets_(targets),
        updates_(updates),
        homes_(homes),
        behind_(behind) {}

  void* allocate(int output, DType dtype, std::span<const std::int64_t> shape) override {
    if (output < output_count_) return outputs_.allocate(output, dtype, shape);
    const Container& target = *targets_[std::size_t(output - output_count_)];
    return update(output).emplace(target.memory_for_update(Dims(shape))).mutable_data();
  }
  void* receive(int output, Array value) override {
    if (output < output_count_) return outputs_.receive(output, std::move(value));
    return update(output).emplace(std::move(value)).mutable_data();
  }
  void begin(std::span<const View> inputs, bool is_long) override { outputs_.begin(inputs, is_long); }
  const Array* behind(int input) const override {
    if (homes_.empty()) return nullptr;
    const Container* home = homes_[std::size_t(input)];
    if (!home) return outputs_.behind(input);
    const Array* value = behind_[std::size_t(input)];
    return resident_in(*value) || home->may_be_kept() ? value : nullptr;
  }
  void keep_input(int input, const Array& on_device) override {
    if (const Container* home = homes_[std::size_t(input)]) home->keep(*behind_[std::size_t(input)], on_device);
  }
  bool may_stay(int output) const override { return output >= output_count_ || outputs_.may_stay(output); }

 private:
  std::optional<Array>& update(int output) { return updates_[std::size_t(output - output_count_)]; }

  Receiver& outputs_;
  const int output_count_;
  const std::span<const Container* const> targets_;
  std::vector<std::optional<Array>>& updates_;
  const std::span<const Container* const> homes_;
  const std::span<const Array* const> behind_;
};

View view_of_value(const Array& value) {
  const Resident* resident = resident_in(value);
  if (!resident) return view_of(value);
  return {const_cast<Resident*>(resident), resident->shape().data(), resident->strides().data()};
}

// Values on a device are held. If another call has taken one of them to update it, this waits, and reads all values
// again.
void hold_snapshot(const std::vector<Ref<const Container>>& containers, std::vector<Array>& values,
                   std::vector<const Resident*>& held) {
  for (;;) {
    append_snapshot(containers, values);
    const auto taken = std::ranges::find_if(values, [&](const Array& value) {
      const Resident* resident = resident_in(value);
      if (!resident) return false;
      if (!resident->hold()) return true;
      held.push_back(resident);
      return false;
    });
    if (taken == values.end()) return;
    for (const Resident* resident : held) resident->unhold();
    held.clear();
    resident_in(*taken)->wait_while_taken();
    values.clear();
  }
}

}  // namespace

template <class Action>
void Function::Impl::with_shared(std::span<const View> values, Receiver& results, std::size_t outputs,
                                 Action action) const {
  if (containers.empty()) return action(values, results);
  Pool<SharedValues>::Loan loan(shared_values);
  struct Hold {
    SharedValues& values;
    ~Hold() { values.release(); }
  } hold{*loan};
  auto& [inputs_and_shared, homes, behind, shared_now, held, updates, released] = *loan;
  std::optional<SharedAccess> access;
  if (updated.empty()) {
    hold_snapshot(containers, shared_now, held);
  } else {
    released.reserve(3 * updated.size());
    updates.resize(updated.size());
    access.emplace(claim);
    for (auto& container : containers) shared_now.push_back(container->held());
  }
  const bool may_keep = thunk->keeps_values();
  if (!may_keep)
    for (std::size_t i = 0; i < containers.size(); ++i)
      if (resident_in(shared_now[i])) shared_now[i] = containers[i]->fetched(shared_now[i]);
  inputs_and_shared.assign(values.begin(), values.end());
  for (std::size_t i = 0; i < default_of.size(); ++i)
    if (is_left_out(i, values[i])) inputs_and_shared[i] = view_of_value(shared_now[default_of[i]]);
  for (std::size_t i = 0; i < shared.size(); ++i) inputs_and_shared.push_back(view_of_value(shared_now[i]));
  if (may_keep) {
    homes.assign(inputs_and_shared.size(), nullptr);
    behind.assign(inputs_and_shared.size(), nullptr);
    const auto comes_from = [&](std::size_t input, std::size_t container) {
      homes[input] = containers[container].get();
      behind[input] = &shared_now[container];
    };
    for (std::size_t i = 0; i < default_of.size(); ++i)
      if (is_left_out(i, values[i])) comes_from(i, default_of[i]);
    for (std::size_t i = 0; i < shared.size(); ++i) comes_from(values.size() + i, i);
  }
  UpdateReceiver receiver(results, outputs, update_targets, updates, homes, behind);
  action(std::span<const View>(inputs_and_shared), receiver);
  if (updated.empty()) return;
  // Nothing failed: all shared variables change together.
  access->commit([&] {
    for (std::size_t k = 0; k < updated.size(); ++k) update_targets[k]->update(std::move(*updates[k]), released);
  });
}

namespace {

// New values of shared variables are written to the memory that the containers have for them.
class PlainReceiver final : public Receiver {
 public:
  PlainReceiver(Receiver& outputs, std::size_t output_count, std::span<void* const> next)
      : outputs_(outputs), output_count_(int(output_count)), next_(next) {}
  void* allocate(int output, DType dtype, std::span<const std::int64_t> shape) override {
    return output < output_count_ ? outputs_.allocate(output, dtype, shape)
                                  : next_[std::size_t(output - output_count_)];
  }
  void* receive(int output, Array value) override {
    return output < output_count_ ? outputs_.receive(output, std::move(value))
                                  : Receiver::receive(output, std::move(value));
  }
  void begin(std::span<const View> inputs, bool is_long) override { outputs_.begin(inputs, is_long); }

 private:
  Receiver& outputs_;
  const int output_count_;
  const std::span<void* const> next_;
};

}  // namespace

bool Function::Impl::run_plain(std::span<const View> values, Receiver& results) const {
  if (values.size() + containers.size() > max_plain_views) return false;
  std::array<View, max_plain_views> all;
  std::array<void*, max_plain_states> next;
  std::copy(values.begin(), values.end(), all.begin());
  SharedAccess access(claim);
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const auto at = std::find(updated.begin(), updated.end(), i);
    const auto memories = containers[i]->memories(at != updated.end());
    if (!memories) return false;
    all[values.size() + i] = {memories->now, plain_states[i].shape.data(), plain_states[i].strides.data()};
    if (at != updated.end()) next[std::size_t(at - updated.begin())] = memories->next;
  }
  PlainReceiver receiver(results, output_count, std::span(next).first(updated.size()));
  named([&] { thunk->run(std::span(all).first(values.size() + containers.size()), receiver); });
  access.commit([&] {
    for (auto* target : update_targets) target->exchange();
  });
  return true;
}

void Function::Impl::run(std::span<const View> values, Receiver& results) const {
  TimedCall timed(profiled.get());
  if (!plain_states.empty() && run_plain(values, results)) return timed.succeed();
  with_shared(values, results, output_count,
              [&](std::span<const View> all, Receiver& receiver) { named([&] { thunk->run(all, receiver); }); });
  timed.succeed();
}

void Function::Impl::run_some(std::span<const View> values, std::span<const int> outputs, Receiver& results) const {
  std::vector<int> wanted;
  for (int output : outputs) {
    if (output < 0 || output >= int(output_count))
      throw IndexError(cat(name.empty() ? "function" : name, ": there is no output ", output, " among ", output_count));
    if (std::find(wanted.begin(), wanted.end(), output) != wanted.end())
      throw ValueError(cat(name.empty() ? "function" : name, ": output ", output, " is requested twice"));
    wanted.push_back(output);
  }
  for (std::size_t k = 0; k < updated.size(); ++k) wanted.push_back(int(output_count + k));
  TimedCall timed(profiled.get());
  with_shared(values, results, outputs.size(), [&](std::span<const View> all, Receiver& receiver) {
    named([&] { thunk->run_some(all, wanted, receiver); });
  });
  timed.succeed();
}

const link::DirectCode* direct_code_of(const Function& function) { return function.impl().direct; }

void Function::Impl::run_into(std::span<const View> values, std::span<const View> targets, Receiver* others) const {
  if (direct && !others && direct->run(values, targets)) return;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (is_left_out(i, values[i])) continue;
    const Dims& known = input_types[i]->shape;
    for (std::size_t axis = 0; axis < known.size(); ++axis)
      if (known[axis] != unknown_length && known[axis] != values[i].shape[axis])
        static_cast<void>(accept(i, borrow_value(*inputs[i].type(), values[i])));  // throws the appropriate error
  }
  IntoReceiver results({targets, input_types, output_types, thunk->writes_last(), others});
  run(values, results);
  results.finish();
}

void Function::run(std::span<const View> inputs, Receiver& results) const { impl().run(inputs, results); }
void Function::run_some(std::span<const View> inputs, std::span<const int> outputs, Receiver& results) const {
  impl().run_some(inputs, outputs, results);
}
void Function::run_into(std::span<const View> inputs, std::span<const View> outputs, Receiver* others) const {
  impl().run_into(inputs, outputs, others);
}

void Function::run_into(std::span<const Array> inputs, std::span<const Array> outputs) const {
  const std::string who = impl().name.empty() ? "function" : impl().name;
  if (outputs.size() != impl().output_count)
    throw ValueError(cat(who, ": run_into: expected ", impl().output_count, " outputs, got ", outputs.size()));
  SmallVector<View, 8> targets;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const TensorType& type = *impl().output_types[i];
    outputs[i].require_defined();
    if (!as_tensor(impl().graph->outputs()[i].type()))
      throw TypeError(cat(who, ": run_into: output ", i, " is a ", impl().graph->outputs()[i].type()->str(),
                          ", which is not written into arrays"));
    if (outputs[i].dtype() != type.dtype || outputs[i].ndim() != type.ndim())
      throw TypeError(cat(who, ": run_into: output ", i, ": expected ", type.str(), ", got an array of ",
                          outputs[i].ndim(), " dimensions and dtype ", dtype_name(outputs[i].dtype())));
    if (!outputs[i].writeable()) throw ValueError(cat(who, ": run_into: output ", i, ": the array is read-only"));
    targets.push_back(view_of(outputs[i]));
  }
  impl().with_views(inputs, [&](std::span<const View> views) {
    impl().run_into(views, {targets.data(), targets.size()}, nullptr);
  });
}

void Function::require_signature(std::span<const Slot> inputs, std::span<const Slot> outputs) const {
  const auto require_tensors = [&](std::string_view what, const Variables& variables, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      if (!as_tensor(variables[i].type()))
        throw TypeError(cat("as: ", what, " ", i, " is ", variables[i].type()->str(), ", not a tensor"));
  };
  require_tensors("input", impl().inputs, impl().inputs.size());
  require_tensors("output", impl().graph->outputs(), impl().output_count);
  const auto check = [&](std::string_view what, std::span<const TensorType* const> types, std::span<const Slot> slots) {
    if (slots.size() != types.size())
      throw TypeError(cat("as: the function has ", types.size(), " ", what, "s, the signature ", slots.size()));
    for (std::size_t i = 0; i < slots.size(); ++i)
      if (slots[i].dtype != types[i]->dtype || slots[i].ndim != types[i]->ndim())
        throw TypeError(cat("as: ", what, " ", i, " is ", types[i]->str(), "; the signature says ",
                            dtype_name(slots[i].dtype), " of ", slots[i].ndim, " dimensions"));
  };
  check("input", std::span(impl().input_types).first(impl().inputs.size()), inputs);
  check("output", impl().output_types, outputs);
}

Array Function::accept(std::size_t i, const Array& value) const {
  if (i >= inputs().size()) throw IndexError(cat("function: there is no input ", i, " of ", inputs().size()));
  return impl().accept(i, value);
}

Results Function::call(std::span<const Array> inputs) const { return impl().call(inputs); }

Results Function::call_some(std::span<const Array> inputs, std::span<const int> outputs) const {
  ArrayReceiver results(outputs.size());
  impl().with_views(inputs, [&](std::span<const View> views) { impl().run_some(views, outputs, results); });
  return Results(std::move(results).take());
}

Results Function::call(std::span<const Array> inputs, std::span<const std::pair<std::string, Array>> named) const {
  std::vector<const Array*> slots(impl().inputs.size(), nullptr);
  const std::string caller = impl().name.empty() ? "function" : impl().name;
  if (inputs.size() > slots.size())
    throw TypeError(
        cat(caller, ": takes ", count_text(std::int64_t(slots.size()), "argument"), ", got ", inputs.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i) slots[i] = &inputs[i];
  std::vector<std::string> names;
  for (auto& input : impl().inputs) names.push_back(input.name());
  for (auto& [name, value] : named) {
    const std::size_t at = std::size_t(std::find(names.begin(), names.end(), name) - names.begin());
    if (at == names.size()) {
      const std::string near = closest(name, names);
      throw TypeError(
          cat(caller, ": has no input `", name, "`", near.empty() ? "" : cat("; did you mean `", near, "`?")));
    }
    if (slots[at]) throw TypeError(cat(caller, ": input `", name, "` is given twice"));
    slots[at] = &value;
  }
  std::vector<Array> values;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (!slots[i]) throw TypeError(cat(caller, ": input ", i, " (`", impl().inputs[i].str(), "`) is missing"));
    values.push_back(*slots[i]);
  }
  return impl().call(values);
}

void Function::free() const {
  impl().thunk->free();
  impl().shared_values.clear();
}

const std::string& Function::name() const { return impl().name; }
const Variables& Function::inputs() const { return impl().inputs; }
std::size_t Function::output_count() const { return impl().output_count; }
const FunctionGraph& Function::graph() const { return *impl().graph; }
const Variables& Function::built() const { return impl().built; }

std::vector<std::string> Function::output_labels() const {
  std::vector<std::string> labels(impl().output_count);
  for (auto at : impl().updated) labels.push_back(cat("update of ", impl().shared[at].str()));
  return labels;
}

std::vector<Variable> Function::shared_variables() const { return impl().shared; }
std::vector<Variable> Function::updated_variables() const {
  std::vector<Variable> out;
  for (auto at : impl().updated) out.push_back(impl().shared[at]);
  return out;
}
const Mode& Function::mode() const { return impl().mode; }
const CompileTimes& Function::times() const { return impl().times; }

bool Function::is_profiled() const { return impl().profiled != nullptr; }
Profile Function::profile() const { return impl().profile(); }

Profile Function::Impl::profile() const {
  if (!profiled)
    throw ValueError(
        cat(name.empty() ? "function" : name,
            ": was compiled without a profile; compile it with the option profile, or set the flag `profile`"));
  return profile_of(*profiled, {name, mode, report, times, build_time, *thunk});
}

const RewriteReport& Function::rewrite_report() const { return impl().report; }

std::string Function::explain() const {
  const RewriteReport& report = impl().report;
  return cat(report.nodes_before, " nodes were written, ", report.nodes_after, " are left after rewriting.\n",
             bitale::explain(*impl().graph));
}

std::string Function::dprint(std::string_view stage, Provenance provenance) const {
  if (stage != "graph") return impl().thunk->text(stage);
  DprintOptions options;
  options.provenance = provenance == Provenance::Yes;
  options.note = [this](const Apply& node) { return impl().thunk->note(node); };
  options.outputs = output_labels();
  return bitale::dprint(*impl().graph, options);
}

Array eval(const Variable& expression, const std::vector<std::pair<Variable, Array>>& inputs) {
  Variables variables;
  std::vector<Array> values;
  for (auto& [variable, value] : inputs) {
    variables.push_back(variable);
    values.push_back(value);
  }
  FunctionOptions options;
  options.on_unused_input = OnUnusedInput::Ignore;
  return function(variables, expression, options).call(values).single();
}

std::ostream& operator<<(std::ostream& stream, const Results& results) {
  if (results.size() == 1) return stream << results[0];
  for (std::size_t i = 0; i < results.size(); ++i) stream << (i ? "\n" : "") << results[i];
  return stream;
}

}  // namespace bitale
