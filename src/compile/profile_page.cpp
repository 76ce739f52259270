// Profiles as pages: compiling, phase by phase, and calls, part by part, with the nodes that a part computes inside it.
#include <algorithm>
#include <cstdio>

#include "bitale/compile/profile.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/op.hpp"
#include "bitale/printing/flame.hpp"
#include "bitale/printing/printing.hpp"

namespace bitale {

namespace {

using Part = Profile::Part;
using Phase = Profile::Phase;
using Fact = std::pair<std::string, std::string>;

std::string rounded(double value, int digits = 3) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

Flame flame_of(const Phase& phase) {
  Flame out{phase.name, phase.seconds, "compiling"};
  if (!phase.note.empty()) out.facts.push_back({"note", phase.note});
  for (auto& part : phase.parts) out.parts.push_back(flame_of(part));
  return out;
}

std::vector<Fact> facts_of(const Apply& node) {
  std::vector<Fact> facts{{"expression", pprint(node.output(), {.depth = 4, .max_length = 200})}};
  if (const std::string where = node.provenance().where.str(); !where.empty()) facts.push_back({"line", where});
  return facts;
}

std::vector<Fact> facts_of(const Part& part, const MachineLimits& limits) {
  std::vector<Fact> facts{{"calls", cat(part.calls)}};
  if (part.other_strides) facts.push_back({"code", "for inputs that are not C-contiguous"});
  if (part.counted && part.seconds > 0) {
    const LimitShare share = share_of_limits(part, limits);
    facts.push_back({"moved", cat(rounded(1e-9 * part.bytes / part.seconds), " GB/s, ", rounded(100 * share.memory),
                                  " % of the limit")});
    facts.push_back({"computed", cat(rounded(1e-9 * part.flops() / part.seconds), " GFLOP/s, ",
                                     rounded(100 * share.arithmetic), " % of the limit")});
  }
  if (part.steps > 0) {
    const double calls = double(std::max<std::int64_t>(part.calls, 1));
    facts.push_back({"steps", cat(rounded(part.steps / calls, 9), " a call, each ",
                                  rounded(1e9 * part.seconds / part.steps), " ns")});
    if (part.trace_bytes > 0) facts.push_back({"traces", cat(rounded(part.trace_bytes / calls, 9), " bytes a call")});
  }
  facts.push_back({"code", part.text});
  return facts;
}

std::string name_of(const Part& part) {
  if (part.nodes.empty()) return part.kind;
  std::vector<std::string> labels;
  for (auto& node : part.nodes) labels.push_back(node.op().label());
  return part.kind == "node" ? labels[0] : cat(part.kind, ": ", join(labels, ", "));
}

// Nodes that share a loop have no separate times: their bars have equal widths.
Flame flame_of(const Part& part, const MachineLimits& limits) {
  Flame out{name_of(part), part.seconds, part.kind, facts_of(part, limits)};
  if (part.nodes.size() == 1)
    for (auto& fact : facts_of(part.nodes[0])) out.facts.push_back(std::move(fact));
  if (part.nodes.size() > 1)
    for (auto& node : part.nodes) {
      Flame one{node.op().label(), part.seconds / double(part.nodes.size()), "share", facts_of(node)};
      one.facts.push_back({"note", "nodes of one loop have no times of their own"});
      out.parts.push_back(std::move(one));
    }
  return out;
}

}  // namespace

std::string profile_html(const Profile& profile) {
  FlamePage page;
  page.title = cat("Profile of ", profile.name.empty() ? "a function" : profile.name);
  if (profile.calls > 0) {
    Flame calls{count_text(std::int64_t(profile.calls), "call"), profile.call_seconds, "call"};
    calls.facts.push_back({"results", cat(profile.results, " bytes at most")});
    calls.facts.push_back({"temporaries", cat(profile.temporaries, " bytes at most")});
    if (profile.limits.flops > 0)
      calls.facts.push_back({"limits", cat(rounded(1e-9 * profile.limits.read_bandwidth), " GB/s read, ",
                                           rounded(1e-9 * profile.limits.flops), " GFLOP/s in float64, measured")});
    Flame linked{cat("linker ", profile.linker), profile.linked_seconds, "call"};
    for (auto& part : profile.parts) linked.parts.push_back(flame_of(part, profile.limits));
    calls.parts.push_back(std::move(linked));
    page.charts.push_back(std::move(calls));
  }
  page.charts.push_back(flame_of(profile.compiling));
  page.text = profile_text(profile);
  return flame_html(page);
}

}  // namespace bitale
