// Probes: calls that code compiled for a profile makes after each of its sections. The time since the last probe, and
// what the section has moved and computed, are added to the record of the call, which is bound to its thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace bitale::runtime {

inline constexpr const char* probe_name =
    "bt_probe";  // void (section, and the numbers of a ProbeRecord's section, in order)

// What one call took, by section.
struct ProbeRecord {
  struct Section {
    std::int64_t nanoseconds = 0, bytes = 0, flops64 = 0, flops32 = 0;
    std::int64_t steps = 0, trace_bytes = 0;  // of a serial loop
  };
  explicit ProbeRecord(std::size_t count) : sections(count) {}
  std::vector<Section> sections;
  std::chrono::steady_clock::time_point last = {};  // when the current section began
};

// Binds the record to this thread: during the lifetime of this object, the thread's probes write to it; the clock
// starts here. A nested call has its own record.
class ProbeScope {
 public:
  explicit ProbeScope(ProbeRecord& record);
  ~ProbeScope();
  ProbeScope(const ProbeScope&) = delete;
  ProbeScope& operator=(const ProbeScope&) = delete;

 private:
  ProbeRecord* before_;
};

}  // namespace bitale::runtime
