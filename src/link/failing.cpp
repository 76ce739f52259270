#include "link/failing.hpp"

#include "program/steps.hpp"

namespace bitale::link {

namespace {

using program::Program;
using program::Step;

class Scan {
 public:
  explicit Scan(const Program& program) : program_(program) {}

  bool writes_last(const program::Steps& steps) {
    for (auto& step : steps) {
      if (written_ && may_fail(step)) return false;
      const bool before = written_;
      bool good = true, by_any = before;
      program::for_each_body(step, [&](const program::Steps& body) {
        written_ = before;  // only one side of a branch runs
        good = good && writes_last(body);
        if (good && written_ != before && program::as_loop(step) != nullptr)
          good = writes_last(body);  // the next iteration
        by_any |= written_;
      });
      written_ = by_any;
      if (!good) return false;
      program::for_each_access(
          step, [&](const program::Access& access) { written_ |= access.writes() && is_result(access.buffer); });
    }
    return true;
  }

 private:
  bool is_result(std::int64_t buffer) const {
    return program_.buffers[std::size_t(buffer)].role == program::Role::output;
  }
  bool may_fail(const Step& step) const {
    auto* allocate = program::as_allocate(step);
    return program::may_fail(step) && (!allocate || is_result(allocate->buffer));
  }

  const Program& program_;
  bool written_ = false;
};

}  // namespace

bool writes_last(const Program& program) { return Scan(program).writes_last(program.steps); }

}  // namespace bitale::link
