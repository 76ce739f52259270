// Steps as operations.
#include <algorithm>

#include "bitale/core/error.hpp"
#include "bitale/core/interruption.hpp"
#include "bitale/runtime/functions.hpp"
#include "codegen/interpreted/builder.hpp"
#include "codegen/schedule.hpp"
#include "program/index_runs.hpp"
#include "program/steps.hpp"

namespace bitale::codegen::interpreted {

using program::CarryKind;
using program::Code;
using program::Combiner;
using program::Expr;
using program::Role;
using program::kernels::Special;

namespace {
constexpr std::size_t most_integers = 30, most_reals = 8;  // arguments of runtime functions
constexpr std::int64_t widest = 512;                       // iterations of a chunk
constexpr std::int64_t widest_of_memory = 4096;            // where no values are between those of memory
// Bytes of one value of a chunk: all values that exist at a time fit into a first-level cache of 48 KiB.
std::int64_t bytes_of_chunk(std::size_t values) {
  return std::clamp<std::int64_t>(std::int64_t(std::bit_floor((48u << 10) / values)), 512, 2048);
}
}  // namespace

PlanParts Builder::build() {
  constant(0);  // registers that an operation does not use
  parts_.blocks.emplace_back();
  levels_.push_back({0, {}});
  emit(program_.steps);
  for (auto& block : parts_.blocks)
    for (auto& op : block) for_each_register(op, [&](Register& r) { r = numbered(r); });
  for (auto& loop : parts_.loops) {
    loop.index = numbered(loop.index);
    loop.extent = numbered(loop.extent);
    for (auto& each : loop.reductions) each.var = numbered(each.var);
    for (auto& [state, next] : loop.next) state = numbered(state), next = numbered(next);
    if (loop.until != LoopPlan::no_register) loop.until = numbered(loop.until);
  }
  for (auto& each : parts_.allocations)
    for (auto& r : each.lengths) r = numbered(r);
  return std::move(parts_);
}

// ---- steps --------------------------------------------------------------------------------------------------------
void Builder::emit(const program::Steps& steps) {
  for (auto& step : steps) {
    if (levels_.size() == 1) {
      throw_if_interrupted();
      nest_.begin(step);
    }
    std::visit([this](auto& s) { emit(s); }, step.what);
    for (auto& expr : kept_.ended_by(step))
      for (auto& level : levels_) level.values.erase(expr.id());
  }
}

void Builder::emit(const program::Store& step) {
  const DType dtype = buffer(step.buffer).dtype;
  const Value v = value(step.value);
  const Place to = place(step.buffer, step.at, lanes_ != nullptr);
  Op op{.kind = Kind::store,
        .in_lanes = to.in_lanes,
        .shift = shift_of(dtype),
        .buffer = std::int32_t(step.buffer),
        .a = to.start.at,
        .b = v.at,
        .address = special(Special::copy, dtype)};
  if (to.in_lanes || v.in_lanes) {
    op.in_lanes = true;
    op.b = in_lanes(v, dtype);
    if (to.is_adjacent) {
      op.c = start_;
    } else if (to.stride) {
      op.kind = Kind::store_strided;
      op.c = to.stride->at;
      op.address = special(Special::store_strided, dtype);
    } else {  // also all values to one element: the last remains
      op.kind = Kind::scatter;
      op.a = in_lanes(to.start, DType::Int64);
      op.address = special(Special::scatter, dtype);
    }
  }
  add(op);
}

void Builder::emit(const program::Accumulate& step) {
  const DType dtype = buffer(step.buffer).dtype;
  const Value v = value(step.value);
  Op op{.kind = Kind::accumulate,
        .in_lanes = lanes_ != nullptr,
        .shift = shift_of(dtype),
        .buffer = std::int32_t(step.buffer)};
  if (!lanes_) {
    op.a = place(step.buffer, step.at, false).start.at;
    op.b = v.at;
    op.address = required(kernels_.combine(step.combiner, dtype));
    add(op);
    return;
  }
  op.b = in_lanes(v, dtype);
  const Expr offset = step.at.empty() ? pool_.integer(0) : program::offset_of(program_, step.buffer, step.at);
  const bool by_runs = runs_.defined() && is_float(dtype) && offset == runs_;
  if (!by_runs) {
    const Place to = place(step.buffer, step.at, true);
    if (to.is_adjacent) {
      op.a = to.start.at;
      op.c = start_;
      op.address = required(kernels_.combine(step.combiner, dtype));
      add(op);
      return;
    }
  }
  op.a = in_lanes(value(offset), DType::Int64);
  if (by_runs) {
    op.kind = Kind::accumulate_by_runs;
    op.number = lanes_->schedule.lanes;
    op.address = required(kernels_.scatter_by_runs(dtype));
    at_end_.push_back(op);
    return;
  }
  op.kind = Kind::accumulate_at;
  op.address = required(kernels_.scatter(step.combiner, dtype));
  add(op);
}

void Builder::emit(const program::Let& step) {
  vars_[step.var.payload()] = value(step.value);
  nest_.define(step.var);
}

void Builder::emit(const program::Update& step) {
  const DType dtype = step.var.dtype();
  const bool lanes = lanes_ != nullptr;
  const Register var = carried_.at(step.var.payload());
  const bool is_prefix = prefixes_.contains(step.var.payload());
  if (step.position_var.defined()) {
    const Value v = value(step.value), position = value(step.position);
    add({.kind = Kind::arg_reduce,
         .in_lanes = lanes,
         .out = var,
         .a = lanes ? in_lanes(v, dtype) : v.at,
         .b = lanes ? in_lanes(position, DType::Int64) : position.at,
         .c = carried_.at(step.position_var.payload()),
         .address = required(kernels_.arg_reduction(step.combiner, dtype))});
    return;
  }
  const bool is_dot = !is_prefix && is_sum_of_products(step);
  if (lanes && !is_prefix && is_float(dtype)) return reduce(step, var, is_dot);
  if (is_dot) {
    const Value a = value(step.value.argument(0)), b = value(step.value.argument(1));
    add({.kind = Kind::kernel,
         .out = var,
         .a = a.at,
         .b = b.at,
         .c = var,
         .address = required(kernels_.operation(Code::fma, dtype, dtype, 7))});
    return;
  }
  const Value v = value(step.value);
  if (!lanes) {
    add({.kind = Kind::kernel,
         .out = var,
         .a = var,
         .b = v.at,
         .address = required(kernels_.combine(step.combiner, dtype))});
  } else if (!is_prefix) {
    add({.kind = Kind::fold,
         .in_lanes = true,
         .out = var,
         .a = in_lanes(v, dtype),
         .address = required(kernels_.fold(step.combiner, dtype, false))});
  } else {
    const Register out = new_chunk(dtype);
    add({.kind = Kind::prefix,
         .in_lanes = true,
         .out = out,
         .a = in_lanes(v, dtype),
         .c = var,
         .address = required(kernels_.fold(step.combiner, dtype, true))});
    vars_[step.var.payload()] = {out, true};
  }
  if (is_prefix) nest_.define(step.var);
}

void Builder::reduce(const program::Update& step, Register var, bool is_dot) {
  const DType dtype = step.var.dtype();
  auto& reductions = parts_.loops[loop_].reductions;
  std::size_t k = 0;
  while (k < reductions.size() && reductions[k].var != var) ++k;
  if (k == reductions.size())
    reductions.push_back({dtype, step.combiner, lanes_->schedule.pairwise && program::is_float_sum(step), var,
                          kernels_.combine(step.combiner, dtype)});
  else
    parts_.loops[loop_].pass_by_pass = true;
  parts_.reductions = std::max(parts_.reductions, k + 1);
  const auto term = [&](Expr expr) { return in_lanes(value(expr), dtype); };
  const Register a = term(is_dot ? step.value.argument(0) : step.value);
  const Register b = is_dot ? term(step.value.argument(1)) : a;
  add({.kind = Kind::reduce,
       .in_lanes = true,
       .a = a,
       .b = b,
       .address = required(kernels_.reduction(step.combiner, dtype, is_dot)),
       .number = std::int64_t(k)});
}

// A prefix sum starts with -0, the number that leaves any other unchanged when it is added.
Expr Builder::start_of(const program::Carry& carry) {
  const DType dtype = carry.var.dtype();
  if (carry.kind == CarryKind::prefix && carry.combiner == Combiner::add && is_float(dtype))
    return pool_.number(-0.0, dtype);
  return program::identity(carry.combiner, pool_, dtype);
}

void Builder::emit(const program::Loop& loop) {
  const Register extent = value(loop.extent).at;
  std::vector<Value> starts;
  for (auto& carry : loop.carries) starts.push_back(value(carry.init.defined() ? carry.init : start_of(carry)));
  for (std::size_t k = 0; k < starts.size(); ++k) {
    const program::Carry& carry = loop.carries[k];
    const std::int64_t var = carry.var.payload();
    const auto [found, is_new] = carried_.try_emplace(var, 0);
    if (is_new) found->second = new_scalar();
    const Register at = found->second;
    vars_[var] = {at};
    if (carry.kind == CarryKind::prefix) prefixes_.insert(var);
    copy(at, carry.var.dtype(), starts[k]);
  }
  const std::size_t number = parts_.loops.size(), block = parts_.blocks.size();
  parts_.loops.emplace_back();
  parts_.blocks.emplace_back();
  nest_.open(loop.index);
  levels_.push_back({block, {}});
  const Register index = new_scalar();
  {
    LoopPlan& made = parts_.loops[number];
    made.index = index;
    made.extent = extent;
    made.block = block;
  }
  if (loop.schedule || is_plain_scan(loop))
    vector_loop(loop, number, index);
  else
    plain_loop(loop, number, index);
  levels_.pop_back();
  nest_.close();
  add({.kind = Kind::loop, .number = std::int64_t(number)});
  for (auto& carry : loop.carries) {
    vars_[carry.var.payload()] = {carried_.at(carry.var.payload())};
    nest_.define(carry.var);
  }
}

// Scans of floats are sequential, and code gains little from lanes around them; the interpreter gains much. Whether
// all else in the iterations is independent is obvious where no buffer is written twice, or written and read.
bool Builder::is_plain_scan(const program::Loop& loop) {
  const auto is_scan = [](const program::Carry& carry) { return carry.kind == CarryKind::prefix; };
  const auto is_simple = [](const program::Step& step) {
    return program::as_store(step) || program::as_let(step) || program::as_update(step);
  };
  if (loop.carries.empty() || loop.until.defined() || !std::ranges::all_of(loop.carries, is_scan) ||
      !std::ranges::all_of(loop.body, is_simple))
    return false;
  std::unordered_set<std::int64_t> written;
  bool is_independent = true;
  for (auto& step : loop.body)
    program::for_each_access(step, [&](const program::Access& access) {
      is_independent &= !access.at->empty() && written.insert(access.buffer).second;
    });
  program::ExprWalk walk;
  for (auto& step : loop.body)
    program::for_each_load(step, walk, [&](Expr load) { is_independent &= !written.contains(load.payload()); });
  return is_independent;
}

void Builder::plain_loop(const program::Loop& loop, std::size_t number, Register index) {
  levels_.back().values[loop.index.id()] = {index};
  for (auto& carry : loop.carries)
    if (carry.is_state()) nest_.define(carry.var);
  auto outer = std::exchange(next_, {});
  emit(loop.body);
  const Register until = loop.until.defined() ? value(loop.until).at : LoopPlan::no_register;
  LoopPlan& made = parts_.loops[number];
  made.next = std::exchange(next_, std::move(outer));
  made.until = until;
  made.poll_interval = poll_interval(loop, levels_.size() == 2);
}

void Builder::vector_loop(const program::Loop& loop, std::size_t number, Register index) {
  const auto is_alone = [&](const program::Step& step) { return program::may_be_in_lanes(step); };
  if (!std::all_of(loop.body.begin(), loop.body.end(), is_alone))
    throw InternalError("codegen: a vector loop with steps that can't be in lanes");
  lanes_ = &loop;
  loop_ = number;
  start_ = index;
  chunks_.clear();
  strides_.clear();
  at_end_.clear();
  runs_ = program::index_runs_of(program_, loop);
  // The chunk's first iteration, as an expression of this loop's level that is the same for all lanes.
  start_index_ = pool_.var(first_own_variable - std::int64_t(number), DType::Int64);
  vars_[start_index_.payload()] = {index};
  nest_.define(start_index_);
  emit(loop.body);
  auto& ops = parts_.blocks[levels_.back().block];
  ops.insert(ops.end(), at_end_.begin(), at_end_.end());
  LoopPlan& made = parts_.loops[number];
  made.in_lanes = true;
  made.lanes = std::max(1, loop.schedule.lanes);
  made.slots = made.lanes * loop.schedule.accumulators;
  for (std::size_t k = 0; k < loop.body.size(); ++k)
    for (std::size_t j = 0; j < k; ++j) {
      const auto *a = program::as_add(loop.body[k]), *b = program::as_add(loop.body[j]);
      made.pass_by_pass |= a && b && a->buffer == b->buffer;
    }
  join_polynomials(ops);
  store_directly(ops);
  const std::size_t used = assign_chunks(ops);
  int shift = 0;
  for (auto& chunk : chunks_) shift = std::max<int>(shift, chunk.shift);
  made.width = used == 0 ? widest_of_memory : std::max(made.slots, std::min(widest, bytes_of_chunk(used) >> shift));
  if (made.pass_by_pass) made.width = made.lanes;
  if (used) parts_.chunk_bytes = std::max(parts_.chunk_bytes, std::size_t(made.width << shift));
  lanes_ = nullptr;
}

void Builder::emit(const program::Next& step) {
  Value v = value(step.value);
  const bool changes = std::any_of(carried_.begin(), carried_.end(), [&](auto& each) { return each.second == v.at; });
  const Register state = carried_.at(step.var.payload());
  // Copied, because states take their next values one after the other.
  if (changes) {
    const Register kept = new_scalar();
    copy(kept, step.var.dtype(), v);
    v = {kept};
  }
  next_.emplace_back(state, v.at);
}

void Builder::emit(const program::If& step) {
  const Register condition = value(step.condition).at;
  const auto side = [&](const program::Steps& steps) {
    const std::size_t block = parts_.blocks.size();
    parts_.blocks.emplace_back();
    nest_.open({});
    levels_.push_back({block, {}});
    nest_.mark_side();
    emit(steps);
    levels_.pop_back();
    nest_.close();
    return block;
  };
  const std::size_t then = side(step.then), otherwise = side(step.otherwise);
  Op op{.kind = Kind::branch, .a = condition};
  op.number = std::int64_t(then);
  op.list = std::uint32_t(otherwise);
  add(op);
}

void Builder::emit(const program::Check& step) {
  add({.kind = Kind::check, .a = value(step.condition).at, .number = step.check + 1});
}

void Builder::emit(const program::Allocate& step) {
  const program::Buffer& made = buffer(step.buffer);
  AllocationPlan plan;
  plan.first_length = offsets_[std::size_t(step.buffer)];
  plan.may_be_given = made.role == Role::output;
  for (auto& length : made.shape) plan.lengths.push_back(value(length).at);
  if (made.on_stack) {
    const auto bytes = std::size_t(std::max<std::int64_t>(*program::constant_bytes(made), 1));
    plan.on_stack = std::int64_t(parts_.stack_bytes);
    parts_.stack_bytes += (bytes + 63) / 64 * 64;
  }
  add({.kind = Kind::allocate, .buffer = std::int32_t(step.buffer), .number = std::int64_t(parts_.allocations.size())});
  parts_.allocations.push_back(std::move(plan));
}

void Builder::emit(const program::HostCall& step) {
  parts_.calls_host = true;
  add({.kind = Kind::host_call, .number = step.callback});
}

void Builder::emit(const program::Call& step) {
  std::vector<Argument> arguments;
  for (auto& argument : step.arguments) {
    if (auto* expr = std::get_if<Expr>(&argument)) {
      if (expr->dtype() != DType::Float64 && expr->dtype() != DType::Int64) throw Unsupported();
      const Register at = value(*expr).at;
      arguments.push_back({{expr->dtype() == DType::Float64 ? ArgumentPlan::real : ArgumentPlan::integer}, at});
    } else {
      auto& [id, kind, offset] = std::get<program::BufferArgument>(argument);
      const Register at = offset.defined() ? value(offset).at : LoopPlan::no_register;
      arguments.push_back({{id, shift_of(buffer(id).dtype)}, at});
    }
  }
  call(step.function, arguments, step.status);
  if (!step.status.defined()) return;
  nest_.define(step.status);
}

void Builder::call(const std::string& function, const std::vector<Argument>& arguments, Expr status) {
  const auto is_real = [](const Argument& argument) { return argument.plan.buffer == ArgumentPlan::real; };
  const auto reals = std::size_t(std::count_if(arguments.begin(), arguments.end(), is_real));
  void* const address = runtime::find_symbol(function);
  if (!address || reals > most_reals || arguments.size() - reals > most_integers) throw Unsupported();
  std::vector<Register> at;
  Op op{.kind = Kind::runtime_call,
        .list_size = std::uint16_t(arguments.size()),
        .address = address,
        .number = std::int64_t(parts_.arguments.size())};
  for (auto& argument : arguments) {
    at.push_back(argument.at);
    parts_.arguments.push_back(argument.plan);
  }
  op.list = list(at);
  op.out = new_scalar();
  add(op);
  if (status.defined()) vars_[status.payload()] = {op.out};
}

// bt_fill(data, count, bytes per element, the element's bits)
void Builder::emit(const program::Fill& step) {
  const program::Buffer& filled = buffer(step.buffer);
  Expr count = pool_.integer(1);
  for (auto& length : filled.shape) count = count * length;
  if (!step.value.is_constant()) throw InternalError("codegen: a fill with a value that is not constant");
  const auto integer = [&](std::int64_t number) { return Argument{{}, constant(number).at}; };
  call("bt_fill",
       {{{step.buffer}},
        {{}, value(count).at},
        integer(std::int64_t(itemsize(filled.dtype))),
        integer(step.value.payload())},
       {});
}

std::unique_ptr<const Plan> Plan::make(const program::Program& scheduled) {
  try {
    return std::make_unique<const Plan>(Builder(scheduled).build());
  } catch (const Unsupported&) {
    return nullptr;
  }
}

bool Plan::is_better_compiled() const {
  return parts_.calls_host && std::ranges::any_of(parts_.loops, [](const LoopPlan& loop) { return !loop.in_lanes; });
}

}  // namespace bitale::codegen::interpreted
