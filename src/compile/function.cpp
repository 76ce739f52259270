// function(): check what the user asks for, build the FunctionGraph, rewrite it, link it, wrap it.
#include "bitale/compile/function.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ostream>
#include <unordered_set>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/printing/printing.hpp"
#include "bitale/rewriting/rewriting.hpp"
#include "link/linker.hpp"

namespace bitale {

const Array& Results::single() const {
  if (values_.size() == 1) return values_[0];
  throw ValueError(
      cat("a function with ", values_.size(), " outputs gives ", values_.size(), " results, not one; index them"));
}

struct Function::Impl {
  std::string name;
  Variables inputs;  // the user's
  std::vector<const TensorType*> input_types;
  Variables shared;                              // the user's; their containers follow the inputs
  std::vector<Ref<const Container>> containers;  // of `shared`
  std::vector<std::size_t> updated;              // which of `shared` each update goes to
  std::size_t output_count = 0;
  Downcast downcast = Downcast::FloatLiteral;
  Mode mode{"jit", "fast_run"};
  std::shared_ptr<const FunctionGraph> graph;
  std::unique_ptr<link::Thunk> thunk;
  CompileTimes times;
  RewriteReport report;
  bool only_scalars = false;  // float64 scalars in, one out, nothing shared

  std::string label(std::size_t i) const {
    const std::string& given = inputs[i].name();
    return cat(name.empty() ? std::string("function") : name, ": argument ", i + 1,
               given.empty() ? "" : cat(" (`", given, "`)"));
  }
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

RewriteQuery query_of_mode(const Mode& mode) {
  return query_of(mode.optimizer()).including(mode.included()).excluding(mode.excluded()).requiring(mode.required());
}

bool is_plain_scalar(const Variable& variable) { return variable.dtype() == DType::Float64 && variable.ndim() == 0; }

}  // namespace

Function function(const Variables& inputs, const Variables& outputs, const FunctionOptions& options) {
  const auto start = Clock::now();
  auto impl = std::make_shared<Function::Impl>();
  impl->name = options.name;
  impl->inputs = inputs;
  impl->output_count = outputs.size();
  impl->downcast = options.allow_input_downcast;
  impl->mode = options.mode ? *options.mode : get_default_mode();

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
  }

  auto graph = std::make_shared<FunctionGraph>(all_inputs, roots);
  const auto built = Clock::now();
  impl->report.time_rules = options.profile;
  rewrite(*graph, query_of_mode(impl->mode), &impl->report);
  if (options.profile) std::fprintf(stderr, "%s", impl->report.str().c_str());
  const auto rewritten = Clock::now();
  impl->graph = graph;
  impl->thunk = link::link(impl->mode.linker(), impl->graph);
  impl->times = {milliseconds(built, rewritten), impl->thunk->times.lower, impl->thunk->times.codegen,
                 milliseconds(start, Clock::now())};
  impl->only_scalars = impl->shared.empty() && outputs.size() == 1 && is_plain_scalar(outputs[0]);
  for (auto& input : inputs) impl->only_scalars = impl->only_scalars && is_plain_scalar(input);

  Function function;
  function.impl_ = std::move(impl);
  return function;
}

Results Function::Impl::call(std::span<const Array> values) const {
  if (values.size() != inputs.size()) {
    std::vector<std::string> names;
    for (auto& input : inputs) names.push_back(input.str());
    throw TypeError(cat(name.empty() ? std::string("function") : name, ": takes ", inputs.size(), " arguments (",
                        join(names, ", "), "), got ", values.size()));
  }
  // The usual call needs no conversion and no containers: then the caller's arrays go straight in.
  bool direct = containers.empty();
  for (std::size_t i = 0; i < values.size() && direct; ++i) direct = fits(*input_types[i], values[i]);
  if (direct) return Results(thunk->run(values));
  std::vector<Array> all;
  all.reserve(values.size() + containers.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    try {
      all.push_back(filter(*input_types[i], values[i], false, downcast));
    } catch (Error& error) {
      error.add("in", label(i));
      throw;
    }
  }
  for (auto& container : containers) all.push_back(container->get());
  std::vector<Array> results = thunk->run(all);
  // Nothing failed: the shared variables change together.
  for (std::size_t k = 0; k < updated.size(); ++k) containers[updated[k]]->store(std::move(results[output_count + k]));
  results.resize(output_count);
  return Results(std::move(results));
}

Results Function::call(std::span<const Array> inputs) const { return impl_->call(inputs); }

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

double Function::call_scalars(std::span<const double> inputs) const {
  if (!impl_->only_scalars)
    throw TypeError("call_scalars: needs a function of float64 scalars with one such output and no shared variables");
  if (inputs.size() != impl_->inputs.size())
    throw TypeError(cat("call_scalars: takes ", impl_->inputs.size(), " arguments, got ", inputs.size()));
  return impl_->thunk->run_scalars(inputs);
}

const std::string& Function::name() const { return impl_->name; }
const Variables& Function::inputs() const { return impl_->inputs; }
std::size_t Function::output_count() const { return impl_->output_count; }
const FunctionGraph& Function::graph() const { return *impl_->graph; }
std::vector<Variable> Function::shared_variables() const { return impl_->shared; }
const Mode& Function::mode() const { return impl_->mode; }
const CompileTimes& Function::times() const { return impl_->times; }

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
  for (std::size_t i = 0; i < impl_->output_count; ++i) options.outputs.emplace_back();
  for (auto at : impl_->updated) options.outputs.push_back(cat("update of ", impl_->shared[at].str()));
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
