// Forwarding: a value stored and later read at the same place of the same loop is used directly, and a temporary that
// nobody reads any more is not stored at all.
#include <functional>
#include <unordered_map>

#include "lowering/plan.hpp"

namespace bitale::lowering {

namespace {

using program::Code;
using program::Step;
using program::Steps;

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};

class Forwarder {
 public:
  explicit Forwarder(Program& program) : program_(program), writes_(program.buffers.size(), 0) {}

  void run() {
    count_writes(program_.steps);
    forward(program_.steps);
    remove_unread();
  }

 private:
  void count_writes(Steps& steps) {
    for (auto& step : steps) {
      if (auto* loop = std::get_if<program::Loop>(&step.what)) count_writes(loop->body);
      if (auto* store = std::get_if<program::Store>(&step.what)) ++writes_[std::size_t(store->buffer)];
      if (auto* accumulate = std::get_if<program::Accumulate>(&step.what))
        writes_[std::size_t(accumulate->buffer)] += 2;
    }
  }

  // What is stored in a loop is not seen outside it.
  void forward(Steps& steps) {
    std::vector<std::uint32_t> here;
    for (auto& step : steps) {
      program::for_each_expr(step, [&](Expr& expr) { expr = substitute(expr, stored_); });
      if (auto* loop = std::get_if<program::Loop>(&step.what)) forward(loop->body);
      if (auto* store = std::get_if<program::Store>(&step.what); store && writes_[std::size_t(store->buffer)] == 1) {
        const program::Buffer& buffer = program_.buffers[std::size_t(store->buffer)];
        here.push_back(program_.pool->load(store->buffer, buffer.dtype, store->at).id());
        stored_.emplace(here.back(), store->value);  // its only store
      }
    }
    for (auto load : here) stored_.erase(load);
  }

  void count_reads(Steps& steps, std::vector<int>& reads) {
    program::ExprWalk walk_expr;
    std::function<void(Steps&)> walk = [&](Steps& list) {
      for (auto& step : list) {
        program::for_each_expr(step, [&](Expr& root) {
          walk_expr(root, [&](Expr expr) {
            if (expr.code() == Code::load) ++reads[std::size_t(expr.payload())];
          });
        });
        std::visit(Overloaded{
                       [&](program::Loop& s) { walk(s.body); },
                       [&](program::Call& s) {
                         for (auto& argument : s.arguments)
                           if (auto* buffer = std::get_if<program::BufferArgument>(&argument))
                             ++reads[std::size_t(buffer->buffer)];
                       },
                       [&](program::HostCall& s) {
                         for (auto buffer : s.inputs) ++reads[std::size_t(buffer)];
                         for (auto buffer : s.outputs) ++reads[std::size_t(buffer)];
                       },
                       [](auto&) {},
                   },
                   step.what);
      }
    };
    walk(steps);
    // An allocation reads what its lengths are made of.
    for (auto& buffer : program_.buffers)
      if (buffer.role != program::Role::input)
        for (auto& length : buffer.shape)
          walk_expr(length, [&](Expr expr) {
            if (expr.code() == Code::load) ++reads[std::size_t(expr.payload())];
          });
  }

  void remove_unread() {
    for (bool changed = true; changed;) {
      std::vector<int> reads(program_.buffers.size(), 0);
      count_reads(program_.steps, reads);
      changed = remove(program_.steps, reads);
    }
  }

  bool remove(Steps& steps, const std::vector<int>& reads) {
    const auto unread = [&](std::int64_t buffer) {
      return program_.buffers[std::size_t(buffer)].role == program::Role::temporary && reads[std::size_t(buffer)] == 0;
    };
    bool changed = false;
    Steps kept;
    for (auto& step : steps) {
      bool dead = false;
      if (auto* store = std::get_if<program::Store>(&step.what)) dead = unread(store->buffer);
      if (auto* accumulate = std::get_if<program::Accumulate>(&step.what)) dead = unread(accumulate->buffer);
      if (auto* fill = std::get_if<program::Fill>(&step.what)) dead = unread(fill->buffer);
      if (auto* loop = std::get_if<program::Loop>(&step.what)) {
        changed |= remove(loop->body, reads);
        dead = loop->body.empty() && loop->carries.empty();
      }
      changed |= dead;
      if (!dead) kept.push_back(std::move(step));
    }
    steps = std::move(kept);
    return changed;
  }

  Program& program_;
  std::vector<int> writes_;
  Stored stored_;  // loads, and what was stored there by this body or by those around it
};

}  // namespace

void forward_stores(Program& program) { Forwarder(program).run(); }

}  // namespace bitale::lowering
