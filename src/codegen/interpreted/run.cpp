// Runs a Plan.
#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "bitale/core/error.hpp"
#include "codegen/interpreted/plan.hpp"
#include "codegen/schedule.hpp"

namespace bitale::codegen::interpreted {

using program::kernels::ArgReduction;
using program::kernels::Fold;
using program::kernels::Reduction;
using program::kernels::RunsScatter;
using program::kernels::Scatter;

namespace {

constexpr std::size_t alignment = 64, most_slots = 64, tree_levels = 40, most_lanes = 16;

// Of a float that a loop in lanes reduces (codegen/c/support.cpp has the same in C).
template <class T>
struct Lanes {
  T slot[most_slots];
  T tree[tree_levels * most_lanes];
  std::int64_t blocks;

  void start(std::int64_t slots, T identity) {
    std::fill(slot, slot + slots, identity);
    blocks = 0;
  }
  // After a block of terms the lanes' sum goes up a binary tree, where two sums of equally many terms make one of the
  // next level (Higham, 1993).
  void end_block(std::int64_t lanes, std::int64_t slots) {
    for (std::int64_t half = slots / 2; half >= lanes; half /= 2)
      for (std::int64_t k = 0; k < half; ++k) slot[k] += slot[k + half];
    std::int64_t level = 0;
    for (std::int64_t bits = blocks; bits & 1; bits >>= 1, ++level)
      for (std::int64_t k = 0; k < lanes; ++k) slot[k] += tree[level * lanes + k];
    for (std::int64_t k = 0; k < lanes; ++k) tree[level * lanes + k] = slot[k];
    std::fill(slot, slot + slots, T(0));
    ++blocks;
  }
  // What is in the tree, small sums first, back into the lanes.
  void sum_up(std::int64_t lanes) {
    std::int64_t level = 0;
    for (std::int64_t bits = blocks; bits != 0; bits >>= 1, ++level)
      if (bits & 1)
        for (std::int64_t k = 0; k < lanes; ++k) slot[k] += tree[level * lanes + k];
  }
};

template <class Visit>
void visit_float(DType dtype, Visit visit) {
  dtype == DType::Float64 ? visit(double()) : visit(float());
}

template <class T>
T identity_of(program::Combiner combiner) {
  switch (combiner) {
    case program::Combiner::mul: return 1;
    case program::Combiner::min: return std::numeric_limits<T>::infinity();
    case program::Combiner::max: return -std::numeric_limits<T>::infinity();
    default: return 0;
  }
}

// Calls a function whose arguments are int64s or addresses, and float64s, in any order: by the conventions of all
// processors that are supported, these are passed apart from each other, and the first eight float64s in registers.
template <std::size_t>
using Integer = std::int64_t;
template <std::size_t... I>
std::int64_t invoke(void* function, const std::int64_t* n, const double* x, std::index_sequence<I...>) {
  using Function = std::int64_t (*)(Integer<I>..., double, double, double, double, double, double, double, double);
  return reinterpret_cast<Function>(function)(n[I]..., x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]);
}

}  // namespace

Plan::Plan(PlanParts parts) : parts_(std::move(parts)), pool_([this] { return make_state(); }) {}

std::size_t Plan::bytes_of_reduction() const { return (sizeof(Lanes<double>) + alignment - 1) / alignment * alignment; }

