// Store forwarding: a value that is stored and later read at the same index of the same loop is used directly, and dead
// temporaries are not stored at all.
#include <algorithm>
#include <unordered_map>

#include "lowering/passes.hpp"
#include "program/accesses.hpp"

namespace bitale::lowering {

namespace {

using program::Accesses;
using program::AccessKind;
using program::Code;
using program::OneOf;
using program::Step;
using program::Steps;

class Forwarder {
 public:
  explicit Forwarder(Program& program) : program_(program), writes_(program.buffers.size(), 0) {}

  void run() {
    count_writes();
    forward(program_.steps);
    while (remove(program_.steps, are_read())) {
    }
  }

 private:
  void count_writes() {
    const Accesses accesses(program_.steps);
    for (auto& [buffer, accessed] : accesses.buffers())
      for (auto& access : accessed.list)
        if (access.kind != AccessKind::read && access.reach != program::Reach::whole)
          writes_[std::size_t(buffer)] += access.kind == AccessKind::combine ? 2 : 1;
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

  // Of each buffer, whether something loads from it, or a call is given its memory.
  std::vector<bool> are_read() const {
    std::vector<bool> out(program_.buffers.size(), false);
    const Accesses accesses(program_.steps);
    for (auto& [buffer, accessed] : accesses.buffers())
      out[std::size_t(buffer)] = std::ranges::any_of(
          accessed.list, [](const program::ElementAccess& access) { return access.is_load || access.is_handed(); });
    program::for_each_load_of_lengths(program_, [&](Expr load) { out[std::size_t(load.payload())] = true; });
    return out;
  }

  bool remove(Steps& steps, const std::vector<bool>& are_read) const {
    const auto unread = [&](const auto& writing) {
      return program_.buffers[std::size_t(writing.buffer)].role == program::Role::temporary &&
             !are_read[std::size_t(writing.buffer)];
    };
    bool changed = false;
    Steps kept;
    for (auto& step : steps) {
      program::for_each_body(step, [&](Steps& body) { changed |= remove(body, are_read); });
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
