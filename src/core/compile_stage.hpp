// What a thread is compiling: the stage, how much there is to do, and since when. Whoever makes a function opens a
// scope for each stage; a host may look at it while the stage lasts (when it is polled for interruptions), and is told
// of each stage that has ended.
#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

namespace bitale {

struct CompileStage {
  std::string_view name;  // of a literal
  std::size_t nodes;      // of the graph that it works on; 0: unknown
  std::chrono::steady_clock::time_point start;
  const CompileStage* within;  // null for the compilation as a whole
};

class CompileStageScope {
 public:
  explicit CompileStageScope(std::string_view name, std::size_t nodes = 0);
  ~CompileStageScope();
  CompileStageScope(const CompileStageScope&) = delete;
  CompileStageScope& operator=(const CompileStageScope&) = delete;

 private:
  CompileStage stage_;
};

// The innermost stage of this thread; null: it compiles nothing.
const CompileStage* compile_stage();

// Called at the end of each stage, also of one that an exception ends. It must not throw.
using CompileStageObserver = void (*)(const CompileStage& ended, double seconds);
void set_compile_stage_observer(CompileStageObserver observer);

}  // namespace bitale