std::unique_ptr<Plan::State> Plan::make_state() const {
  auto state = std::make_unique<State>();
  const std::size_t chunks = parts_.chunks * parts_.chunk_bytes, reductions = parts_.reductions * bytes_of_reduction();
  const std::size_t scalars = (8 * parts_.scalars + alignment - 1) / alignment * alignment;
  state->memory =
      std::make_unique_for_overwrite<std::byte[]>(scalars + chunks + reductions + parts_.stack_bytes + alignment);
  const auto unaligned = reinterpret_cast<std::uintptr_t>(state->memory.get());
  char* at = reinterpret_cast<char*>(state->memory.get()) + (alignment - unaligned % alignment) % alignment;
  auto& registers = state->registers;
  registers.reserve(parts_.constants.size() + parts_.scalars + parts_.chunks + parts_.views);
  for (auto& constant : parts_.constants)
    registers.push_back(const_cast<char*>(reinterpret_cast<const char*>(&constant)));
  for (std::size_t k = 0; k < parts_.scalars; ++k) registers.push_back(at + 8 * k);
  at += scalars;
  for (std::size_t k = 0; k < parts_.chunks; ++k) registers.push_back(at + k * parts_.chunk_bytes);
  at += chunks;
  registers.resize(registers.size() + parts_.views, nullptr);
  state->reductions = at;
  state->stack = at + reductions;
  return state;
}

class Run {
 public:
  Run(const Plan& plan, Plan::State& state, runtime::Frame* frame, Plan::Watch& watch)
      : plan_(plan), parts_(plan.parts()), state_(state), r_(state.registers.data()), frame_(frame), watch_(watch) {}

  std::int32_t block(std::size_t number, std::int64_t lanes) {
    for (const Op& op : parts_.blocks[number]) {
      const std::int64_t n = op.in_lanes ? lanes : 1;
      switch (op.kind) {
        case Op::Kind::kernel: kernel(op)(n, r_[op.out], r_[op.a], r_[op.b], r_[op.c]); break;
        case Op::Kind::view: r_[op.out] = element(op); break;
        case Op::Kind::load: kernel(op)(n, r_[op.out], element(op), nullptr, nullptr); break;
        case Op::Kind::guarded_load: guarded_load(op); break;
        case Op::Kind::load_strided: kernel(op)(n, r_[op.out], first_element(op), r_[op.b], nullptr); break;
        case Op::Kind::gather: kernel(op)(n, r_[op.out], data(op), r_[op.a], nullptr); break;
        case Op::Kind::store: kernel(op)(n, element(op), r_[op.b], nullptr, nullptr); break;
        case Op::Kind::store_strided: kernel(op)(n, first_element(op), r_[op.b], r_[op.c], nullptr); break;
        case Op::Kind::scatter: kernel(op)(n, data(op), r_[op.b], r_[op.a], nullptr); break;
        case Op::Kind::accumulate: {
          char* const at = element(op);
          kernel(op)(n, at, at, r_[op.b], nullptr);
          break;
        }
        case Op::Kind::accumulate_at: as<Scatter>(op)(n, data(op), integers(op.a), r_[op.b]); break;
        case Op::Kind::accumulate_by_runs: as<RunsScatter>(op)(n, data(op), integers(op.a), r_[op.b], op.number); break;
        case Op::Kind::call: call(op, n); break;
        case Op::Kind::rare_call: rare_call(op, n); break;
        case Op::Kind::length: *integers(op.out) = frame_->lengths[op.number]; break;
        case Op::Kind::reduce: reduce(op, n); break;
        case Op::Kind::fold: as<Fold>(op)(n, r_[op.out], r_[op.a], nullptr); break;
        case Op::Kind::prefix: as<Fold>(op)(n, r_[op.c], r_[op.a], r_[op.out]); break;
        case Op::Kind::arg_reduce: as<ArgReduction>(op)(n, r_[op.out], integers(op.c), r_[op.a], r_[op.b]); break;
        case Op::Kind::loop:
          if (const auto status = loop(parts_.loops[std::size_t(op.number)])) return status;
          break;
        case Op::Kind::branch:
          if (const auto status = block(*r_[op.a] ? std::size_t(op.number) : op.list, 1)) return status;
          break;
        case Op::Kind::check:
          if (!*r_[op.a]) return std::int32_t(op.number);
          break;
        case Op::Kind::allocate:
          if (!allocate(op)) return runtime::failed_in_host;
          break;
        case Op::Kind::host_call:
          if (frame_->host_call(frame_, op.number) != 0) return runtime::failed_in_host;
          break;
        case Op::Kind::runtime_call: runtime_call(op); break;
      }
    }
    return 0;
  }

