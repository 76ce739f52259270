// function(): check what the user asks for, build the FunctionGraph, rewrite it, link it, wrap it.
#include "bitale/compile/function.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ostream>
#include <unordered_set>

#include "bitale/compile/profile.hpp"
#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/printing/printing.hpp"
#include "bitale/rewriting/rewriting.hpp"
#include "compile/into_receiver.hpp"
#include "compile/profile_at_exit.hpp"
#include "compile/profiled_calls.hpp"
#include "core/pool.hpp"
#include "link/direct.hpp"
#include "link/linker.hpp"
#include "link/measured.hpp"

namespace bitale {

const Array& Results::single() const {
  if (values_.size() == 1) return values_[0];
  throw ValueError(
      cat("a function with ", values_.size(), " outputs gives ", values_.size(), " results, not one; index them"));
}

struct Function::Impl {
  std::string name;
  Variables inputs, built;                     // the user's
  std::vector<const TensorType*> input_types;  // the inputs', then the shared variables'
  std::vector<const TensorType*> output_types;
  Variables shared;                              // the user's; their containers follow the inputs
  std::vector<Ref<const Container>> containers;  // of `shared`
  std::vector<std::size_t> updated;              // which of `shared` each update goes to
  std::vector<const Container*> update_targets;
  std::size_t output_count = 0;
  Downcast downcast = Downcast::FloatLiteral;
  Mode mode{"jit", "fast_run"};
  std::shared_ptr<const FunctionGraph> graph;
  std::unique_ptr<link::Thunk> thunk;
  const link::DirectCode* direct = nullptr;  // of the thunk, where it has no more inputs and outputs than the user's
  CompileTimes times;
  double build_time = 0;  // milliseconds, of `times.total`
  RewriteReport report;
  mutable std::unique_ptr<ProfiledCalls> profiled;  // with a profile
  std::unique_ptr<ProfileEntry> profile_entry;

  // What a call with shared variables holds on to.
  struct SharedValues {
    std::vector<View> inputs;
    std::vector<Array> values;
    std::vector<std::optional<Array>> updates;
    void let_go() {
      values.clear();
      for (auto& update : updates) update.reset();
    }
  };
  mutable Pool<SharedValues> shared_values{[] { return std::make_unique<SharedValues>(); }};

