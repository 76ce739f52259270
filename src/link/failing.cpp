#include "link/failing.hpp"

#include <algorithm>

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
      if (auto* loop = std::get_if<program::Loop>(&step.what)) {
        const bool before = written_;
        if (!writes_last(loop->body)) return false;
        if (written_ != before && !writes_last(loop->body)) return false;  // the next iteration
      }
      written_ |= writes_result(step);
    }
    return true;
  }

 private:
  bool is_result(std::int64_t buffer) const {
    return program_.buffers[std::size_t(buffer)].role == program::Role::output;
  }
  bool may_fail(const Step& step) const {
    if (auto* allocate = std::get_if<program::Allocate>(&step.what)) return is_result(allocate->buffer);
    return std::holds_alternative<program::Check>(step.what) || std::holds_alternative<program::HostCall>(step.what);
  }
  bool writes_result(const Step& step) const {
    if (auto* store = std::get_if<program::Store>(&step.what)) return is_result(store->buffer);
    if (auto* accumulate = std::get_if<program::Accumulate>(&step.what)) return is_result(accumulate->buffer);
    if (auto* fill = std::get_if<program::Fill>(&step.what)) return is_result(fill->buffer);
    if (auto* call = std::get_if<program::Call>(&step.what))
      return std::any_of(call->arguments.begin(), call->arguments.end(), [&](auto& argument) {
        auto* buffer = std::get_if<program::BufferArgument>(&argument);
        return buffer && is_result(buffer->buffer);
      });
    if (auto* host = std::get_if<program::HostCall>(&step.what))
      return std::any_of(host->outputs.begin(), host->outputs.end(), [&](auto buffer) { return is_result(buffer); });
    return false;
  }

  const Program& program_;
  bool written_ = false;
};

}  // namespace

bool writes_last(const Program& program) { return Scan(program).writes_last(program.steps); }

}  // namespace bitale::link
