// Random Programs: stores, loads, sums in memory, loops with states and branches over a few small buffers, where reads
// and writes of one element alternate at all levels. Both emitters, and the interpreter of
// vectors, compute what the interpreter of the tests computes, bit by bit.
#include <doctest/doctest.h>

#include <random>

#include "bitale/core/text.hpp"
#include "lowering/passes.hpp"
#include "program/program.hpp"
#include "support/program_runner.hpp"
#include "support/seeds.hpp"

using namespace bitale;
using namespace bitale::program;

namespace {

class RandomProgram {
 public:
  // In lanes: loops are long enough for vectors, and have no sums, whose lanes would be added in another order.
  RandomProgram(std::int64_t seed, bool in_lanes) : random_(std::uint64_t(seed)), in_lanes_(in_lanes) {}

  Program make() {
    const int shortest = in_lanes_ ? 6 : 2;
    add_buffer("x", Role::input, shortest + 2);
    program_.input_count = 1;
    program_.output_count = buffers;
    for (int k = 0; k < buffers; ++k) add_buffer(cat("b", k).c_str(), Role::temporary, shortest + k);
    for (int k = 0; k < buffers; ++k) {
      add_buffer(cat("y", k).c_str(), Role::output, shortest + k);
      program_.buffers.back().slot = k;
    }
    for (int k = 0; k < buffers; ++k) {
      program_.steps.push_back({Allocate{first + k}});
      copy(0, first + k);
    }
    const Steps body = steps(4 + below(5));
    program_.steps.insert(program_.steps.end(), body.begin(), body.end());
    for (int k = 0; k < buffers; ++k) {
      program_.steps.push_back({Allocate{first + buffers + k}});
      copy(first + k, first + buffers + k);
    }
    return std::move(program_);
  }

 private:
  static constexpr int buffers = 3, deepest = 3;
  static constexpr std::int64_t first = 1;  // buffer that is no input

  int below(int n) { return int(random_() % std::uint64_t(n)); }
  ExprPool& pool() { return *program_.pool; }

  void add_buffer(const char* name, Role role, std::int64_t length) {
    Buffer buffer;
    buffer.name = name;
    buffer.role = role;
    buffer.shape = {pool().integer(length)};
    buffer.on_stack = role == Role::temporary;
    if (role == Role::input) buffer.slot = 0;
    program_.buffers.push_back(std::move(buffer));
  }
  std::int64_t length(std::int64_t buffer) const { return program_.buffers[std::size_t(buffer)].shape[0].payload(); }
  Expr new_index() {
    program_.index_names.push_back(cat("i", program_.index_names.size()));
    return pool().index(std::int64_t(program_.index_names.size()) - 1);
  }
  Expr new_var() { return pool().var(next_var_++, DType::Float64); }

  void copy(std::int64_t from, std::int64_t to) {
    Loop loop;
    loop.index = new_index();
    loop.extent = pool().integer(std::min(length(from), length(to)));
    const Expr at[] = {loop.index};
    loop.body.push_back({Store{to, {loop.index}, pool().load(from, DType::Float64, at)}});
    program_.steps.push_back({std::move(loop)});
  }

  // An element of the buffer: a constant, or the index of a loop that is short enough.
  Expr index(std::int64_t buffer) {
    for (auto& [index, extent] : loops_)
      if (extent <= length(buffer) && below(3) == 0) return index;
    return pool().integer(below(int(length(buffer))));
  }
  Expr load() {
    const std::int64_t buffer = first + below(buffers);
    const Expr at[] = {index(buffer)};
    return pool().load(buffer, DType::Float64, at);
  }
  Expr value(int depth) {
    const int kind = below(depth > 0 ? 8 : 3);
    if (kind < 2) return load();
    if (kind == 2) return vars_.empty() ? load() : vars_[std::size_t(below(int(vars_.size())))];
    const Expr a = value(depth - 1);
    if (kind < 5) return a * 0.5 + value(depth - 1) * 0.25;
    if (kind == 5) return a - value(depth - 1) * 0.5;
    if (kind == 6) return max(a, value(depth - 1));
    return loops_.empty() ? a + 1.0 : a + cast(loops_.back().first, DType::Float64);
  }