  std::string label(std::size_t i) const {
    const std::string& given = inputs[i].name();
    return cat(name.empty() ? std::string("function") : name, ": argument ", i + 1,
               given.empty() ? "" : cat(" (`", given, "`)"));
  }
  void run(std::span<const View> values, Receiver& results) const;
  void run_some(std::span<const View> values, std::span<const int> outputs, Receiver& results) const;
  // Shared variables are given to the action after the inputs, and get their new values from what it leaves in the
  // receiver after so many outputs.
  template <class Action>
  void with_shared(std::span<const View> values, Receiver& results, std::size_t outputs, Action action) const;
  void run_into(std::span<const View> values, std::span<const View> targets, Receiver* others) const;
  Profile profile() const;
  Array accept(std::size_t i, const Array& value) const;
  // The values as inputs, converted where need be, for the action.
  template <class Action>
  void with_views(std::span<const Array> values, Action action) const;
  Results call(std::span<const Array> values) const;
};

namespace {

using Clock = std::chrono::steady_clock;
double milliseconds(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

template <class E>
[[noreturn]] void fail_at(E error, const Variable& variable) {
  if (const std::string where = variable.where().str(); !where.empty()) error.add("built", where);
  throw error;
}

void check_inputs(const Variables& inputs) {
  std::unordered_set<VariableNode*> seen;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Variable& input = inputs[i];
    if (!input) throw TypeError(cat("function: input ", i + 1, " is null"));
    if (!as_tensor(input.type()))
      throw TypeError(cat("function: input ", i + 1, " has the type ", input.type()->str()));
    if (is_shared(input))
      fail_at(TypeError(cat("function: input ", i + 1, " (`", input.str(),
                            "`) is a shared variable; its value comes from its container, leave it out of the inputs")),
              input);
    if (input.is_constant())
      fail_at(TypeError(cat("function: input ", i + 1, " is the constant ", input.str())), input);
    if (!seen.insert(input.node()).second)
      fail_at(UnusedInputError(cat("function: the variable `", input.str(), "` is given as an input twice")), input);
  }
}

// The update expression as a value of the shared variable's type.
Variable checked_update(const Variable& target, const Variable& expression) {
  if (!is_shared(target))
    fail_at(TypeError(cat("function: updates: `", target.str(), "` is not a shared variable")), target);
  if (target.type()->is_super(*expression.type())) return expression;
  TypeError error(cat("function: updates: the new value of `", target.str(), "` has another type\n", "  expected ",
                      target.type()->str(), "\n  got      ", expression.type()->str()));
  if (as_tensor(expression.type()) && expression.dtype() != target.dtype() && expression.ndim() == target.ndim())
    error.add("hint", cat("cast(value, ", dtype_name(target.dtype()), ")"));
  fail_at(std::move(error), expression);
}

void check_updates(const Replacements& updates) {
  std::unordered_set<VariableNode*> seen;
  for (auto& [target, expression] : updates) {
    if (!target || !expression) throw TypeError("function: updates: a null variable");
    if (!seen.insert(target.node()).second)
      fail_at(ValueError(cat("function: updates: `", target.str(), "` has two updates")), target);
  }
}

constexpr std::int64_t most_threads = 1024;

void check_unused(const Variables& inputs, const Variables& used, std::string policy) {
  if (policy.empty()) policy = config::get("on_unused_input");
  if (policy != "raise" && policy != "warn" && policy != "ignore")
    throw ValueError(cat("on_unused_input is raise, warn or ignore, not `", policy, "`"));
  if (policy == "ignore") return;
  std::unordered_set<VariableNode*> needed;
  for (auto& variable : used) needed.insert(variable.node());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (needed.count(inputs[i].node())) continue;
    UnusedInputError error(cat("function: no output depends on input ", i + 1, " (`", inputs[i].str(), "`)"));
    error.add("hint", "leave it out, or pass on_unused_input=\"ignore\" (or \"warn\")");
    if (policy == "raise") fail_at(std::move(error), inputs[i]);
    std::fprintf(stderr, "warning: %s\n", error.what());
  }
}

int thread_count(std::optional<int> wanted) {
  const std::int64_t count = wanted ? *wanted : config::get_int("num_threads");
  if (count >= 1 && count <= most_threads) return int(count);
  throw ValueError(cat("function: threads is a number from 1 to ", most_threads, ", got ", count));
}

}  // namespace

Function function(const Variables& inputs, const Variables& outputs, const FunctionOptions& options) {
  const auto start = Clock::now();
  auto impl = std::make_shared<Function::Impl>();
  impl->name = options.name;
  impl->inputs = inputs;
  impl->output_count = outputs.size();
  impl->downcast = options.allow_input_downcast;
  impl->mode = options.mode ? *options.mode : get_default_mode();

  const int threads = thread_count(options.threads);

  check_inputs(inputs);
  for (auto& input : inputs) impl->input_types.push_back(&input.tensor());
  check_updates(options.updates);
  Variables roots = outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (!outputs[i] || !as_tensor(outputs[i].type()))
      throw TypeError(cat("function: output ", i + 1, " is not a tensor",
                          outputs[i] ? cat(" but ", outputs[i].type()->str()) : std::string()));
  for (auto& [target, expression] : options.updates) roots.push_back(checked_update(target, expression));
  if (!options.givens.empty()) roots = clone_replace(roots, options.givens);

  const Variables leaves = graph_inputs(roots);
  check_unused(inputs, leaves, options.on_unused_input);
  std::unordered_set<VariableNode*> known;
  for (auto& input : inputs) known.insert(input.node());
  for (auto& leaf : leaves) {
    if (is_shared(leaf))
      impl->shared.push_back(leaf);
    else if (!known.count(leaf.node()))
      fail_at(MissingInputError(cat("function: the outputs need the variable `", leaf.str(), "` (", leaf.type()->str(),
                                    "), which is neither an input nor shared nor given")),
              leaf);
  }
  for (auto& [target, expression] : options.updates) {
    std::size_t at = 0;
    while (at < impl->shared.size() && !impl->shared[at].same_as(target)) ++at;
    if (at == impl->shared.size()) impl->shared.push_back(target);
    impl->updated.push_back(at);
  }
  Variables all_inputs = inputs;
  for (auto& variable : impl->shared) {
    all_inputs.push_back(variable);
    impl->containers.emplace_back(container_of(variable));
    impl->input_types.push_back(&variable.tensor());
  }
  for (auto at : impl->updated) impl->update_targets.push_back(impl->containers[at].get());

  auto graph = std::make_shared<FunctionGraph>(all_inputs, roots);
  impl->built = std::move(roots);
  const auto built = Clock::now();
  const bool profile = options.profile ? *options.profile : config::get_bool("profile");
  impl->report.time_rules = profile;
  rewrite(*graph, impl->mode.query(), &impl->report);
  const auto rewritten = Clock::now();
  impl->graph = graph;
  impl->thunk = link::link(impl->mode.linker(), impl->graph, {.threads = threads, .profile = profile});
  if (impl->shared.empty()) impl->direct = impl->thunk->direct();
  impl->times = {milliseconds(built, rewritten), impl->thunk->times.lower, impl->thunk->times.codegen,
                 milliseconds(start, Clock::now())};
  impl->build_time = milliseconds(start, built);

  for (std::size_t i = 0; i < outputs.size(); ++i) impl->output_types.push_back(&impl->graph->outputs()[i].tensor());

  if (profile) {
    impl->profiled = std::make_unique<ProfiledCalls>(threads, impl->thunk->measured().has_loops);
    if (config::get_bool("profile"))
      impl->profile_entry = std::make_unique<ProfileEntry>([it = impl.get()] { return profile_text(it->profile()); });
  }
  Function function;
  function.impl_ = std::move(impl);
  return function;
}

