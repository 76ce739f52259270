// The verifier: the invariants that every pass may rely on and must preserve.
#include "program/verify.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "program/accesses.hpp"
#include "program/steps.hpp"
#include "program/verify_reads.hpp"

namespace bitale::program {

namespace {

class Verifier {
 public:
  Verifier(const Program& program, Stage stage)
      : program_(program), ready_(program.buffers.size(), false), written_(program.buffers.size(), false) {
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
      const Role role = program.buffers[b].role;
      written_[b] = role == Role::input || role == Role::constant;
      ready_[b] = written_[b] || stage == Stage::without_memory;
    }
  }

  void run() {
    for (auto& [payload, function] : program_.functions) verify(function);
    steps(program_.steps);
    verify_reads(program_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InternalError(cat("program: ", what, "\n", to_string(program_)));
  }

  // A buffer whose elements are read or combined with.
  const Buffer& read(std::int64_t id) const {
    const Buffer& out = buffer(id);
    if (!written_[std::size_t(id)]) fail(cat("buffer ", out.name, " is read before anything is written to it"));
    return out;
  }

  const Buffer& buffer(std::int64_t id) const {
    if (id < 0 || std::size_t(id) >= program_.buffers.size()) fail(cat("unknown buffer ", id));
    if (!ready_[std::size_t(id)])
      fail(cat("buffer ", program_.buffers[std::size_t(id)].name, " is used before it exists"));
    return program_.buffers[std::size_t(id)];
  }

  // Of a format of memory, only the bits may be used.
  void check_format(Expr expr) const {
    const bool moves = expr.code() == Code::constant || expr.code() == Code::var || expr.code() == Code::load ||
                       expr.code() == Code::select || expr.code() == Code::bitcast || expr.code() == Code::call;
    if (moves) return;
    bool used = is_storage_format(expr.dtype());
    for (std::size_t i = 0; i < expr.argument_count(); ++i) used |= is_storage_format(expr.argument(i).dtype());
    if (used) fail(cat(code_name(expr.code()), " of a dtype that is a format of memory only"));
  }
  void check_format(DType combined) const {
    if (is_storage_format(combined))
      fail(cat("values of ", dtype_name(combined), " are combined, which is a format of memory only"));
  }

  void check(Expr root) {
    ExprWalk()(root, [&](Expr expr) {
      check_format(expr);
      switch (expr.code()) {
        case Code::index:
          if (!indices_.count(expr.payload())) fail(cat("index ", expr.payload(), " is out of scope"));
          break;
        case Code::var:
          if (!variables_.count(expr.payload())) fail(cat("v", expr.payload(), " is read before it is known"));
          break;
        case Code::load: {
          const Buffer& from = read(expr.payload());
          if (from.dtype != expr.dtype()) fail(cat("load of ", from.name, " as ", dtype_name(expr.dtype())));
          if (std::size_t(from.ndim()) != expr.argument_count()) fail(cat("load of ", from.name, " at a wrong rank"));
          break;
        }
        case Code::call:
          if (auto* function = program_.function_of(expr)) check_arguments(*function, expr);
          break;
        default: break;
      }
    });
  }

  void check_arguments(const Function& function, Expr call) {
    bool fits = function.parameters.size() == call.argument_count() && function.body.dtype() == call.dtype();
    for (std::size_t i = 0; fits && i < call.argument_count(); ++i)
      fits = function.parameters[i].dtype() == call.argument(i).dtype();
    if (!fits) fail(cat("a call of ", call.pool().function_name(call.payload()), " does not fit"));
  }

  // A function may use only its parameters.
  void verify(const Function& function) {
    ExprWalk()(function.body, [&](Expr expr) {
      const auto& parameters = function.parameters;
      const bool reaches_out = expr.code() == Code::index || expr.code() == Code::dim || expr.code() == Code::load;
      const bool is_other =
          expr.code() == Code::var && std::find(parameters.begin(), parameters.end(), expr) == parameters.end();
      if (reaches_out || is_other) fail("a function reads something other than its parameters");
    });
  }

  // A buffer that the program may write to.
  const Buffer& writable(std::int64_t id) const {
    const Buffer& out = buffer(id);
    if (out.role == Role::input || out.role == Role::constant)
      fail(cat("buffer ", out.name, " is written to, though it is an input or a constant"));
    return out;
  }

  void write(std::int64_t id, std::span<const Expr> at, Expr value) {
    const Buffer& to = writable(id);
    if (at.size() != to.shape.size()) fail(cat("store to ", to.name, " at a wrong rank"));
    if (value.dtype() != to.dtype) fail(cat("store of ", dtype_name(value.dtype()), " to ", to.name));
    // A prefix scan in memory reads what earlier iterations of its own store have written.
    written_[std::size_t(id)] = true;
    for (auto& index : at) check(index);
    check(value);
  }

  void steps(const Steps& list) {
    for (auto& step : list) {
      if (!indices_.empty() && !may_be_in_loop(step))
        fail(cat(kind_name(step), " is in a loop, where no such step may be"));
      if (in_if_ && !may_be_in_if(step)) fail(cat(kind_name(step), " is in a branch, where no such step may be"));
      std::visit([&](auto& s) { verify(s); }, step.what);
    }
  }

  void verify(const Store& s) { write(s.buffer, s.at, s.value); }
  void verify(const Accumulate& s) {
    check_format(s.value.dtype());
    read(s.buffer);
    write(s.buffer, s.at, s.value);
  }
  void verify(const Let& s) {
    check(s.value);
    if (s.value.dtype() != s.var.dtype()) fail("a named value of the wrong dtype");
    define(s.var);
  }
  void verify(const Update& s) {
    check_format(s.var.dtype());
    if (!carried_.count(s.var.payload())) fail(cat("v", s.var.payload(), " is updated but no loop carries it"));
    if (s.value.dtype() != s.var.dtype()) fail("an update of the wrong dtype");
    check(s.value);
    if (prefixes_.count(s.var.payload())) define(s.var);
    if (!s.position_var.defined()) return;
    if (!carried_.count(s.position_var.payload())) fail("a position is updated but no loop carries it");
    if (s.position.dtype() != s.position_var.dtype()) fail("a position of the wrong dtype");
    check(s.position);
  }
  void verify(const Loop& s) {
    check(s.extent);
    if (s.parallel_cost.defined()) check(s.parallel_cost);
    const std::size_t outside = defined_.size();
    for (auto& carry : s.carries) {
      if (carry.is_state()) {
        check(carry.init);
        if (carry.init.dtype() != carry.var.dtype()) fail("a state that starts as a value of another dtype");
        continue;
      }
      if (!carried_.insert(carry.var.payload()).second) fail(cat("v", carry.var.payload(), " is carried twice"));
      if (carry.kind == CarryKind::prefix) prefixes_.insert(carry.var.payload());
    }
    for (auto& carry : s.carries)
      if (carry.is_state()) define(carry.var);
    if (s.vector && s.until.defined()) fail("a vector loop with an end of its own");
    if (s.parallel_cost.defined() &&
        (s.until.defined() || std::any_of(s.carries.begin(), s.carries.end(), [](auto& c) { return c.is_state(); })))
      fail("a loop whose iterations count in order is in chunks");
    if (s.transposes && !is_transposing_copy(s)) fail("a loop says that it copies transposed elements, and does not");
    const bool has_order = s.vector && s.lane_order;
    for (auto& step : s.body)
      if (const auto* sum = as_add(step); sum && sum->by_runs && !has_order)
        fail("runs of equal indices in a loop without an order of additions");
    if (s.vector)
      for (auto& step : s.body)
        if (!may_be_in_lanes(step)) fail(cat(kind_name(step), " is in a vector loop, where no such step may be"));
    if (!indices_.insert(s.index.payload()).second) fail(cat("index ", s.index.payload(), " is that of a loop around"));
    auto states = std::exchange(states_, {});
    for (auto& carry : s.carries)
      if (carry.is_state()) states_.emplace(carry.var.payload(), 0);
    const bool in_if = std::exchange(in_if_, false);
    steps(s.body);
    if (s.until.defined()) {
      if (s.until.dtype() != DType::Bool) fail("an end of a loop that is not bool");
      check(s.until);
    }
    for (auto& [var, count] : states_)
      if (count != 1) fail(cat("the state v", var, " has ", count, " next values in its loop, not 1"));
    states_ = std::move(states);
    in_if_ = in_if;
    indices_.erase(s.index.payload());
    // Variables defined in a body are known in its iteration only.
    forget(outside);
    for (auto& carry : s.carries) {
      carried_.erase(carry.var.payload());
      define(carry.var);
    }
  }
  // to[i, j] = from[.., j, .., i] for a matrix `to` whose rows have a known length.
  bool is_transposing_copy(const Loop& rows) const {
    const auto* columns = rows.body.size() == 1 ? as_loop(rows.body[0]) : nullptr;
    const auto* store = columns && columns->body.size() == 1 ? as_store(columns->body[0]) : nullptr;
    if (!store || !rows.carries.empty() || !columns->carries.empty() || store->value.code() != Code::load) return false;
    const Expr load = store->value;
    const Buffer& to = program_.buffers[std::size_t(store->buffer)];
    return to.role == Role::temporary && to.shape.size() == 2 && to.shape[1].is_constant() &&
           store->at == std::vector<Expr>{rows.index, columns->index} && load.argument_count() > 1 &&
           stride(load.argument(load.argument_count() - 1), rows.index) == 1;
  }
  void verify(const Next& s) {
    const auto state = states_.find(s.var.payload());
    if (state == states_.end())
      fail(cat("v", s.var.payload(), " is not a state of the loop in which it has a next value"));
    ++state->second;
    check(s.value);
    if (s.value.dtype() != s.var.dtype()) fail("a next value of the wrong dtype");
  }
  // Afterwards, buffers that only one side has written count as unwritten, and variables that a side has defined are
  // unknown.
  void verify(const If& s) {
    if (s.condition.dtype() != DType::Bool) fail("a branch by something that is not bool");
    check(s.condition);
    const auto before = written_;
    std::vector<bool> by_then;
    const bool in_if = std::exchange(in_if_, true);
    const auto states = std::exchange(states_, {});
    for (auto* side : {&s.then, &s.otherwise}) {
      written_ = before;
      const std::size_t outside = defined_.size();
      steps(*side);
      forget(outside);
      if (side == &s.then) by_then = written_;
    }
    in_if_ = in_if;
    states_ = states;
    for (std::size_t b = 0; b < written_.size(); ++b) written_[b] = written_[b] && by_then[b];
  }
  void verify(const Allocate& s) {
    if (ready_[std::size_t(s.buffer)])
      fail(cat("buffer ", program_.buffers[std::size_t(s.buffer)].name, " exists twice"));
    for (auto& length : program_.buffers[std::size_t(s.buffer)].shape) check(length);
    ready_[std::size_t(s.buffer)] = true;
  }
  void verify(const Fill& s) {
    const Buffer& to = writable(s.buffer);
    if (to.dtype != s.value.dtype()) fail("a fill of the wrong dtype");
    if (!s.value.is_constant()) fail(cat("buffer ", to.name, " is filled with a value that is not constant"));
    if (written_[std::size_t(s.buffer)]) fail(cat("buffer ", to.name, " is filled after something was written to it"));
    check(s.value);
    written_[std::size_t(s.buffer)] = true;
  }
  void verify(const Call& s) {
    const Step step{s};
    for_each_expr(step, [&](const Expr& expr) { check(expr); });
    for_each_access(step, [&](const Access& access) {
      if (access.reads()) read(access.buffer);
      if (access.writes()) writable(access.buffer);
    });
    for_each_access(step, [&](const Access& access) {
      if (access.writes()) written_[std::size_t(access.buffer)] = true;
    });
    for (auto& argument : s.arguments)
      if (auto* memory = std::get_if<BufferArgument>(&argument))
        if (memory->offset.defined() && memory->offset.dtype() != DType::Int64)
          fail(cat("an offset in ", buffer(memory->buffer).name, " that is not int64"));
    if (!s.status.defined()) return;
    if (s.status.code() != Code::var || s.status.dtype() != DType::Int64)
      fail("a status that is not an int64 variable");
    define(s.status);
  }
  void verify(const Check& s) {
    if (s.condition.dtype() != DType::Bool) fail("a check of something that is not bool");
    check(s.condition);
  }
  void verify(const HostCall& s) {
    for (auto b : s.inputs) read(b);
    for (auto b : s.outputs) ready_[std::size_t(b)] = written_[std::size_t(b)] = true;
  }

  void forget(std::size_t outside) {
    for (; defined_.size() > outside; defined_.pop_back()) variables_.erase(defined_.back());
  }
  void define(Expr var) {
    if (variables_.insert(var.payload()).second) defined_.push_back(var.payload());
  }

  const Program& program_;
  std::vector<bool> ready_, written_;  // by buffer: it has memory, and some step has written to it
  std::unordered_set<std::int64_t> indices_, variables_, carried_, prefixes_;
  std::unordered_map<std::int64_t, int> states_;  // states of the current loop -> number of their next values
  bool in_if_ = false;                            // of the innermost loop, or of the top
  std::vector<std::int64_t> defined_;             // the variables, in the order of their definitions
};

}  // namespace

void verify(const Program& program) { verify(program, Stage::complete); }
void verify(const Program& program, Stage stage) { Verifier(program, stage).run(); }

}  // namespace bitale::program