 private:
  template <class F>
  static F as(const Op& op) {
    return reinterpret_cast<F>(op.address);
  }
  static Kernel kernel(const Op& op) { return as<Kernel>(op); }
  std::int64_t* integers(Register at) const { return reinterpret_cast<std::int64_t*>(r_[at]); }

  // ---- memory -------------------------------------------------------------------------------------------------------

  char* data(const Op& op) const { return static_cast<char*>(frame_->data[op.buffer]); }
  char* first_element(const Op& op) const { return data(op) + (*integers(op.a) << op.shift); }
  char* element(const Op& op) const { return data(op) + ((*integers(op.a) + *integers(op.c)) << op.shift); }

  void guarded_load(const Op& op) {
    const Register* pair = parts_.lists.data() + op.list;
    bool is_inside = true;
    for (int k = 0; k < op.list_size; k += 2)
      is_inside &= std::uint64_t(*integers(pair[k])) < std::uint64_t(*integers(pair[k + 1]));
    if (is_inside)
      kernel(op)(1, r_[op.out], element(op), nullptr, nullptr);
    else
      *integers(op.out) = 0;
  }

  bool allocate(const Op& op) {
    const AllocationPlan& plan = parts_.allocations[std::size_t(op.number)];
    std::int64_t* length = frame_->lengths + plan.first_length;
    for (const Register at : plan.lengths) *length++ = *integers(at);
    if (plan.on_stack >= 0) {
      frame_->data[op.buffer] = state_.stack + plan.on_stack;
      return true;
    }
    if (plan.may_be_given && frame_->data[op.buffer]) return true;
    return frame_->allocate(frame_, op.buffer, 1) == 0;
  }

  // ---- calls --------------------------------------------------------------------------------------------------------

  template <class Visit>
  static void visit_argument_type(std::int64_t dtype, Visit visit) {
    switch (DType(dtype)) {
      case DType::Float64: return visit(double());
      case DType::Float32: return visit(float());
      case DType::Int64: return visit(std::int64_t());
      default: return visit(std::uint64_t());
    }
  }
  template <class T>
  static T called(void* f, int count, const T* const* x, std::int64_t i) {
    switch (count) {
      case 1: return reinterpret_cast<T (*)(T)>(f)(x[0][i]);
      case 2: return reinterpret_cast<T (*)(T, T)>(f)(x[0][i], x[1][i]);
      case 3: return reinterpret_cast<T (*)(T, T, T)>(f)(x[0][i], x[1][i], x[2][i]);
      default: return reinterpret_cast<T (*)(T, T, T, T)>(f)(x[0][i], x[1][i], x[2][i], x[3][i]);
    }
  }
  template <class T>
  std::array<const T*, 4> arguments(const Op& op, int first) const {
    std::array<const T*, 4> out{};
    for (int k = first; k < op.list_size; ++k)
      out[std::size_t(k - first)] = reinterpret_cast<const T*>(r_[parts_.lists[op.list + std::uint32_t(k)]]);
    return out;
  }
  void call(const Op& op, std::int64_t n) {
    visit_argument_type(op.number, [&]<class T>(T) {
      const auto x = arguments<T>(op, 0);
      auto* const out = reinterpret_cast<T*>(r_[op.out]);
      for (std::int64_t i = 0; i < n; ++i) out[i] = called<T>(op.address, op.list_size, x.data(), i);
    });
  }
  void rare_call(const Op& op, std::int64_t n) {
    const char* const asks = r_[parts_.lists[op.list]];
    visit_argument_type(op.number, [&]<class T>(T) {
      const auto x = arguments<T>(op, 2);
      auto* const otherwise = reinterpret_cast<const T*>(r_[parts_.lists[op.list + 1]]);
      auto* const out = reinterpret_cast<T*>(r_[op.out]);
      for (std::int64_t i = 0; i < n; ++i)
        out[i] = asks[i] ? called<T>(op.address, op.list_size - 2, x.data(), i) : otherwise[i];
    });
  }

