#include "codegen/outlined_loops.hpp"

#include <map>
#include <unordered_set>
#include <utility>

#include "codegen/key.hpp"
#include "codegen/schedule.hpp"
#include "program/steps.hpp"

namespace bitale::codegen {

namespace {

using program::Code;
using program::Expr;
using program::OneOf;
using program::Role;
using program::Step;

constexpr std::size_t min_size = 100;    // expressions of a loop: a call costs as much as a few of them
constexpr std::size_t min_saved = 1000;  // expressions that need not be compiled again

// Copies a loop into a Program of its own.
class Cutter {
 public:
  Cutter(const program::Program& from, OutlinedLoop& out) : from_(from), out_(out), pool_(*out.program.pool) {}

  bool cut(const program::Loop& loop) {
    define(loop);
    auto copied = copy(loop);
    if (!copied) return false;
    out_.program.steps.push_back({std::move(*copied)});
    return true;
  }

 private:
  // Collects what the loop defines: its indices and variables, and the buffers that it writes.
  void define(const program::Loop& loop) {
    copies_.try_emplace(loop.index.id(), pool_.index(defined_++));
    for (auto& carry : loop.carries) define(carry.var);
    for (auto& step : loop.body) {
      program::for_each_access(step, [&](const program::Access& access) {
        if (access.writes()) written_.insert(access.buffer);
      });
      program::match(
          step, [&](const program::Loop& inner) { define(inner); }, [&](const program::Let& let) { define(let.var); },
          [](const OneOf<program::Store, program::Accumulate, program::Update, program::Allocate, program::Fill,
                         program::Call, program::Check, program::HostCall, program::Next, program::If> auto&) {});
    }
  }
  void define(Expr var) { copies_.try_emplace(var.id(), pool_.var(first_defined + defined_++, var.dtype())); }

  // ---- steps ----
  std::optional<program::Loop> copy(const program::Loop& loop) {
    auto& [index, extent, carries, body, vector, prefetch_distance, transposes, until, parallel_cost, lane_order,
           schedule] = loop;
    if (until.defined()) return {};
    program::Loop to{copy(index), copy(extent), {},
                     {},          vector,       prefetch_distance,
                     transposes,  {},           parallel_cost.defined() ? copy(parallel_cost) : Expr(),
                     lane_order,  schedule};
    for (auto& [var, kind, combiner, init] : carries) {
      if (init.defined()) return {};
      to.carries.push_back({copy(var), kind, combiner});
    }
    for (auto& step : body) {
      auto copied = copy(step);
      if (!copied) return {};
      to.body.push_back(std::move(*copied));
    }
    for (auto& buffer : to.schedule.streamed) buffer = copy_buffer(buffer);
    return to;
  }
  // None for a step that can't be part of a function of its own.
  std::optional<Step> copy(const Step& step) {
    using Copied = std::optional<Step>;
    return program::match(
        step,
        [&](const program::Loop& loop) -> Copied {
          auto copied = copy(loop);
          return copied ? Copied(Step{std::move(*copied)}) : Copied();
        },
        [&](const program::Store& store) -> Copied {
          auto& [buffer, at, value] = store;
          return Step{program::Store{copy_buffer(buffer), copy(at), copy(value)}};
        },
        [&](const program::Accumulate& accumulate) -> Copied {
          auto& [buffer, at, combiner, value, by_runs] = accumulate;
          if (has_load(at)) return {};  // lanes may be added by index runs, and the index may be known before the loop
          return Step{program::Accumulate{copy_buffer(buffer), copy(at), combiner, copy(value), by_runs}};
        },
        [&](const program::Let& let) -> Copied {
          return Step{program::Let{copy(let.var), copy(let.value)}};
        },
        [&](const program::Update& update) -> Copied {
          auto& [var, combiner, value, position_var, position] = update;
          program::Update to{copy(var), combiner, copy(value)};
          if (position_var.defined()) to.position_var = copy(position_var), to.position = copy(position);
          if (is_sum_of_products(update) != is_sum_of_products(to)) return {};
          return Step{std::move(to)};
        },
        [](const OneOf<program::Allocate, program::Fill, program::Call, program::Check, program::HostCall,
                       program::Next, program::If> auto&) -> Copied { return {}; });
  }

  static bool has_load(const std::vector<Expr>& at) {
    bool found = false;
    program::ExprWalk walk;
    for (auto& each : at) walk(each, [&](Expr expr) { found |= expr.code() == Code::load; });
    return found;
  }

  // ---- buffers ----
  std::int64_t copy_buffer(std::int64_t id) {
    const auto [found, is_new] = buffers_.try_emplace(id, std::int64_t(out_.buffers.size()));
    if (!is_new) return found->second;
    const std::int64_t to = found->second;
    out_.buffers.push_back(id);
    const program::Buffer& buffer = from_.buffers[std::size_t(id)];
    program::Buffer copied;
    copied.name = "b" + std::to_string(to);
    copied.dtype = buffer.dtype;
    copied.role = buffer.role;
    if (buffer.role == Role::constant) copied.role = Role::input;
    copied.per_worker = buffer.per_worker;
    copied.shape = copy(buffer.shape);
    out_.program.buffers.push_back(std::move(copied));
    return to;
  }

