#include "core/compile_stage.hpp"

#include <atomic>

#include "core/stopwatch.hpp"

namespace bitale {

namespace {

thread_local const CompileStage* innermost_stage = nullptr;
std::atomic<CompileStageObserver> registered_observer{nullptr};

}  // namespace

CompileStageScope::CompileStageScope(std::string_view name, std::size_t nodes)
    : stage_{name, nodes, std::chrono::steady_clock::now(), innermost_stage} {
  innermost_stage = &stage_;
}

CompileStageScope::~CompileStageScope() {
  innermost_stage = stage_.within;
  if (const CompileStageObserver observer = registered_observer.load(std::memory_order_relaxed))
    observer(stage_, seconds_since(stage_.start));
}

const CompileStage* compile_stage() { return innermost_stage; }

void set_compile_stage_observer(CompileStageObserver observer) { registered_observer.store(observer); }

}  // namespace bitale