template <class Action>
void Function::Impl::with_views(std::span<const Array> values, Action action) const {
  if (values.size() != inputs.size()) {
    std::vector<std::string> names;
    for (auto& input : inputs) names.push_back(input.str());
    throw TypeError(cat(name.empty() ? std::string("function") : name, ": takes ", inputs.size(), " arguments (",
                        join(names, ", "), "), got ", values.size()));
  }
  SmallVector<View, 8> views;
  std::vector<Array> converted;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (fits(*input_types[i], values[i])) {
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
    return filter(*input_types[i], value, false, downcast);
  } catch (Error& error) {
    error.add("in", label(i));
    throw;
  }
}

namespace {

// Outputs go where the caller wants them, new values of shared variables are held back until the call has succeeded.
class UpdateReceiver final : public Receiver {
 public:
  UpdateReceiver(Receiver& outputs, std::size_t output_count, std::span<const Container* const> targets,
                 std::vector<std::optional<Array>>& updates)
      : outputs_(outputs), output_count_(int(output_count)), targets_(targets), updates_(updates) {}

  void* place(int output, DType dtype, std::span<const std::int64_t> shape) override {
    if (output < output_count_) return outputs_.place(output, dtype, shape);
    const Container& target = *targets_[std::size_t(output - output_count_)];
    return update(output).emplace(target.memory_for_update(Dims(shape))).mutable_data();
  }
  void* receive(int output, Array value) override {
    if (output < output_count_) return outputs_.receive(output, std::move(value));
    return update(output).emplace(std::move(value)).mutable_data();
  }
  void begin(std::span<const View> inputs, bool is_long) override { outputs_.begin(inputs, is_long); }

 private:
  std::optional<Array>& update(int output) { return updates_[std::size_t(output - output_count_)]; }

  Receiver& outputs_;
  const int output_count_;
  const std::span<const Container* const> targets_;
  std::vector<std::optional<Array>>& updates_;
};

}  // namespace

template <class Action>
void Function::Impl::with_shared(std::span<const View> values, Receiver& results, std::size_t outputs,
                                 Action action) const {
  if (containers.empty()) return action(values, results);
  Pool<SharedValues>::Loan loan(shared_values);
  struct Hold {
    SharedValues& values;
    ~Hold() { values.let_go(); }
  } hold{*loan};
  auto& [inputs_and_shared, shared_now, updates] = *loan;
  inputs_and_shared.assign(values.begin(), values.end());
  updates.resize(updated.size());
  for (auto& container : containers) shared_now.push_back(container->get());
  for (auto& value : shared_now) inputs_and_shared.push_back(view_of(value));
  UpdateReceiver receiver(results, outputs, update_targets, updates);
  action(std::span<const View>(inputs_and_shared), receiver);
  // Nothing failed: the shared variables change together.
  for (std::size_t k = 0; k < updated.size(); ++k) update_targets[k]->update(std::move(*updates[k]));
}

