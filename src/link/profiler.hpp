// Profiler: a Program compiled with probes, and what its calls have told. Calls may come from many threads: each has a
// record of its own, which is added to the totals when it has succeeded.
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
  const program::Program& program() const { return program_; }  // what is to be compiled

  runtime::ProbeRecord new_record() const { return runtime::ProbeRecord(sections_.size()); }
  // A call that took so many seconds, and held so many bytes.
  void add(const runtime::ProbeRecord& record, double seconds, std::int64_t temporaries, std::int64_t results);
  // Adds what was measured; `other_strides`: of the code for inputs that lie otherwise.
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