  void runtime_call(const Op& op) {
    std::array<std::int64_t, 30> integer{};
    std::array<double, 8> real{};
    std::size_t integer_count = 0, real_count = 0;
    for (std::size_t k = 0; k < op.list_size; ++k) {
      const ArgumentPlan& argument = parts_.arguments[std::size_t(op.number) + k];
      const Register at = parts_.lists[op.list + k];
      if (argument.buffer == ArgumentPlan::real) {
        std::memcpy(&real[real_count++], r_[at], sizeof(double));
      } else if (argument.buffer == ArgumentPlan::integer) {
        integer[integer_count++] = *integers(at);
      } else {
        const std::int64_t offset = at == LoopPlan::no_register ? 0 : *integers(at);
        integer[integer_count++] = std::int64_t(reinterpret_cast<std::uintptr_t>(frame_->data[argument.buffer]) +
                                                std::uintptr_t(offset << argument.shift));
      }
    }
    const auto with = [&]<std::size_t count>(std::integral_constant<std::size_t, count>) {
      return invoke(op.address, integer.data(), real.data(), std::make_index_sequence<count>());
    };
    *integers(op.out) = integer_count <= 6    ? with(std::integral_constant<std::size_t, 6>())
                        : integer_count <= 14 ? with(std::integral_constant<std::size_t, 14>())
                                              : with(std::integral_constant<std::size_t, 30>());
  }

  // ---- loops --------------------------------------------------------------------------------------------------------

  std::int32_t loop(const LoopPlan& loop) {
    const std::int64_t extent = *integers(loop.extent);
    if (loop.in_lanes) return loop_in_lanes(loop, extent) ? 0 : Plan::abandoned;
    std::int64_t* const index = integers(loop.index);
    for (std::int64_t i = 0; i < extent; ++i) {
      *index = i;
      if (const auto status = block(loop.block, 1)) return status;
      const bool stops = loop.until != LoopPlan::no_register && *r_[loop.until];
      for (auto& [state, next] : loop.next) std::memcpy(r_[state], r_[next], 8);
      if (loop.poll_interval && (i & (loop.poll_interval - 1)) == loop.poll_interval - 1 && frame_->poll(frame_) != 0)
        return runtime::interrupted;
      if (stops) break;
      if (is_to_stop(1)) return Plan::abandoned;
    }
    return 0;
  }

  // Asks after some thousand operations.
  bool is_to_stop(int work) {
    if ((until_asking_ -= work) > 0) return false;
    until_asking_ = asking_interval;
    return !parts_.calls_host && watch_.stops();
  }

  bool loop_in_lanes(const LoopPlan& loop, std::int64_t extent) {
    current_ = &loop;
    whole_ = extent - extent % loop.slots;
    for (std::size_t k = 0; k < loop.reductions.size(); ++k)
      visit_float(loop.reductions[k].dtype,
                  [&]<class T>(T) { lanes_of<T>(k).start(loop.slots, identity_of<T>(loop.reductions[k].combiner)); });
    for (start_ = 0; start_ < extent; start_ += loop.width) {
      *integers(loop.index) = start_;
      const std::int64_t n = std::min(loop.width, extent - start_);
      block(loop.block, n);
      if (loop.pass_by_pass) end_pass(start_ + n);
      if (is_to_stop(4)) return false;
    }
    for (std::size_t k = 0; k < loop.reductions.size(); ++k)
      visit_float(loop.reductions[k].dtype, [&]<class T>(T) { finish<T>(loop.reductions[k], lanes_of<T>(k)); });
    return true;
  }

