// Steps in C.
#include <algorithm>
#include <utility>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "codegen/c/emit.hpp"
#include "program/index_runs.hpp"

namespace bitale::codegen::c {

using program::CarryKind;
using program::Combiner;
using program::Role;

Emitter::Emitter(const program::Program& program, Support& support)
    : program_(program),
      pool_(*program.pool),
      support_(support),
      operations_(program, support,
                  [this](const std::string& function, const std::string& text) { declare(function, text); }),
      data_names_(program.buffers.size()),
      mentioned_(program.buffers.size(), false),
      shares_memory_(program.buffers.size(), false),
      written_(program.buffers.size(), false),
      kept_(program) {
  std::map<int, std::vector<std::size_t>> by_slot;
  for (std::size_t b = 0; b < program.buffers.size(); ++b) {
    const auto& buffer = program.buffers[b];
    written_[b] = buffer.role == Role::output || buffer.role == Role::temporary;
    if (buffer.role == Role::temporary) by_slot[buffer.slot].push_back(b);
  }
  for (auto& [slot, buffers] : by_slot)
    for (auto b : buffers) shares_memory_[b] = slot >= 0 && buffers.size() > 1;
}

std::string Emitter::statements() {
  count_uses();
  levels_.emplace_back();
  emit(program_.steps);
  std::string text = std::move(levels_.back().text);
  levels_.clear();
  return text;
}

void Emitter::add_line(Level& level, std::string text) {
  level.text += std::string(std::size_t(2 * level.depth), ' ') + std::move(text) + "\n";
}

const std::string& Emitter::data_name(std::int64_t id) {
  mentioned_[std::size_t(id)] = true;
  std::string& name = data_names_[std::size_t(id)];
  if (name.empty()) name = names_.take(buffer(id).name.empty() ? cat("b", id) : buffer(id).name);
  return name;
}

std::string Emitter::pointer(std::int64_t id, std::string_view value) {
  const bool is_written = written_[std::size_t(id)], alone = !shares_memory_[std::size_t(id)];
  return cat(is_written ? "" : "const ", element_type(buffer(id).dtype), " *", alone ? "restrict " : "const ",
             data_name(id), value.empty() ? "" : " = ", value);
}

std::string Emitter::stack_memory(std::int64_t id) {
  const auto size = std::int64_t(itemsize(buffer(id).dtype));
  const std::int64_t count = std::max<std::int64_t>(*program::constant_bytes(buffer(id)) / size, 1);
  const std::string name = names_.take(cat(data_name(id), "_memory"));
  line(cat(element_type(buffer(id).dtype), " ", name, "[", count, "];"));
  return name;
}

void Emitter::open_level(Expr index, int depth) {
  nest_.open(index);
  levels_.emplace_back().depth = depth;
}

void Emitter::close_level() {
  std::string text = std::move(levels_.back().text);
  levels_.pop_back();
  levels_.back().text += text;
  nest_.close();
}

void Emitter::comment_on(const program::Loop& loop) {
  std::vector<std::string> made;
  for (auto id : nest_.written()) made.push_back(data_name(id));
  std::sort(made.begin(), made.end());
  for (auto& carry : loop.carries) made.push_back(var_names_.at(carry.var.payload()));
  if (!made.empty()) line(cat("// ", join(made, ", "), ":"));
}

void Emitter::emit(const program::Steps& steps) {
  for (auto& step : steps) {
    if (levels_.size() == 1) {
      nest_.begin(step);
    }
    std::visit([this](auto& s) { emit(s); }, step.what);
    // The values of expressions that load from memory end when a step writes there.
    for (auto& expr : kept_.ended_by(step))
      for (auto& level : levels_) level.values.erase(expr.id());
  }
}

namespace {
std::string stored(DType dtype, const Text& value) {
  return dtype == DType::Bool ? cat("(uint8_t)", value.inside(Text::atom)) : value.text;
}
}  // namespace

void Emitter::emit(const program::Store& step) {
  const Text v = value(step.value);
  line(cat(target(step.buffer, step.at), " = ", stored(buffer(step.buffer).dtype, v), ";"));
}

void Emitter::emit(const program::Accumulate& step) {
  const DType dtype = buffer(step.buffer).dtype;
  const Text v = value(step.value);
  if (const auto terms = terms_.find(&step); terms != terms_.end()) {
    const Text offset = value(offset_of(program_, step.buffer, step.at));
    line(cat(terms->second.offsets, "[", lane_, "] = ", offset.text, ";"));
    return line(cat(terms->second.values, "[", lane_, "] = ", v.text, ";"));
  }
  const std::string element = target(step.buffer, step.at);
  if (step.combiner == Combiner::add && is_float(dtype)) return line(cat(element, " += ", v.text, ";"));
  const Text before = dtype == DType::Bool ? Text{cat(element, " != 0"), Text::other} : Text{element, Text::atom};
  const Text after{operations_.combined(step.combiner, dtype, before, v), Text::other};
  line(cat(element, " = ", stored(dtype, after), ";"));
}

void Emitter::emit(const program::Let& step) {
  const Text v = value(step.value);
  const std::string name = names_.take(cat("v", step.var.payload()));
  line(cat("const ", value_type(step.var.dtype()), " ", name, " = ", v.text, ";"));
  var_names_[step.var.payload()] = name;
  nest_.define(step.var);
}

void Emitter::emit(const program::Update& step) {
  const DType dtype = step.var.dtype();
  std::string name = var_names_.at(step.var.payload());
  if (in_lanes(step)) name = cat(lane_arrays_.at(step.var.payload()).name, "[", lane_, "]");
  if (step.position_var.defined()) {
    // A candidate is taken when it is strictly more extreme, or the first nan.
    const Text v = value(step.value), position = value(step.position);
    const std::string candidate = names_.take("candidate");
    line(cat("const ", value_type(dtype), " ", candidate, " = ", v.text, ";"));
    const std::string_view beaten = step.combiner == Combiner::max ? " <= " : " >= ";
    const std::string condition = is_float(dtype) ? cat("!(", candidate, beaten, name, ") && ", name, " == ", name)
                                                  : cat("!(", candidate, beaten, name, ")");
    const std::string& at = var_names_.at(step.position_var.payload());
    line(cat("if (", condition, ") {"));
    line(cat("  ", name, " = ", candidate, ";"));
    line(cat("  ", at, " = ", position.text, ";"));
    line("}");
    return;
  }
  const bool is_prefix = prefixes_.count(step.var.payload()) != 0;
  const bool is_dot = !is_prefix && is_sum_of_products(step);
  if (is_dot) {
    const Text a = value(step.value.argument(0)), b = value(step.value.argument(1));
    line(cat(name, " = ", support_.use("bt_fma", dtype), "(", a.text, ", ", b.text, ", ", name, ");"));
  } else {
    const Text v = value(step.value);
    if (is_float_sum(step))
      line(cat(name, " += ", v.text, ";"));
    else
      line(cat(name, " = ", operations_.combined(step.combiner, dtype, {name, Text::atom}, v), ";"));
  }
  if (is_prefix) nest_.define(step.var);
}

// A prefix sum starts with -0, the number that leaves any other unchanged when it is added.
std::string Emitter::start_of(const program::Carry& carry) {
  const DType dtype = carry.var.dtype();
  if (carry.kind == CarryKind::prefix && carry.combiner == Combiner::add && is_float(dtype))
    return dtype == DType::Float64 ? "-0.0" : "-0.0f";
  return constant_text(dtype, program::identity(carry.combiner, pool_, dtype).payload());
}

namespace {

std::string_view carried_name(const program::Carry& carry) {
  switch (carry.kind) {
    case CarryKind::position: return "position";
    case CarryKind::state: return "state";
    case CarryKind::prefix: return "prefix";
    case CarryKind::reduce:
    case CarryKind::arg_reduce: break;
  }
  return program::combiner_name(carry.combiner);
}

}  // namespace

void Emitter::emit(const program::Loop& loop) {
  const std::string extent = value(loop.extent).inside(Text::sum);
  for (auto& carry : loop.carries) {
    var_names_[carry.var.payload()] = names_.take(carried_name(carry));
    if (carry.kind == CarryKind::prefix) prefixes_.insert(carry.var.payload());
  }
  std::vector<std::string> starts;
  for (auto& carry : loop.carries) starts.push_back(carry.init.defined() ? value(carry.init).text : start_of(carry));
  if (levels_.size() == 1) comment_on(loop);
  for (std::size_t k = 0; k < starts.size(); ++k) {
    const Expr var = loop.carries[k].var;
    line(cat(value_type(var.dtype()), " ", var_names_.at(var.payload()), " = ", starts[k], ";"));
  }

  std::string wanted = "i";
  if (const auto id = std::size_t(loop.index.payload());
      id < program_.index_names.size() && !program_.index_names[id].empty())
    wanted = program_.index_names[id];
  const std::string index = names_.take(wanted);
  index_names_[loop.index.payload()] = index;
  if (needs_lanes(loop))
    lanes_loop(loop, extent);
  else
    plain_loop(loop, extent);
  names_.give_back(index);
  for (auto& carry : loop.carries) nest_.define(carry.var);
}

void Emitter::plain_loop(const program::Loop& loop, const std::string& extent) {
  const std::string& i = index_names_.at(loop.index.payload());
  const std::string head = cat("for (int64_t ", i, " = 0; ", i, " < ", extent, "; ++", i, ") {");
  const int depth = levels_.back().depth;
  open_level(loop.index, depth + 1);
  for (auto& carry : loop.carries)
    if (carry.is_state()) nest_.define(carry.var);
  auto outer = std::exchange(next_, {});
  emit(loop.body);
  const std::string stops = loop.until.defined() ? names_.take("stops") : std::string();
  if (loop.until.defined()) line(cat("const bool ", stops, " = ", value(loop.until).text, ";"));
  for (auto& each : next_) line(each);
  next_ = std::move(outer);
  const std::int64_t interval = poll_interval(loop, levels_.size() == 2);
  if (const std::string asked = interval ? poll() : std::string(); !asked.empty())
    line(cat("if ((", i, " & ", interval - 1, ") == ", interval - 1, " && ", asked, ";"));
  if (loop.until.defined()) line(cat("if (", stops, ") break;"));
  // Values that the loop needs from outside have been written there by now.
  Level& outside = levels_[levels_.size() - 2];
  add_line(outside, head);
  close_level();
  line("}");
}

// States keep their values until the iteration is done.
void Emitter::emit(const program::Next& step) {
  const Text v = value(step.value);
  const std::string name = names_.take("next");
  line(cat("const ", value_type(step.var.dtype()), " ", name, " = ", v.text, ";"));
  next_.push_back(cat(var_names_.at(step.var.payload()), " = ", name, ";"));
}

void Emitter::emit(const program::If& step) {
  line(cat("if (", value(step.condition).text, ") {"));
  const auto emit_side = [&](const program::Steps& side) {
    open_level({}, levels_.back().depth + 1);
    nest_.mark_side();
    emit(side);
    close_level();
  };
  emit_side(step.then);
  if (!step.otherwise.empty()) {
    line("} else {");
    emit_side(step.otherwise);
  }
  line("}");
}

// ---- top-level steps ------------------------------------------------------------------------------------------------

void Emitter::emit(const program::Check& step) {
  const Text condition = value(step.condition);
  std::string message = program_.checks[std::size_t(step.check)];
  for (char& c : message)
    if (c == '\n' || c == '\\') c = ' ';
  line(cat("if (!", condition.inside(Text::atom), ") return ", failure(step.check), ";  // ", message));
}

void Emitter::emit(const program::Allocate& step) { allocate(step.buffer); }

void Emitter::emit(const program::HostCall& step) { host_call(step); }

void Emitter::emit(const program::Call& step) {
  std::vector<std::string> arguments, types;
  for (auto& argument : step.arguments) {
    if (auto* expr = std::get_if<Expr>(&argument)) {
      types.emplace_back(value_type(expr->dtype()));
      arguments.push_back(value(*expr).text);
    } else {
      auto& [id, kind, offset] = std::get<program::BufferArgument>(argument);
      types.push_back(cat(written_[std::size_t(id)] ? "" : "const ", "void *"));
      const bool is_value = buffer(id).ndim() == 0 && single(id) == data_name(id);
      arguments.push_back(is_value ? cat("&", data_name(id)) : data_name(id));
      if (offset.defined()) arguments.back() += cat(" + ", value(offset).inside(Text::sum));
    }
  }
  // All calls of a function get the same prototype.
  for (auto& type : types)
    if (type == "void *") type = "const void *";
  const std::string call = cat(step.function, "(", join(arguments, ", "), ")");
  declare(step.function,
          cat(step.status.defined() ? "int64_t " : "void ", step.function, "(", join(types, ", "), ");\n"));
  if (!step.status.defined()) return line(call + ";");
  const std::string name = names_.take("status");
  line(cat("const int64_t ", name, " = ", call, ";"));
  var_names_[step.status.payload()] = name;
  nest_.define(step.status);
}

void Emitter::emit(const program::Fill& step) {
  const auto& filled = buffer(step.buffer);
  Expr count = pool_.integer(1);
  for (auto& length : filled.shape) count = count * length;
  const Text v = value(step.value), n = value(count);
  line(cat("for (int64_t k = 0; k < ", n.inside(Text::sum), "; ++k) ", data_name(step.buffer),
           "[k] = ", stored(filled.dtype, v), ";"));
}

}  // namespace bitale::codegen::c
