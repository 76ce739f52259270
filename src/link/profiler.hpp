// Profiler: a Program compiled with probes, and the measurements of its calls. Calls may come from many threads: each
// has its own record, which is added to the totals when the call has succeeded.
#pragma once

#include <mutex>

#include "link/measured.hpp"
#include "link/probes.hpp"
#include "lowering/lower.hpp"
#include "runtime/probe.hpp"

namespace bitale::link {

class Profiler {
 public:
  Profiler(const lowering::Lowered& lowered, const FunctionGraph& graph);
  const program::Program& program() const { return program_; }  // the Program to compile

  runtime::ProbeRecord new_record() const { return runtime::ProbeRecord(sections_.size()); }
  // Adds a call that took `seconds` and held that many bytes.
  void add(const runtime::ProbeRecord& record, double seconds, std::int64_t temporaries, std::int64_t results);
  // Adds what was measured; `other_strides`: it belongs to the code for inputs with other strides.
  void add_to(Measured& out, bool other_strides) const;

 private:
  std::vector<Section> sections_;
  program::Program program_;
  std::vector<std::string> texts_;
  std::vector<std::vector<Apply>> nodes_;
  mutable std::mutex mutex_;
  runtime::ProbeRecord totals_;
  Measured calls_;
};

}  // namespace bitale::link