void Function::Impl::run(std::span<const View> values, Receiver& results) const {
  TimedCall timed(profiled.get());
  with_shared(values, results, output_count,
              [&](std::span<const View> all, Receiver& receiver) { thunk->run(all, receiver); });
  timed.succeed();
}

void Function::Impl::run_some(std::span<const View> values, std::span<const int> outputs, Receiver& results) const {
  std::vector<int> wanted;
  for (int output : outputs) {
    if (output < 0 || output >= int(output_count))
      throw IndexError(cat(name.empty() ? "function" : name, ": there is no output ", output, " among ", output_count));
    if (std::find(wanted.begin(), wanted.end(), output) != wanted.end())
      throw ValueError(cat(name.empty() ? "function" : name, ": output ", output, " is asked for twice"));
    wanted.push_back(output);
  }
  for (std::size_t k = 0; k < updated.size(); ++k) wanted.push_back(int(output_count + k));
  TimedCall timed(profiled.get());
  with_shared(values, results, outputs.size(),
              [&](std::span<const View> all, Receiver& receiver) { thunk->run_some(all, wanted, receiver); });
  timed.succeed();
}

void Function::Impl::run_into(std::span<const View> values, std::span<const View> targets, Receiver* others) const {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Dims& known = input_types[i]->shape;
    for (std::size_t axis = 0; axis < known.size(); ++axis)
      if (known[axis] != unknown_length && known[axis] != values[i].shape[axis])
        accept(i, borrow(values[i], input_types[i]->dtype, input_types[i]->ndim()));  // says what is wrong
  }
  if (direct && !others && direct->run(values, targets)) return;
  IntoReceiver results({targets, input_types, output_types, thunk->writes_last(), others});
  run(values, results);
  results.finish();
}

void Function::run(std::span<const View> inputs, Receiver& results) const { impl_->run(inputs, results); }
void Function::run_some(std::span<const View> inputs, std::span<const int> outputs, Receiver& results) const {
  impl_->run_some(inputs, outputs, results);
}
void Function::run_into(std::span<const View> inputs, std::span<const View> outputs, Receiver* others) const {
  impl_->run_into(inputs, outputs, others);
}

void Function::run_into(std::span<const Array> inputs, std::span<const Array> outputs) const {
  const std::string who = impl_->name.empty() ? "function" : impl_->name;
  if (outputs.size() != impl_->output_count)
    throw ValueError(cat(who, ": run_into: expected ", impl_->output_count, " outputs, got ", outputs.size()));
  SmallVector<View, 8> targets;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const TensorType& type = *impl_->output_types[i];
    if (outputs[i].dtype() != type.dtype || outputs[i].ndim() != type.ndim())
      throw TypeError(cat(who, ": run_into: output ", i, ": expected ", type.str(), ", got an array of ",
                          outputs[i].ndim(), " dimensions and dtype ", dtype_name(outputs[i].dtype())));
    if (!outputs[i].writeable()) throw ValueError(cat(who, ": run_into: output ", i, ": the array is read-only"));
    targets.push_back(view_of(outputs[i]));
  }
  impl_->with_views(inputs, [&](std::span<const View> views) {
    impl_->run_into(views, {targets.data(), targets.size()}, nullptr);
  });
}

void Function::require_signature(std::span<const Slot> inputs, std::span<const Slot> outputs) const {
  const auto check = [&](std::string_view what, std::span<const TensorType* const> types, std::span<const Slot> slots) {
    if (slots.size() != types.size())
      throw TypeError(cat("as: the function has ", types.size(), " ", what, "s, the signature ", slots.size()));
    for (std::size_t i = 0; i < slots.size(); ++i)
      if (slots[i].dtype != types[i]->dtype || slots[i].ndim != types[i]->ndim())
        throw TypeError(cat("as: ", what, " ", i + 1, " is ", types[i]->str(), "; the signature says ",
                            dtype_name(slots[i].dtype), " of ", slots[i].ndim, " dimensions"));
  };
  check("input", std::span(impl_->input_types).first(impl_->inputs.size()), inputs);
  check("output", impl_->output_types, outputs);
}

