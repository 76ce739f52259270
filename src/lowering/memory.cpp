// Memory: every temporary is allocated just before the top-level step that first writes it, and temporaries whose lives
// do not overlap share a slot of the workspace. Results whose lengths are known at entry are allocated first of all: if
// the caller's own memory has another shape, this is found before anything is written there.
#include <algorithm>
#include <functional>
#include <queue>

#include "lowering/costs.hpp"
#include "lowering/passes.hpp"
#include "program/steps.hpp"

namespace bitale::lowering {

namespace {

using program::Step;
using program::Steps;

constexpr int never = -1;

struct LiveRange {
  int first = never, last = never;
  bool host_allocates = false;  // the host provides the memory
};

class MemoryPlanner {
 public:
  explicit MemoryPlanner(Program& program) : program_(program), live_ranges_(program.buffers.size()) {}

  void run() {
    for (int at = 0; at < int(program_.steps.size()); ++at) note(program_.steps[std::size_t(at)], at);
    note_lengths();
    insert_allocations();
    choose_stack();
    assign_slots();
  }

 private:
  void touch(std::int64_t buffer, int at) {
    LiveRange& life = live_ranges_[std::size_t(buffer)];
    if (life.first == never) life.first = at;
    life.last = at;
  }

  void note(const Step& step, int at) {
    program::for_each_buffer(step, [&](std::int64_t buffer) { touch(buffer, at); });
    program::for_each_access(step, [&](const program::Access& access) {
      if (access.reach == program::Reach::host_call && access.writes())
        live_ranges_[std::size_t(access.buffer)].host_allocates = true;
    });
  }

  // A buffer from which lengths are read is live until the allocation that needs them.
  void note_lengths() {
    for (std::size_t b = 0; b < live_ranges_.size(); ++b) {
      if (!allocated(b)) continue;
      for (auto& length : program_.buffers[b].shape)
        program::ExprWalk()(length, [&](Expr expr) {
          if (expr.code() != program::Code::load) return;
          LiveRange& read = live_ranges_[std::size_t(expr.payload())];
          read.last = std::max(read.last, live_ranges_[b].first);
        });
    }
  }

  bool allocated(std::size_t buffer) const {
    const auto role = program_.buffers[buffer].role;
    const bool ours = role == program::Role::output || role == program::Role::temporary;
    return ours && !live_ranges_[buffer].host_allocates && live_ranges_[buffer].first != never;
  }

  // The lengths of the inputs that the checks before allow leave it without elements, so that no step writes it.
  bool is_untouched_result(std::size_t buffer) const {
    return program_.buffers[buffer].role == program::Role::output && live_ranges_[buffer].first == never;
  }

  bool known_at_entry(const program::Buffer& buffer) const {
    bool known = true;
    program::ExprWalk walk;
    for (auto& length : buffer.shape)
      walk(length, [&](Expr expr) {
        const bool is_dim = expr.code() == program::Code::dim;
        if (is_dim) known &= program_.buffers[std::size_t(expr.payload() >> 8)].role == program::Role::input;
        known &= is_dim || expr.is_constant() || expr.argument_count() > 0;
        known &= expr.code() != program::Code::load;
      });
    return known;
  }

  void insert_allocations() {
    std::size_t checked = 0;
    while (checked < program_.steps.size() && program::as_check(program_.steps[checked]) != nullptr) ++checked;
    std::vector<std::vector<std::int64_t>> starting(program_.steps.size() + 1);
    for (std::size_t b = 0; b < live_ranges_.size(); ++b) {
      if (is_untouched_result(b)) starting.back().push_back(std::int64_t(b));
      if (!allocated(b)) continue;
      const auto first = std::size_t(live_ranges_[b].first);
      const bool is_result = program_.buffers[b].role == program::Role::output;
      const bool early = is_result && known_at_entry(program_.buffers[b]);
      starting[early ? std::min(first, checked) : first].push_back(std::int64_t(b));
    }
    Steps steps;
    for (std::size_t at = 0; at < starting.size(); ++at) {
      for (auto buffer : starting[at]) steps.push_back({program::Allocate{buffer}});
      if (at < program_.steps.size()) steps.push_back(std::move(program_.steps[at]));
    }
    program_.steps = std::move(steps);
  }

  void assign_slots() {
    std::vector<std::size_t> order;
    for (std::size_t b = 0; b < live_ranges_.size(); ++b)
      if (allocated(b) && program_.buffers[b].role == program::Role::temporary && !program_.buffers[b].on_stack)
        order.push_back(b);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return live_ranges_[a].first < live_ranges_[b].first; });
    // Each temporary gets the lowest free slot; slots in use are queued by the step after which they are free.
    using Busy = std::pair<int, int>;  // the step after which it is free, the slot
    std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy;
    std::priority_queue<int, std::vector<int>, std::greater<>> free;
    int count = 0;
    for (auto b : order) {
      for (; !busy.empty() && busy.top().first < live_ranges_[b].first; busy.pop()) free.push(busy.top().second);
      int slot = count;
      if (free.empty()) {
        ++count;
      } else {
        slot = free.top();
        free.pop();
      }
      busy.push({live_ranges_[b].last, slot});
      program_.buffers[b].slot = slot;
    }
    program_.workspace_slots = count;
  }

  void choose_stack() {
    std::int64_t left = costs::memory::max_bytes;
    for (std::size_t b = 0; b < live_ranges_.size(); ++b) {
      program::Buffer& buffer = program_.buffers[b];
      if (!allocated(b) || buffer.role != program::Role::temporary || buffer.per_worker) continue;
      const auto bytes = program::constant_bytes(buffer);
      if (!bytes || *bytes > std::min(left, costs::memory::max_bytes_each)) continue;
      buffer.on_stack = true;
      left -= *bytes;
    }
  }

  Program& program_;
  std::vector<LiveRange> live_ranges_;
};

}  // namespace

void plan_memory(Program& program) { MemoryPlanner(program).run(); }

}  // namespace bitale::lowering
