#include "runtime/probe.hpp"

#include <utility>

#include "bitale/runtime/functions.hpp"

namespace bitale::runtime {

namespace {

thread_local ProbeRecord* current_record = nullptr;

void probe(std::int64_t section, std::int64_t bytes, std::int64_t flops64, std::int64_t flops32, std::int64_t steps,
           std::int64_t trace_bytes) {
  if (!current_record) return;
  const auto now = std::chrono::steady_clock::now();
  const auto passed =
      std::chrono::duration_cast<std::chrono::nanoseconds>(now - std::exchange(current_record->last, now));
  ProbeRecord::Section& to = current_record->sections[std::size_t(section)];
  to.nanoseconds += passed.count();
  to.bytes += bytes;
  to.flops64 += flops64;
  to.flops32 += flops32;
  to.steps += steps;
  to.trace_bytes += trace_bytes;
}

const RegisterFunctions probe_functions{
    runtime_function(probe_name, probe, "section bytes flops64 flops32 steps trace_bytes")};

}  // namespace

ProbeScope::ProbeScope(ProbeRecord& record) : before_(std::exchange(current_record, &record)) {
  record.last = std::chrono::steady_clock::now();
}
ProbeScope::~ProbeScope() { current_record = before_; }

}  // namespace bitale::runtime