  Steps steps(int count) {
    Steps out;
    for (int k = 0; k < count; ++k) add_step(out);
    return out;
  }
  void add_step(Steps& out) {
    const int kind = below(deepest > depth_ ? 8 : 5);
    const std::int64_t buffer = first + below(buffers);
    if (kind < 3) {
      const Expr at = index(buffer);
      out.push_back({Store{buffer, {at}, value(2)}});
    } else if (kind == 3) {
      const Expr at = index(buffer);
      out.push_back({Accumulate{buffer, {at}, Combiner::add, value(1) * 0.5}});
    } else if (kind == 4) {
      const Expr named = value(2), var = new_var();
      out.push_back({Let{var, named}});
      vars_.push_back(var);
    } else if (kind == 5) {
      If branch{value(1) > 0.25, {}, {}};
      ++depth_;
      const auto outside = vars_;
      branch.then = steps(1 + below(3));
      vars_ = outside;
      branch.otherwise = steps(below(3));
      vars_ = outside;
      --depth_;
      out.push_back({std::move(branch)});
    } else {
      add_loop(out);
    }
  }
  void add_loop(Steps& out) {
    Loop loop;
    loop.index = new_index();
    const std::int64_t extent = 1 + below(in_lanes_ ? 6 : 3);
    loop.extent = pool().integer(extent);
    const auto outside = vars_;
    std::vector<Expr> carried;
    const int states = below(in_lanes_ ? 2 : 3);
    for (int k = 0; k < states; ++k) {
      carried.push_back(new_var());
      loop.carries.push_back({.var = carried.back(), .kind = CarryKind::state, .init = value(1)});
    }
    const bool sums = !in_lanes_ && below(3) == 0;
    const Expr sum = new_var();
    if (sums) loop.carries.push_back({.var = sum});
    vars_.insert(vars_.end(), carried.begin(), carried.end());
    loops_.emplace_back(loop.index, extent);
    ++depth_;
    loop.body = steps(1 + below(4));
    if (sums) loop.body.push_back({Update{sum, Combiner::add, value(1) * 0.5}});
    for (auto& var : carried) loop.body.push_back({Next{var, value(1) * 0.5}});
    --depth_;
    loops_.pop_back();
    vars_ = outside;
    vars_.insert(vars_.end(), carried.begin(), carried.end());
    if (sums) vars_.push_back(sum);
    out.push_back({std::move(loop)});
  }

  std::mt19937_64 random_;
  const bool in_lanes_;
  Program program_;
  std::int64_t next_var_ = 0;
  int depth_ = 0;
  std::vector<std::pair<Expr, std::int64_t>> loops_;
  std::vector<Expr> vars_;
};

}  // namespace

TEST_CASE("emitters read and write memory in the order of the steps") {
  const Array few{0.5, -1.25, 2.0, 0.75}, many{0.5, -1.25, 2.0, 0.75, 0.125, -3.0, 1.5, 0.25};
  for (auto seed : test::Seeds(60)) {
    const bool in_lanes = seed % 2 == 1;
    const std::vector<Array> inputs{in_lanes ? many : few};
    Program program = RandomProgram(seed, in_lanes).make();
    verify(program);
    if (in_lanes) lowering::vectorize(program);
    const auto expected = test::run_program(program, inputs, "interpreter");
    for (const char* how : {"llvm", "tiered", "c"}) {
      if (how[0] == 'c' && seed % 8 > 1) continue;  // a compiler is started for each
      const auto got = test::run_program(program, inputs, how);
      for (std::size_t k = 0; k < expected.outputs.size(); ++k) {
        const bool same = identical(got.outputs[k], expected.outputs[k]);
        CHECK_MESSAGE(same, "seed " << seed << ", " << how << ": output " << k << " is " << got.outputs[k].str()
                                    << ", not " << expected.outputs[k].str() << "\n"
                                    << to_string(program));
        if (!same) return;
      }
    }
  }
}
