// Store forwarding: a value that is stored and later read at the same index of the same loop is used directly, and dead
// temporaries are not stored at all.
#include <unordered_map>

#include "lowering/passes.hpp"
#include "program/steps.hpp"

namespace bitale::lowering {

namespace {

using program::Code;
using program::OneOf;
using program::Reach;
using program::Step;
using program::Steps;

class Forwarder {
 public:
  explicit Forwarder(Program& program) : program_(program), writes_(program.buffers.size(), 0) {}

  void run() {
    count_writes(program_.steps);
    forward(program_.steps);
    remove_unread();
  }

 private:
  void count_writes(const Steps& steps) {
    program::visit_steps(steps, [&](const Step& step) {
      program::for_each_access(step, [&](const program::Access& access) {
        const bool is_handed = access.reach == Reach::runtime_call || access.reach == Reach::host_call;
        if (access.reach == Reach::element || (is_handed && access.writes()))
          writes_[std::size_t(access.buffer)] += access.reads() ? 2 : 1;
      });
    });
  }

  // Values stored in a loop are not forwarded outside it.
  void forward(Steps& steps) {
    std::vector<std::uint32_t> here;
    for (auto& step : steps) {
      program::for_each_expr(step, [&](Expr& expr) { expr = program::substitute(expr, stored_); });
      program::for_each_body(step, [&](Steps& body) { forward(body); });
      forget_overwritten(step);
      if (auto* store = program::as_store(step); store && writes_[std::size_t(store->buffer)] == 1) {
        const program::Buffer& buffer = program_.buffers[std::size_t(store->buffer)];
        here.push_back(program_.pool->load(store->buffer, buffer.dtype, store->at).id());
        stored_.emplace(here.back(), store->value);  // its only store
        note_reads(here.back(), store->value);
      }
    }
    for (auto load : here) stored_.erase(load);
  }

  // A value read from memory that is written again can no longer be recomputed in place of the load.
  void forget_overwritten(const Step& step) {
    if (readers_.empty()) return;
    program::for_each_access_within(step, [&](const program::Access& access) {
      if (!access.writes()) return;
      if (const auto found = readers_.find(access.buffer); found != readers_.end()) {
        for (auto load : found->second) stored_.erase(load);
        readers_.erase(found);
      }
    });
  }
  void note_reads(std::uint32_t load, Expr value) {
    program::ExprWalk()(value, [&](Expr expr) {
      if (expr.code() == Code::load && writes_[std::size_t(expr.payload())] > 1)
        readers_[expr.payload()].push_back(load);
    });
  }

  // Counts the loads from each buffer, and the calls that are given its memory.
  std::vector<int> count_reads() const {
    std::vector<int> reads(program_.buffers.size(), 0);
    program::ExprWalk walk;
    const auto count = [&](Expr load) { ++reads[std::size_t(load.payload())]; };
    program::visit_steps(program_.steps, [&](const Step& step) {
      program::for_each_load(step, walk, count);
      program::for_each_access(step, [&](const program::Access& access) {
        const bool is_handed = access.reach == Reach::runtime_call || access.reach == Reach::host_call;
        if (is_handed) ++reads[std::size_t(access.buffer)];
      });
    });
    program::for_each_load_of_lengths(program_, count);
    return reads;
  }

  void remove_unread() {
    while (remove(program_.steps, count_reads())) {
    }
  }

  bool remove(Steps& steps, const std::vector<int>& reads) const {
    const auto unread = [&](const auto& writing) {
      return program_.buffers[std::size_t(writing.buffer)].role == program::Role::temporary &&
             reads[std::size_t(writing.buffer)] == 0;
    };
    bool changed = false;
    Steps kept;
    for (auto& step : steps) {
      program::for_each_body(step, [&](Steps& body) { changed |= remove(body, reads); });
      const bool dead = program::match(
          step, [&](const OneOf<program::Store, program::Accumulate, program::Fill> auto& s) { return unread(s); },
          [](const program::Loop& s) { return s.body.empty() && s.carries.empty(); },
          [](const program::If& s) { return s.then.empty() && s.otherwise.empty(); },
          [](const OneOf<program::Let, program::Update, program::Allocate, program::Call, program::Check,
                         program::HostCall, program::Next> auto&) { return false; });
      changed |= dead;
      if (!dead) kept.push_back(std::move(step));
    }
    steps = std::move(kept);
    return changed;
  }

  Program& program_;
  std::vector<int> writes_;
  std::unordered_map<std::int64_t, std::vector<std::uint32_t>> readers_;  // of buffers written more than once: loads
  program::Substitution stored_;  // loads, and what was stored there by this body or by those around it
};

}  // namespace

void forward_stores(Program& program) { Forwarder(program).run(); }

}  // namespace bitale::lowering
