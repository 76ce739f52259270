#include "program/program.hpp"

#include <utility>

#include "bitale/core/text.hpp"
#include "program/schedule_text.hpp"
#include "program/steps.hpp"

namespace bitale::program {

namespace {

std::string_view update_text(Combiner combiner) {
  constexpr std::string_view texts[] = {"+=", "*=", "min=", "max=", "&=", "|="};
  return texts[int(combiner)];
}

class Printer {
 public:
  explicit Printer(const Program& program) : program_(program) {
    for (auto& buffer : program.buffers) names_.push_back(buffer.name);
    expr_names_ = {names_, program.index_names};
  }

  std::string print() {
    out_ = cat("program ", program_.name, "(", signature(Role::input), ") -> ", signature(Role::output), "\n");
    declare_unallocated();
    steps(program_.steps, 1);
    return out_;
  }
  std::vector<std::string> print_steps() {
    std::vector<std::string> texts;
    for (auto& step : program_.steps) {
      print(step, 0);
      texts.push_back(std::exchange(out_, {}));
    }
    return texts;
  }

 private:
  std::string text(Expr expr) const { return to_string(expr, expr_names_); }
  std::string texts(std::span<const Expr> exprs) const {
    std::vector<std::string> parts;
    for (auto& expr : exprs) parts.push_back(text(expr));
    return join(parts, ", ");
  }
  const std::string& name(std::int64_t buffer) const { return names_[std::size_t(buffer)]; }
  std::string element(std::int64_t buffer, std::span<const Expr> at) const {
    return at.empty() ? name(buffer) : cat(name(buffer), "[", texts(at), "]");
  }
  std::string declaration(std::int64_t id) const {
    const Buffer& buffer = program_.buffers[std::size_t(id)];
    std::vector<std::string> lengths(std::size_t(buffer.ndim()), "?");
    if (buffer.role != Role::input)
      for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = text(buffer.shape[i]);
    const std::string shape = lengths.empty() ? "" : cat("[", join(lengths, ", "), "]");
    return cat(buffer.name, ": ", dtype_short_name(buffer.dtype), shape, buffer.per_worker ? " per worker" : "");
  }
  std::string signature(Role role) const {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < program_.buffers.size(); ++i)
      if (program_.buffers[i].role == role) parts.push_back(declaration(std::int64_t(i)));
    return join(parts, ", ");
  }

  // How a function accesses memory: it reads it ("in"), writes it ("out"), or both ("inout").
  std::string argument_text(const std::variant<Expr, BufferArgument>& argument) const {
    if (auto* expr = std::get_if<Expr>(&argument)) return text(*expr);
    auto& [buffer, kind, offset] = std::get<BufferArgument>(argument);
    const std::string_view direction = kind == AccessKind::read ? "in " : kind == AccessKind::write ? "out " : "inout ";
    return cat(direction, name(buffer), offset.defined() ? cat(" from ", text(offset)) : "");
  }

  // Declares temporaries that steps use and none allocates, as there are before memory is planned.
  void declare_unallocated() {
    std::vector<bool> unallocated(program_.buffers.size(), false);
    const auto is_temporary = [&](std::int64_t buffer) {
      return program_.buffers[std::size_t(buffer)].role == Role::temporary;
    };
    for (auto& step : program_.steps)
      for_each_buffer(step, [&](std::int64_t buffer) { unallocated[std::size_t(buffer)] = is_temporary(buffer); });
    for (auto& step : program_.steps) {
      if (auto* allocate = as_allocate(step)) unallocated[std::size_t(allocate->buffer)] = false;
      if (auto* host = as_host_call(step))
        for (auto buffer : host->outputs) unallocated[std::size_t(buffer)] = false;
    }
    for (std::size_t b = 0; b < unallocated.size(); ++b)
      if (unallocated[b]) line(1, cat("buffer ", declaration(std::int64_t(b))));
  }

  void line(int depth, std::string text) { out_ += std::string(std::size_t(2 * depth), ' ') + std::move(text) + "\n"; }

  void steps(const Steps& list, int depth) {
    for (auto& step : list) print(step, depth);
  }