Array Function::accept(std::size_t i, const Array& value) const { return impl_->accept(i, value); }

Results Function::call(std::span<const Array> inputs) const { return impl_->call(inputs); }

Results Function::call_some(std::span<const Array> inputs, std::span<const int> outputs) const {
  ArrayReceiver results(outputs.size());
  impl_->with_views(inputs, [&](std::span<const View> views) { impl_->run_some(views, outputs, results); });
  return Results(std::move(results).take());
}

Results Function::call(std::span<const Array> inputs, std::span<const std::pair<std::string, Array>> named) const {
  std::vector<const Array*> slots(impl_->inputs.size(), nullptr);
  const std::string caller = impl_->name.empty() ? "function" : impl_->name;
  if (inputs.size() > slots.size())
    throw TypeError(cat(caller, ": takes ", slots.size(), " arguments, got ", inputs.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i) slots[i] = &inputs[i];
  std::vector<std::string> names;
  for (auto& input : impl_->inputs) names.push_back(input.name());
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
    if (!slots[i]) throw TypeError(cat(caller, ": input ", i + 1, " (`", impl_->inputs[i].str(), "`) is missing"));
    values.push_back(*slots[i]);
  }
  return impl_->call(values);
}

void Function::free() const {
  impl_->thunk->free();
  impl_->shared_values.clear();
}

const std::string& Function::name() const { return impl_->name; }
const Variables& Function::inputs() const { return impl_->inputs; }
std::size_t Function::output_count() const { return impl_->output_count; }
const FunctionGraph& Function::graph() const { return *impl_->graph; }
const Variables& Function::built() const { return impl_->built; }

std::vector<std::string> Function::output_labels() const {
  std::vector<std::string> labels(impl_->output_count);
  for (auto at : impl_->updated) labels.push_back(cat("update of ", impl_->shared[at].str()));
  return labels;
}

std::vector<Variable> Function::shared_variables() const { return impl_->shared; }
std::vector<Variable> Function::updated_variables() const {
  std::vector<Variable> out;
  for (auto at : impl_->updated) out.push_back(impl_->shared[at]);
  return out;
}
const Mode& Function::mode() const { return impl_->mode; }
const CompileTimes& Function::times() const { return impl_->times; }

bool Function::is_profiled() const { return impl_->profiled != nullptr; }
Profile Function::profile() const { return impl_->profile(); }

Profile Function::Impl::profile() const {
  if (!profiled)
    throw ValueError(cat(name.empty() ? "function" : name,
                         ": was compiled without a profile; pass profile=True, or set the flag `profile`"));
  return profile_of(*profiled, {name, mode, report, times, build_time, *thunk});
}

const RewriteReport& Function::rewrite_report() const { return impl_->report; }

std::string Function::explain() const {
  const RewriteReport& report = impl_->report;
  return cat(report.nodes_before, " nodes were written, ", report.nodes_after, " are left after rewriting.\n",
             bitale::explain(*impl_->graph));
}

std::string Function::dprint(std::string_view stage, bool provenance) const {
  if (stage != "graph") return impl_->thunk->text(stage);
  DprintOptions options;
  options.provenance = provenance;
  options.note = [this](const Apply& node) { return impl_->thunk->note(node); };
  options.outputs = output_labels();
  return bitale::dprint(*impl_->graph, options);
}

Array eval(const Variable& expression, const std::vector<std::pair<Variable, Array>>& inputs) {
  Variables variables;
  std::vector<Array> values;
  for (auto& [variable, value] : inputs) {
    variables.push_back(variable);
    values.push_back(value);
  }
  FunctionOptions options;
  options.on_unused_input = "ignore";
  return function(variables, expression, options).call(values).single();
}

std::ostream& operator<<(std::ostream& stream, const Results& results) {
  if (results.size() == 1) return stream << results[0];
  for (std::size_t i = 0; i < results.size(); ++i) stream << (i ? "\n" : "") << results[i];
  return stream;
}

}  // namespace bitale
