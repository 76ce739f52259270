// Probes: what code that is compiled for a profile calls after each of its sections. The time since the last probe, and
// what the section has moved and computed, go to the record of the call, which its thread is bound to.
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
    std::int64_t steps = 0, trace_bytes = 0;  // of a loop whose iterations follow one another
  };
  explicit ProbeRecord(std::size_t count) : sections(count) {}
  std::vector<Section> sections;
  std::chrono::steady_clock::time_point last = {};  // when the section that runs now began
};

// Probes that this thread meets write to the record, for as long as this lives; the clock starts here. A call inside a
// call has its own.
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