  void print(const Step& step, int depth) {
    match(
        step, [&](const Store& s) { line(depth, cat(element(s.buffer, s.at), " = ", text(s.value))); },
        [&](const Accumulate& s) {
          line(depth, cat(element(s.buffer, s.at), " ", update_text(s.combiner), " ", text(s.value),
                          s.by_runs ? " by runs" : ""));
        },
        [&](const Let& s) { line(depth, cat(text(s.var), " = ", text(s.value))); },
        [&](const Update& s) {
          line(depth, cat(text(s.var), " ", update_text(s.combiner), " ", text(s.value)));
          if (s.position_var.defined())
            line(depth + 1, cat("position: ", text(s.position_var), " = ", text(s.position)));
        },
        [&](const Loop& s) {
          std::string head = cat("for ", text(s.index), " in ", text(s.extent));
          if (s.vector) head += ", vector";
          head += schedule_text(s.schedule, [&](std::int64_t buffer) { return name(buffer); });
          if (s.parallel_cost.defined()) head += ", in chunks";
          if (s.prefetch_distance) head += cat(", ahead ", s.prefetch_distance);
          if (s.transposes) head += ", transposing";
          if (s.lane_order) head += cat(", lanes of ", s.lane_order.element_bytes, " x ", s.lane_order.accumulators);
          for (auto& carry : s.carries)
            head += carry.is_state() ? cat(", state ", text(carry.var), " = ", text(carry.init))
                                     : cat(carry.kind == CarryKind::prefix ? ", prefix " : ", ",
                                           combiner_name(carry.combiner), " ", text(carry.var));
          line(depth, head + ":");
          steps(s.body, depth + 1);
          if (s.until.defined()) line(depth + 1, cat("until ", text(s.until)));
        },
        [&](const Next& s) { line(depth, cat("next ", text(s.var), " = ", text(s.value))); },
        [&](const If& s) {
          line(depth, cat("if ", text(s.condition), ":"));
          steps(s.then, depth + 1);
          if (s.otherwise.empty()) return;
          line(depth, "else:");
          steps(s.otherwise, depth + 1);
        },
        [&](const Allocate& s) {
          const Buffer& buffer = program_.buffers[std::size_t(s.buffer)];
          const char* kind = buffer.role == Role::output ? "output " : buffer.on_stack ? "stack " : "temporary ";
          line(depth, cat(kind, declaration(s.buffer)));
        },
        [&](const Fill& s) { line(depth, cat("fill ", name(s.buffer), " ", text(s.value))); },
        [&](const Call& s) {
          std::vector<std::string> parts;
          for (auto& argument : s.arguments) parts.push_back(argument_text(argument));
          const std::string status = s.status.defined() ? text(s.status) + " = " : "";
          line(depth, cat(status, "call ", s.function, "(", join(parts, ", "), ")"));
        },
        [&](const Check& s) { line(depth, cat("require ", text(s.condition))); },
        [&](const HostCall& s) {
          std::vector<std::string> in, out;
          for (auto b : s.inputs) in.push_back(name(b));
          for (auto b : s.outputs) out.push_back(name(b));
          line(depth, cat(join(out, ", "), " = perform ", program_.callbacks[std::size_t(s.callback)], "(",
                          join(in, ", "), ")"));
        });
  }

  const Program& program_;
  std::vector<std::string> names_;
  ExprNames expr_names_;
  std::string out_;
};

}  // namespace

std::vector<std::int64_t> length_offsets(const Program& program) {
  std::vector<std::int64_t> offsets{0};
  for (auto& buffer : program.buffers) offsets.push_back(offsets.back() + buffer.ndim());
  return offsets;
}

std::string_view kind_name(const Step& step) {
  return match(
      step, [](const Store&) -> std::string_view { return "a store"; },
      [](const Accumulate&) -> std::string_view { return "an accumulation"; },
      [](const Let&) -> std::string_view { return "a named value"; },
      [](const Update&) -> std::string_view { return "an update"; },
      [](const Loop&) -> std::string_view { return "a loop"; },
      [](const Allocate&) -> std::string_view { return "an allocation"; },
      [](const Fill&) -> std::string_view { return "a fill"; },
      [](const Call&) -> std::string_view { return "a call"; },
      [](const Check&) -> std::string_view { return "a check"; },
      [](const HostCall&) -> std::string_view { return "a host call"; },
      [](const Next&) -> std::string_view { return "a next value"; },
      [](const If&) -> std::string_view { return "a branch"; });
}

std::int64_t operations(const Step& step) {
  std::int64_t count = 1;
  constexpr std::int64_t called = 40;
  const auto add = [&](Expr value) {
    ExprWalk()(value, [&](Expr expr) { count += expr.code() == Code::call ? called : 1; });
  };
  match(
      step, [&](const OneOf<Store, Accumulate, Let, Update, Next> auto& s) { add(s.value); },
      [&](const OneOf<Check, If> auto& s) { add(s.condition); },
      [](const OneOf<Loop, Allocate, Fill, Call, HostCall> auto&) {});
  return count;
}

std::optional<std::int64_t> constant_bytes(const Buffer& buffer) {
  auto bytes = std::int64_t(itemsize(buffer.dtype));
  for (auto& length : buffer.shape)
    if (!length.is_constant() || length.payload() < 0 || __builtin_mul_overflow(bytes, length.payload(), &bytes))
      return {};
  return bytes;
}

std::string to_string(const Program& program) { return Printer(program).print(); }
std::vector<std::string> step_texts(const Program& program) { return Printer(program).print_steps(); }

}  // namespace bitale::program