  // ---- expressions ----
  std::vector<Expr> copy(const std::vector<Expr>& list) {
    std::vector<Expr> to;
    for (auto& each : list) to.push_back(copy(each));
    return to;
  }
  Expr copy(Expr root) {
    const std::size_t bottom = stack_.size();
    stack_.push_back(root);
    while (stack_.size() > bottom) {
      const Expr expr = stack_.back();
      const std::size_t before = stack_.size();
      if (!copies_.count(expr.id())) {
        for (std::size_t i = expr.argument_count(); i-- > 0;)
          if (!copies_.count(expr.argument(i).id())) stack_.push_back(expr.argument(i));
        if (stack_.size() != before) continue;
        copies_.emplace(expr.id(), copy_of(expr));
      }
      stack_.pop_back();
    }
    return given(root);
  }

  // Copies an expression whose arguments are copied already. None for what is known before the loop.
  Expr copy_of(Expr expr) {
    const Code code = expr.code();
    if (code == Code::constant) return pool_.make(code, expr.dtype(), {}, expr.payload());
    const bool is_load = code == Code::load;
    bool is_loop_variant = is_load && written_.count(expr.payload()), is_number = !is_load && expr.argument_count() > 0;
    for (std::size_t i = 0; i < expr.argument_count(); ++i) {
      const Expr argument = expr.argument(i);
      is_loop_variant |= !argument.is_constant() && copies_.at(argument.id()).defined();
      is_number &= argument.is_constant();
    }
    if (!is_loop_variant && !is_number) return {};
    ++out_.size;
    std::vector<Expr> arguments;
    for (std::size_t i = 0; i < expr.argument_count(); ++i) arguments.push_back(given(expr.argument(i)));
    std::int64_t payload = expr.payload();
    if (is_load) payload = copy_buffer(payload);
    if (code == Code::call || code == Code::rare_call) payload = copy_function(expr, arguments);
    return pool_.make(code, expr.dtype(), arguments, payload);
  }

  // The copy, or the parameter that stands for a value known before the loop.
  Expr given(Expr expr) {
    if (const Expr copied = copies_.at(expr.id()); copied.defined()) return copied;
    const auto [parameter, is_new] = parameters_.try_emplace(expr.id());
    if (is_new) {
      parameter->second = pool_.var(std::int64_t(out_.values.size()), expr.dtype());
      out_.values.push_back(expr);
    }
    return parameter->second;
  }

  // The number of the called function in the new pool; its body, if the Program has one, is copied too.
  std::int64_t copy_function(Expr call, std::span<const Expr> arguments) {
    const std::string& name = from_.pool->function_name(call.payload());
    const std::int64_t number = pool_.call(name, call.dtype(), arguments).payload();
    const program::Function* function = from_.function_of(call);
    if (!function || out_.program.functions.count(number)) return number;
    program::Function copied;
    for (auto& parameter : function->parameters) {
      copied.parameters.push_back(pool_.var(parameter.payload(), parameter.dtype()));
      copies_.try_emplace(parameter.id(), copied.parameters.back());
    }
    const std::size_t size = out_.size;
    copied.body = copy(function->body);
    out_.size = size;
    out_.program.functions.emplace(number, std::move(copied));
    return number;
  }

  static constexpr std::int64_t first_defined = std::int64_t(1) << 32;  // variables; lower numbers are parameters

  const program::Program& from_;
  OutlinedLoop& out_;
  program::ExprPool& pool_;
  std::int64_t defined_ = 0;
  std::unordered_set<std::int64_t> written_;
  std::unordered_map<std::int64_t, std::int64_t> buffers_;       // number -> number of the copy
  std::unordered_map<std::uint32_t, Expr> copies_, parameters_;  // by id; a null copy: known before the loop
  std::vector<Expr> stack_;
};

}  // namespace

std::optional<OutlinedLoop> outline_loop(const program::Program& program, const program::Loop& loop) {
  OutlinedLoop out;
  if (!Cutter(program, out).cut(loop)) return {};
  return out;
}

OutlinedLoops::OutlinedLoops(const program::Program& program) {
  struct Kind {
    OutlinedLoop first;
    std::vector<std::pair<const program::Loop*, Use>> uses;
  };
  std::map<Digest, std::size_t> known;
  std::vector<Kind> found;
  for (auto& step : program.steps) {
    const auto* loop = program::as_loop(step);
    if (!loop) continue;
    auto cut = outline_loop(program, *loop);
    if (!cut || cut->size < min_size) continue;
    const auto [kind, is_new] = known.try_emplace(digest_of(cut->program), found.size());
    Use use{0, std::move(cut->buffers), std::move(cut->values)};
    if (is_new) found.push_back({std::move(*cut), {}});
    found[kind->second].uses.emplace_back(loop, std::move(use));
  }
  for (auto& kind : found) {
    if ((kind.uses.size() - 1) * kind.first.size < min_saved) continue;
    for (auto& [loop, use] : kind.uses) {
      use.kind = kinds_.size();
      uses_.emplace(loop, std::move(use));
    }
    kinds_.push_back(std::move(kind.first.program));
  }
}

const OutlinedLoops::Use* OutlinedLoops::find(const program::Loop& loop) const {
  const auto found = uses_.find(&loop);
  return found == uses_.end() ? nullptr : &found->second;
}

}  // namespace bitale::codegen
