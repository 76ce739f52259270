#include "link/node_profiler.hpp"

#include <algorithm>
#include <utility>

#include "bitale/graph/op.hpp"
#include "core/stopwatch.hpp"

namespace bitale::link {

NodeProfiler::Call::Call(NodeProfiler& profiler, std::size_t cell_count)
    : profiler_(profiler), began_(Clock::now()), bytes_(cell_count, 0) {
  passed_.reserve(profiler.order_.size());
}

// An output that is a view, or overwrites an input, has no memory of its own.
void NodeProfiler::Call::note(const Node& node) {
  const double seconds = seconds_since(node_began_);
  const auto* makes_steps = dynamic_cast<const MakesSteps*>(&profiler_.order_[node.number].op());
  passed_.push_back(
      {node.number, seconds, makes_steps ? makes_steps->steps_made(node.inputs, node.outputs) : StepsMade()});
  for (std::size_t k = 0; k < node.out.size(); ++k) {
    const Array& output = node.outputs[k];
    const bool is_own = std::none_of(node.inputs.begin(), node.inputs.end(),
                                     [&](auto& input) { return output.shares_memory_with(input); });
    if (is_own) held_ += bytes_[node.out[k]] = output.nbytes();
  }
  max_held_ = std::max(max_held_, held_);
}

// The memory of an input without further readers is inherited by an output that shares it.
void NodeProfiler::Call::inherit(const Node& node, std::size_t input) {
  const Index cell = node.in[input];
  for (std::size_t k = 0; k < node.out.size(); ++k)
    if (node.outputs[k].shares_memory_with(node.inputs[input])) {
      bytes_[node.out[k]] += std::exchange(bytes_[cell], 0);
      return;
    }
  release(cell);
}

void NodeProfiler::Call::release(Index cell) { held_ -= std::exchange(bytes_[cell], 0); }

void NodeProfiler::Call::succeed(std::span<const Array> results) {
  const double seconds = seconds_since(began_);
  std::int64_t bytes = 0;
  for (auto& result : results) bytes += result.nbytes();
  const std::lock_guard lock(profiler_.mutex_);
  Measured& to = profiler_.calls_;
  ++to.calls;
  to.seconds += seconds;
  to.results = std::max(to.results, bytes);
  to.temporaries = std::max(to.temporaries, max_held_ - std::min(bytes, held_));
  for (auto& [number, passed, steps] : passed_) {
    Total& total = profiler_.totals_[number];
    total.seconds += passed;
    ++total.calls;
    total.steps.count += steps.count;
    total.steps.trace_bytes += steps.trace_bytes;
  }
}

Measured NodeProfiler::measured() const {
  const std::lock_guard lock(mutex_);
  Measured out = calls_;
  for (std::size_t k = 0; k < order_.size(); ++k)
    out.parts.push_back({.kind = "node",
                         .text = order_[k].op().label(),
                         .nodes = {order_[k]},
                         .steps = double(totals_[k].steps.count),
                         .trace_bytes = double(totals_[k].steps.trace_bytes),
                         .seconds = totals_[k].seconds,
                         .calls = totals_[k].calls});
  return out;
}

}  // namespace bitale::link
