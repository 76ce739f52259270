#include "link/profiler.hpp"

#include <algorithm>

#include "link/makers.hpp"

namespace bitale::link {

Profiler::Profiler(const lowering::Lowered& lowered, const FunctionGraph& graph)
    : sections_(sections_of(lowered.program)),
      program_(with_probes(lowered.program, sections_)),
      nodes_(nodes_of_sections(lowered, graph, sections_)),
      totals_(sections_.size()) {
  const std::vector<std::string> steps = program::step_texts(lowered.program);
  for (auto& section : sections_) {
    std::string& text = texts_.emplace_back();
    for (std::size_t at = section.begin; at < section.end; ++at) text += steps[at];
  }
}

void Profiler::add(const runtime::ProbeRecord& record, double seconds, std::int64_t temporaries, std::int64_t results) {
  const std::lock_guard lock(mutex_);
  ++calls_.calls;
  calls_.seconds += seconds;
  calls_.temporaries = std::max(calls_.temporaries, temporaries);
  calls_.results = std::max(calls_.results, results);
  for (std::size_t k = 0; k < sections_.size(); ++k) {
    auto& to = totals_.sections[k];
    const auto& from = record.sections[k];
    to.nanoseconds += from.nanoseconds;
    to.bytes += from.bytes;
    to.flops64 += from.flops64;
    to.flops32 += from.flops32;
    to.steps += from.steps;
    to.trace_bytes += from.trace_bytes;
  }
}

void Profiler::add_to(Measured& out, bool other_strides) const {
  const std::lock_guard lock(mutex_);
  out.has_loops = true;
  out.calls += calls_.calls;
  out.seconds += calls_.seconds;
  out.temporaries = std::max(out.temporaries, calls_.temporaries);
  out.results = std::max(out.results, calls_.results);
  for (std::size_t k = 0; k < sections_.size(); ++k) {
    const auto& [nanoseconds, bytes, flops64, flops32, steps, trace_bytes] = totals_.sections[k];
    out.parts.push_back({.kind = sections_[k].kind,
                         .text = texts_[k],
                         .nodes = nodes_[k],
                         .other_strides = other_strides,
                         .counted = sections_[k].counted,
                         .bytes = double(bytes),
                         .flops64 = double(flops64),
                         .flops32 = double(flops32),
                         .steps = double(steps),
                         .trace_bytes = double(trace_bytes),
                         .seconds = 1e-9 * double(nanoseconds),
                         .calls = calls_.calls});
  }
}

}  // namespace bitale::link
