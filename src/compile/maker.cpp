// The steps of function(): check the user's arguments, build the FunctionGraph, rewrite it, link it, wrap it.
#include "bitale/compile/maker.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <unordered_set>

#include "bitale/core/config.hpp"
#include "bitale/graph/test_value.hpp"
#include "compile/function_impl.hpp"
#include "compile/shared_states.hpp"
#include "compile/vector_width_due.hpp"
#include "core/compile_stage.hpp"

namespace bitale {

OnUnusedInput on_unused_input_named(std::string_view text) {
  if (text == "raise") return OnUnusedInput::Raise;
  if (text == "warn") return OnUnusedInput::Warn;
  if (text == "ignore") return OnUnusedInput::Ignore;
  throw ValueError(cat("on_unused_input must be raise, warn or ignore, not `", text, "`"));
}

namespace {

using Clock = std::chrono::steady_clock;
double milliseconds(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

template <class E>
[[noreturn]] void fail_at(E error, const Variable& variable) {
  if (const Location where = variable.where()) error.add("built at", where.str_with_callers());
  throw error;
}

// Computed variables among the inputs, with leaves that replace them: the graph is cut off there.
Replacements cuts_of(const Variables& inputs) {
  Replacements cuts;
  for (auto& input : inputs) {
    if (!input.has_owner()) continue;
    Variable leaf(input.type(), input.str());
    leaf.node()->where = input.where();
    if (!input.is_guarded()) leaf.tag().is_guarded = false;
    cuts.emplace_back(input, leaf);
  }
  return cuts;
}

// `inputs` with those leaves in place of computed variables.
Variables cut_inputs(Variables inputs, const Replacements& cuts) {
  auto cut = cuts.begin();
  for (auto& input : inputs)
    if (input.has_owner()) input = (cut++)->second;
  return inputs;
}

// The replacements for the whole graph: givens, whose values are cut off at the inputs as well, and the cuts.
Replacements replacements_of(const Replacements& givens, const Replacements& cuts, const Variables& inputs) {
  Replacements out = cuts;
  Variables targets, values;
  for (auto& [target, value] : givens) {
    for (auto& input : inputs)
      if (input.same_as(target))
        fail_at(ValueError(cat("function: givens: `", target.str(),
                               "` is an input of the function; leave it out of the inputs, or of givens")),
                target);
    targets.push_back(target);
    values.push_back(value);
  }
  if (!cuts.empty()) values = clone_replace(values, cuts);
  for (std::size_t i = 0; i < targets.size(); ++i) out.emplace_back(targets[i], values[i]);
  return out;
}

void check_inputs(const Variables& inputs) {
  std::unordered_set<VariableNode*> seen;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Variable& input = inputs[i];
    if (!input.defined()) throw TypeError(cat("function: input ", i, " is null"));
    if (!input.type()->storage())
      throw TypeError(cat("function: input ", i, " has the type ", input.type()->str(), ", which has no values"));
    if (is_shared(input))
      fail_at(TypeError(cat("function: input ", i, " (`", input.str(),
                            "`) is a shared variable; its value comes from its container, leave it out of the inputs")),
              input);
    if (input.is_constant()) fail_at(TypeError(cat("function: input ", i, " is the constant ", input.str())), input);
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
  if (as_tensor(expression.type()) && as_tensor(target.type()) && expression.dtype() != target.dtype() &&
      expression.ndim() == target.ndim()) {
    const bool widened =
        target.dtype() == DType::Float32 && expression.dtype() == DType::Float64 && config::float_x() == DType::Float64;
    error.add("hint",
              cat("cast(value, ", dtype_name(target.dtype()), ")",
                  widened ? "; or config.floatX = \"float32\" before anything is built: numbers such as 0.9 are "
                            "then float32"
                          : ""));
  }
  fail_at(std::move(error), expression);
}

void check_pairs(const Replacements& pairs, std::string_view what, std::string_view twice) {
  std::unordered_set<VariableNode*> seen;
  for (auto& [target, expression] : pairs) {
    if (!target.defined() || !expression.defined()) throw TypeError(cat("function: ", what, ": a null variable"));
    if (!seen.insert(target.node()).second)
      fail_at(ValueError(cat("function: ", what, ": `", target.str(), "` has two ", twice)), target);
  }
}

constexpr std::int64_t max_threads = 1024;

// `inputs`, with leaves in place of expressions that are `given` as inputs.
void check_unused(const Variables& given_inputs, const Variables& inputs, const Variables& used,
                  std::optional<OnUnusedInput> given, const std::vector<std::size_t>& arguments) {
  const OnUnusedInput policy = given ? *given : on_unused_input_named(config::get("on_unused_input"));
  if (policy == OnUnusedInput::Ignore) return;
  std::unordered_set<VariableNode*> needed;
  for (auto& variable : used) needed.insert(variable.node());
  const auto argument = [&](std::size_t input) { return arguments.empty() ? input : arguments[input]; };
  std::unordered_set<std::size_t> used_arguments;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (needed.count(inputs[i].node())) used_arguments.insert(argument(i));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (used_arguments.count(argument(i))) continue;
    UnusedInputError error(cat("function: no output depends on input ", i, " (`", inputs[i].str(), "`)"));
    error.add("hint", given_inputs[i].has_owner()
                          ? "an expression that is written a second time is another variable: give it a name, use that "
                            "in the outputs, and make it the input"
                          : "leave it out, or set the option on_unused_input to ignore or warn");
    if (policy == OnUnusedInput::Raise) fail_at(std::move(error), inputs[i]);
    std::fprintf(stderr, "warning: %s\n", error.what());
  }
}

int thread_count(std::optional<int> wanted) {
  const std::int64_t count = wanted ? *wanted : config::get_int("num_threads");
  if (count >= 1 && count <= max_threads) return int(count);
  throw ValueError(cat("function: threads must be an integer from 1 to ", max_threads, ", got ", count));
}

}  // namespace

struct FunctionMaker::State {
  Compiled compiled;
  std::shared_ptr<FunctionGraph> graph;
  Clock::time_point start = Clock::now();
};

FunctionMaker::FunctionMaker(const Variables& inputs, const Variables& outputs, const FunctionOptions& options)
    : state_(std::make_unique<State>()) {
  const TestValuesOff while_copying;
  Compiled& made = state_->compiled;
  made.name = options.name;
  made.inputs = inputs;
  made.output_count = outputs.size();
  made.downcast = options.allow_input_downcast;
  made.mode = options.mode ? *options.mode : get_default_mode();
  made.report.time_rules = options.profile ? *options.profile : config::get_bool("profile");
  made.threads = thread_count(options.threads);

  check_inputs(inputs);
  for (auto& input : inputs) made.input_types.push_back(&input.storage());
  check_pairs(options.updates, "updates", "updates");
  check_pairs(options.givens, "givens", "replacements");
  Variables roots = outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (!outputs[i].defined() || !outputs[i].type()->storage())
      throw TypeError(
          cat("function: output ", i, " has no value",
              outputs[i].defined() ? cat(": it is a ", outputs[i].type()->str()) : std::string(": it is null")));
  for (auto& [target, expression] : options.updates) roots.push_back(checked_update(target, expression));
  const Replacements cuts = cuts_of(inputs);
  const Replacements replaced = replacements_of(options.givens, cuts, inputs);
  if (!replaced.empty()) roots = clone_replace(roots, replaced);
  const Variables own = cut_inputs(inputs, cuts);

  const Variables leaves = graph_inputs(roots);
  check_unused(inputs, own, leaves, options.on_unused_input, options.arguments_of_inputs);
  std::unordered_set<VariableNode*> known;
  for (auto& input : own) known.insert(input.node());
  for (auto& leaf : leaves) {
    if (is_shared(leaf))
      made.shared.push_back(leaf);
    else if (!known.count(leaf.node()))
      fail_at(MissingInputError(cat("function: the outputs need the variable `", leaf.str(), "` (", leaf.type()->str(),
                                    "), which is neither an input nor shared nor given")),
              leaf);
  }
  for (auto& [target, expression] : options.updates) {
    std::size_t at = 0;
    while (at < made.shared.size() && !made.shared[at].same_as(target)) ++at;
    if (at == made.shared.size()) made.shared.push_back(target);
    made.updated.push_back(at);
  }
  Variables all_inputs = own;
  for (auto& variable : made.shared) {
    all_inputs.push_back(variable);
    made.input_types.push_back(&variable.storage());
  }
  state_->graph = std::make_shared<FunctionGraph>(all_inputs, roots);
  check_states(*state_->graph);
  made.graph = state_->graph;
  made.built = std::move(roots);
  made.build_time = milliseconds(state_->start, Clock::now());
}

FunctionMaker::~FunctionMaker() = default;

const Mode& FunctionMaker::mode() const { return state_->compiled.mode; }
const std::shared_ptr<FunctionGraph>& FunctionMaker::graph() const { return state_->graph; }
const Variables& FunctionMaker::shared_variables() const { return state_->compiled.shared; }

std::vector<std::pair<std::size_t, std::size_t>> FunctionMaker::updates() const {
  const Compiled& made = state_->compiled;
  std::vector<std::pair<std::size_t, std::size_t>> out;
  for (auto at : made.updated) out.emplace_back(made.output_count + out.size(), made.inputs.size() + at);
  return out;
}

void FunctionMaker::rewrite() {
  if (is_linked()) throw ValueError("FunctionMaker: the graph is linked and can't be rewritten any more");
  const auto start = Clock::now();
  const TestValuesOff while_rewriting;
  const CompileStageScope stage("rewriting", state_->graph->node_count());
  RewriteReport& report = state_->compiled.report;
  do_rewrite(*state_->graph, report);
  state_->compiled.times.rewrite += milliseconds(start, Clock::now());
}

bool FunctionMaker::is_linked() const { return state_->compiled.thunk != nullptr; }

void FunctionMaker::link() {
  if (is_linked()) return;
  const TestValuesOff while_linking;
  const CompileStageScope stage("linking", state_->graph->node_count());
  Compiled& made = state_->compiled;
  made.thunk = do_link(made.graph, {.threads = made.threads, .profile = made.report.time_rules, .updates = updates()});
  for (std::size_t i = 0; i < made.output_count; ++i) made.output_types.push_back(&made.graph->outputs()[i].storage());
  made.times.lower = made.thunk->times.lower;
  made.times.codegen = made.thunk->times.codegen;
  made.times.total = milliseconds(state_->start, Clock::now());
  note_code_generation(made.times.codegen);
}

void FunctionMaker::do_rewrite(FunctionGraph& graph, RewriteReport& report) {
  bitale::rewrite(graph, mode().query(), &report);
}

std::unique_ptr<link::Thunk> FunctionMaker::do_link(const std::shared_ptr<const FunctionGraph>& graph,
                                                    const link::LinkOptions& options) {
  return link::link(mode().linker(), graph, options);
}

namespace {

Variables with_storage(const Variables& shared, const Replacements& storage) {
  Variables out = shared;
  for (auto& [before, after] : storage) {
    const auto at = std::find_if(shared.begin(), shared.end(), [&](auto& one) { return one.same_as(before); });
    if (at == shared.end())
      throw ValueError(cat("function: storage: the function does not use the shared variable `", before.str(), "`"));
    if (!is_shared(after)) throw TypeError(cat("function: storage: `", after.str(), "` is not a shared variable"));
    if (!before.type()->equals(*after.type()))
      throw TypeError(cat("function: storage: `", before.str(), "` is ", before.type()->str(), ", but `", after.str(),
                          "` is ", after.type()->str()));
    out[std::size_t(at - shared.begin())] = after;
  }
  return out;
}

void refuse_two_updates(const Compiled& compiled) {
  std::unordered_set<VariableNode*> seen;
  for (auto at : compiled.updated)
    if (!seen.insert(compiled.shared[at].node()).second)
      throw ValueError(cat("function: storage: `", compiled.shared[at].str(), "` has two updates"));
}

void check_defaults(const Compiled& compiled, const Variables& defaults) {
  if (!defaults.empty() && defaults.size() != compiled.inputs.size())
    throw ValueError(cat("function: expected ", compiled.inputs.size(), " defaults, got ", defaults.size()));
  for (std::size_t i = 0; i < defaults.size(); ++i)
    if (defaults[i].defined() && (!is_shared(defaults[i]) || !compiled.inputs[i].type()->is_super(*defaults[i].type())))
      throw TypeError(cat("function: the default of input ", i, " (`", compiled.inputs[i].str(),
                          "`): expected a shared variable of ", compiled.inputs[i].type()->str(), ", got `",
                          defaults[i].str(), "` (", defaults[i].type()->str(), ")"));
}

}  // namespace

Function FunctionMaker::create(const Replacements& storage, const std::optional<std::string>& name,
                               const Variables& defaults) {
  link();
  Compiled compiled = state_->compiled;
  if (name) compiled.name = *name;
  compiled.shared = with_storage(compiled.shared, storage);
  refuse_two_updates(compiled);
  check_defaults(compiled, defaults);
  Function function;
  function.impl_ = std::make_shared<const Function::Impl>(compiled, defaults);
  return function;
}

std::unique_ptr<FunctionMaker> make_maker(const Variables& inputs, const Variables& outputs,
                                          const FunctionOptions& options) {
  FunctionOptions complete = options;
  if (!complete.mode) complete.mode = get_default_mode();
  if (auto& factory = complete.mode->maker()) return factory->make(inputs, outputs, complete);
  return std::make_unique<FunctionMaker>(inputs, outputs, complete);
}

Function function(const Variables& inputs, const Variables& outputs, const FunctionOptions& options) {
  const CompileStageScope whole("compiling");
  const auto maker = make_maker(inputs, outputs, options);
  maker->rewrite();
  return maker->create();
}

}  // namespace bitale
