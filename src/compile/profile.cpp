// Profiles: the phases of compiling as a tree, and the measurements of calls.
#include "bitale/compile/profile.hpp"

#include <algorithm>
#include <cmath>

#include "bitale/core/text.hpp"
#include "compile/profiled_calls.hpp"
#include "link/measured.hpp"

namespace bitale {

namespace {

using Phase = Profile::Phase;

Phase rewriting_phase(const RewriteReport& report, double seconds) {
  Phase out{"rewriting", seconds, cat(report.nodes_before, " nodes, then ", report.nodes_after)};
  for (auto& phase : report.phases) {
    Phase one{phase.name, phase.seconds,
              cat(phase.nodes_before, " nodes, then ", phase.nodes_after, "; ", phase.passes, " passes")};
    for (auto& rule : report.rules)
      if (rule.phase == phase.name)
        one.parts.push_back({rule.name, rule.seconds, cat("used ", rule.hits, " of ", rule.tried, " times")});
    std::sort(one.parts.begin(), one.parts.end(), [](auto& a, auto& b) { return a.seconds > b.seconds; });
    out.parts.push_back(std::move(one));
  }
  return out;
}

std::string origin_text(const std::string& code) {
  if (code == "store") return "found in the compiledir";
  if (code == "memory") return "this process had it";
  if (code == "interpreted") return "none yet: calls are interpreted";
  return code;
}

Phase compiling_phase(const ProfileSources& sources) {
  const link::LinkTimes& link = sources.thunk.times;
  Phase out{"compiling", 1e-3 * sources.times.total};
  out.parts.push_back({"building", 1e-3 * sources.build, "checks, the graph's copy, merging of equal nodes"});
  out.parts.push_back(rewriting_phase(sources.report, 1e-3 * sources.times.rewrite));
  if (!link.code.empty()) {
    out.parts.push_back({"lowering", 1e-3 * link.lower, "from graph to loops"});
    out.parts.push_back({"code generation", 1e-3 * link.generate, origin_text(link.code)});
    out.parts.push_back({"linking", 1e-3 * (link.codegen - link.generate), "key, cache, loading"});
  }
  return out;
}

std::string hundredths(double value) { return number_text(std::round(100 * value) / 100); }

// Modules are created by calls, not by function(): one for each combination of lengths.
Phase modules_phase(const std::vector<link::MeasuredModule>& modules) {
  Phase out{"modules", 0, cat(modules.size(), " of them, each made at the first call with its lengths")};
  for (auto& module : modules) {
    out.seconds += module.written + module.compiled;
    const double per_call = module.calls ? module.seconds / double(module.calls) : 0;
    out.parts.push_back({module.lengths, module.written + module.compiled,
                         cat("of which writing ", hundredths(1e3 * module.written), " ms; called ", module.calls,
                             " times, ", hundredths(1e6 * per_call), " us each")});
  }
  return out;
}

}  // namespace

ProfiledCalls::ProfiledCalls(int threads, bool has_loops) : threads_(threads) {
  if (has_loops) limits_ = machine_limits(threads);
}

Profile profile_of(const ProfiledCalls& calls, const ProfileSources& sources) {
  Profile out;
  {
    const std::lock_guard lock(calls.mutex_);
    out.calls = calls.calls_;
    out.call_seconds = calls.seconds_;
  }
  link::Measured measured = sources.thunk.measured();
  out.name = sources.name;
  out.linker = sources.mode.linker().name;
  out.code = sources.thunk.times.code;
  out.threads = calls.threads_;
  out.compiling = compiling_phase(sources);
  if (!measured.modules.empty()) out.compiling.parts.push_back(modules_phase(measured.modules));
  out.nodes_before = sources.report.nodes_before;
  out.nodes_after = sources.report.nodes_after;
  out.linked_seconds = measured.seconds;
  for (auto& part : measured.parts)
    out.parts.push_back({.kind = std::string(part.kind),
                         .text = std::move(part.text),
                         .nodes = std::move(part.nodes),
                         .other_strides = part.other_strides,
                         .calls = part.calls,
                         .seconds = part.seconds,
                         .counted = part.counted,
                         .bytes = part.bytes,
                         .flops64 = part.flops64,
                         .flops32 = part.flops32,
                         .steps = part.steps,
                         .trace_bytes = part.trace_bytes});
  out.temporaries = measured.temporaries;
  out.results = measured.results;
  out.limits = calls.limits_;
  return out;
}

LimitShare share_of_limits(const Profile::Part& part, const MachineLimits& limits) {
  if (!part.counted || part.seconds <= 0) return {};
  LimitShare share;
  if (limits.read_bandwidth > 0) share.memory = part.bytes / limits.read_bandwidth / part.seconds;
  if (limits.flops > 0) share.arithmetic = (part.flops64 + part.flops32 / 2) / limits.flops / part.seconds;
  return share;
}

}  // namespace bitale
