#include "codegen/key.hpp"

#include <limits>

#include <bitale_codegen_version.inc>  // made by the build: a digest of the sources that code depends on

namespace bitale::codegen {

namespace {

using program::Expr;

// Steps are decomposed by structured bindings, so that a new field does not compile until it is handled here.
class ProgramDigester {
 public:
  ProgramDigester(const program::Program& program, Digester& out)
      : program_(program), out_(out), numbers_(program.pool->size(), unnumbered) {
    add(std::int64_t(program.buffers.size()));
    for (auto& buffer : program.buffers) add(buffer);
    add(program.input_count);
    add(program.output_count);
    add(program.workspace_slots);
    add(program.steps);
  }

 private:
  static constexpr std::uint32_t unnumbered = std::numeric_limits<std::uint32_t>::max();

  template <class T>
  requires std::is_integral_v<T> || std::is_enum_v<T>
  void add(T value) { out_.add(std::int64_t(value)); }
  void add(const std::string& text) { out_.add(text); }
  template <class T>
  void add(const std::vector<T>& list) {
    add(std::int64_t(list.size()));
    for (auto& each : list) add(each);
  }

  void add(const program::Buffer& buffer) {
    auto& [name, dtype, role, shape, slot, on_stack, value, per_worker] = buffer;
    add(dtype);
    add(role);
    add(shape);
    add(slot);
    add(per_worker);
    add(on_stack);
  }

  // Expressions are numbered in the order in which they are visited, so that other expressions of the pool don't
  // matter.
  void add(Expr root) {
    if (!root.defined()) return add(-1);
    stack_.push_back(root);
    while (!stack_.empty()) {
      const Expr expr = stack_.back();
      if (numbers_[expr.id()] != unnumbered) {
        stack_.pop_back();
        continue;
      }
      const std::size_t before = stack_.size();
      const program::Function* function = program_.function_of(expr);
      if (function && numbers_[function->body.id()] == unnumbered) stack_.push_back(function->body);
      for (std::size_t i = expr.argument_count(); i-- > 0;)
        if (numbers_[expr.argument(i).id()] == unnumbered) stack_.push_back(expr.argument(i));
      if (stack_.size() != before) continue;
      stack_.pop_back();
      numbers_[expr.id()] = count_++;
      describe(expr);
    }
    add(numbers_[root.id()]);
  }
  void describe(Expr expr) {
    auto& [code, dtype, first_argument, argument_count, payload] = expr.node();
    add(std::int64_t(code) << 40 | std::int64_t(dtype) << 32 | std::int64_t(argument_count));
    for (std::size_t i = 0; i < argument_count; ++i) add(numbers_[expr.argument(i).id()]);
    if (code == program::Code::call || code == program::Code::rare_call)
      add(expr.pool().function_name(payload));  // the function's number depends on what else is in the pool
    else
      add(payload);
    if (const program::Function* function = program_.function_of(expr)) {
      auto& [parameters, body] = *function;
      for (auto& parameter : parameters) add(parameter.node().payload);
      add(numbers_[body.id()]);
    }
  }

  void add(const program::Store& step) {
    auto& [buffer, at, value] = step;
    add(buffer);
    add(at);
    add(value);
  }
  void add(const program::Accumulate& step) {
    auto& [buffer, at, combiner, value, by_runs] = step;
    add(buffer);
    add(at);
    add(combiner);
    add(value);
    add(by_runs);
  }
  void add(const program::Let& step) {
    auto& [var, value] = step;
    add(var);
    add(value);
  }
  void add(const program::Update& step) {
    auto& [var, combiner, value, position_var, position] = step;
    add(var);
    add(combiner);
    add(value);
    add(position_var);
    add(position);
  }
  void add(const program::Carry& carry) {
    auto& [var, kind, combiner, init] = carry;
    add(var);
    add(kind);
    add(combiner);
    add(init);
  }
  void add(const program::Loop& step) {
    auto& [index, extent, carries, body, vector, prefetch_distance, transposes, until, parallel_cost, lane_order,
           schedule] = step;
    add(index);
    add(extent);
    add(carries);
    add(body);
    add(vector);
    add(prefetch_distance);
    add(transposes);
    add(until);
    add(parallel_cost);
    add(lane_order.element_bytes);
    add(lane_order.accumulators);
    add(schedule);
  }
  void add(const program::Schedule& schedule) {
    auto& [lanes, accumulators, single_pass, pairwise, straight_passes, runs_of, streamed] = schedule;
    add(lanes);
    add(accumulators);
    add(single_pass);
    add(pairwise);
    add(straight_passes);
    add(runs_of);
    add(streamed);
  }
  void add(const program::Allocate& step) {
    auto& [buffer] = step;
    add(buffer);
  }
  void add(const program::Fill& step) {
    auto& [buffer, value] = step;
    add(buffer);
    add(value);
  }
  void add(const program::BufferArgument& argument) {
    auto& [buffer, kind, offset] = argument;
    add(buffer);
    add(kind);
    add(offset);
  }
  void add(const std::variant<Expr, program::BufferArgument>& argument) {
    add(argument.index());
    std::visit([this](auto& which) { add(which); }, argument);
  }
  void add(const program::Call& step) {
    auto& [function, arguments, status] = step;
    add(function);
    add(arguments);
    add(status);
  }
  void add(const program::Check& step) {
    auto& [condition, check] = step;
    add(condition);
    add(check);
  }
  void add(const program::Next& step) {
    auto& [var, value] = step;
    add(var);
    add(value);
  }
  void add(const program::If& step) {
    auto& [condition, then, otherwise] = step;
    add(condition);
    add(then);
    add(otherwise);
  }
  void add(const program::HostCall& step) {
    auto& [callback, inputs, outputs] = step;
    add(callback);
    add(inputs);
    add(outputs);
  }
  void add(const program::Step& step) {
    add(step.what.index());
    std::visit([this](auto& which) { add(which); }, step.what);
  }

  const program::Program& program_;
  Digester& out_;
  std::vector<std::uint32_t> numbers_;
  std::uint32_t count_ = 0;
  std::vector<Expr> stack_;
};

}  // namespace

Digest digest_of(const program::Program& program) {
  Digester digester;
  ProgramDigester(program, digester);
  return digester.digest();
}

Digest key_of(const program::Program& program, const Target& target, std::string_view generator) {
  Digester digester;
  digester.add(std::string_view(BITALE_CODEGEN_VERSION));
  digester.add(generator);
  target.add_to(digester);
  ProgramDigester(program, digester);
  return digester.digest();
}

}  // namespace bitale::codegen