  template <class T>
  Lanes<T>& lanes_of(std::size_t reduction) const {
    return *reinterpret_cast<Lanes<T>*>(state_.reductions + reduction * plan_.bytes_of_reduction());
  }

  // First all lanes of all accumulators at a time, then the lanes of one vector, then the rest.
  void reduce(const Op& op, std::int64_t n) {
    const ReductionPlan& reduction = current_->reductions[std::size_t(op.number)];
    visit_float(reduction.dtype, [&]<class T>(T) { reduce(op, n, reduction, lanes_of<T>(std::size_t(op.number))); });
  }
  template <class T>
  void reduce(const Op& op, std::int64_t n, const ReductionPlan& reduction, Lanes<T>& into) const {
    const auto* const a = reinterpret_cast<const T*>(r_[op.a]);
    const auto* const b = reinterpret_cast<const T*>(r_[op.b]);
    const auto add = as<Reduction>(op);
    const std::int64_t lanes = current_->lanes, slots = current_->slots, end = start_ + n,
                       block = slots * pairwise_block;
    std::int64_t at = start_;
    if (current_->pass_by_pass) {
      add(1, n, into.slot + (at < whole_ ? at % slots : 0), a, b);
      return;
    }
    while (at < std::min(end, whole_)) {
      std::int64_t stop = std::min(end, whole_);
      if (reduction.is_pairwise) stop = std::min(stop, (at / block + 1) * block);
      add((stop - at) / slots, slots, into.slot, a + (at - start_), b + (at - start_));
      at = stop;
      if (reduction.is_pairwise) end_blocks(into, at);
    }
    for (; at < end; at += std::min(lanes, end - at))
      add(1, std::min(lanes, end - at), into.slot, a + (at - start_), b + (at - start_));
  }

  // Where a pass of the sum ends. If there is only one block, its sums stay in the lanes.
  template <class T>
  void end_blocks(Lanes<T>& of, std::int64_t at) const {
    const std::int64_t lanes = current_->lanes, slots = current_->slots;
    const bool is_end = at == whole_;
    if (at > whole_ || at % slots) return;
    if ((at % (slots * pairwise_block) == 0 || is_end) && !(is_end && of.blocks == 0)) of.end_block(lanes, slots);
    if (is_end) of.sum_up(lanes);
  }
  void end_pass(std::int64_t at) {
    for (std::size_t k = 0; k < current_->reductions.size(); ++k)
      if (current_->reductions[k].is_pairwise)
        visit_float(current_->reductions[k].dtype, [&]<class T>(T) { end_blocks(lanes_of<T>(k), at); });
  }

  // Lanes to one value, halving.
  template <class T>
  void finish(const ReductionPlan& reduction, Lanes<T>& lanes) const {
    for (std::int64_t half = current_->slots / 2; half > 0; half /= 2)
      reduction.combine(half, lanes.slot, lanes.slot, lanes.slot + half, nullptr);
    reduction.combine(1, r_[reduction.var], r_[reduction.var], lanes.slot, nullptr);
  }

  const Plan& plan_;
  const PlanParts& parts_;
  Plan::State& state_;
  char** const r_;
  runtime::Frame* const frame_;
  Plan::Watch& watch_;
  static constexpr int asking_interval = 1000;
  int until_asking_ = asking_interval;
  const LoopPlan* current_ = nullptr;  // in lanes
  std::int64_t start_ = 0, whole_ = 0;
};

std::size_t Plan::operation_count() const {
  std::size_t count = 0;
  for (auto& block : parts_.blocks) count += block.size();
  return count;
}

std::int32_t Plan::run(runtime::Frame* frame, Watch& watch) const {
  try {
    const Pool<State>::Loan state(pool_);
    return Run(*this, *state, frame, watch).block(0, 1);
  } catch (const std::bad_alloc&) {
    return runtime::no_memory;
  }
}

}  // namespace bitale::codegen::interpreted
