// Profiles as text.
#include <algorithm>
#include <cstdio>
#include <map>

#include "bitale/compile/profile.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/op.hpp"

namespace bitale {

namespace {

using Part = Profile::Part;
using Phase = Profile::Phase;

template <class... Args>
std::string format(const char* text, Args... args) {
  char line[256];
  std::snprintf(line, sizeof line, text, args...);
  return line;
}

std::string time_text(double seconds) {
  if (seconds >= 1) return format("%.3f s", seconds);
  if (seconds >= 1e-3) return format("%.3f ms", 1e3 * seconds);
  return format("%.3f us", 1e6 * seconds);
}

std::string bytes_text(double bytes) {
  if (bytes >= 1 << 30) return format("%.2f GiB", bytes / (1 << 30));
  if (bytes >= 1 << 20) return format("%.2f MiB", bytes / (1 << 20));
  if (bytes >= 1 << 10) return format("%.2f KiB", bytes / (1 << 10));
  return format("%.0f bytes", bytes);
}

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string shortened(std::string text, std::size_t most) {
  if (text.size() > most) text = text.substr(0, most) + "...";
  return text;
}

std::string nodes_text(const Part& part) {
  std::vector<std::string> labels;
  for (auto& node : part.nodes) labels.push_back(node.op().label());
  return shortened(join(labels, ", "), 100);
}

// For a loop with sequential steps.
std::string steps_text(const Part& part) {
  const double calls = double(std::max<std::int64_t>(part.calls, 1));
  std::string out = format("%.0f steps a call, each %.3f ns", part.steps / calls, 1e9 * part.seconds / part.steps);
  if (part.trace_bytes > 0) out += cat("; traces of ", bytes_text(part.trace_bytes / calls));
  return out;
}

double time_in_parts(const Profile& profile) {
  double total = 0;
  for (auto& part : profile.parts) total += part.seconds;
  return total;
}

std::vector<const Part*> slowest_first(const Profile& profile) {
  std::vector<const Part*> parts;
  for (auto& part : profile.parts) parts.push_back(&part);
  std::stable_sort(parts.begin(), parts.end(), [](auto* a, auto* b) { return a->seconds > b->seconds; });
  return parts;
}

// The parts that are a single node each: the rows of tables by node.
std::vector<const Part*> node_parts(const Profile& profile) {
  std::vector<const Part*> parts = slowest_first(profile);
  std::erase_if(parts, [](auto* part) { return part->nodes.size() != 1; });
  return parts;
}

std::string rest_line(std::size_t rows, std::size_t shown, double seconds, double whole) {
  if (rows <= shown) return {};
  return format("  ... and %zu more: %.1f %%, %s\n", rows - shown, percent(seconds, whole), time_text(seconds).c_str());
}

// ---- sections -------------------------------------------------------------------------------------------------------

std::string function_section(const Profile& profile) {
  std::string out = "Function profiling\n==================\n";
  out += cat("  Message: ", profile.name.empty() ? "function" : profile.name, "\n");
  out +=
      cat("  Linker: ", profile.linker, profile.threads > 1 ? cat(", up to ", profile.threads, " threads") : "", "\n");
  if (profile.calls == 0) return out + "  It has not been called.\n";
  out +=
      format("  Time in %lld calls: %s, each %s\n", (long long)profile.calls, time_text(profile.call_seconds).c_str(),
             time_text(profile.call_seconds / double(profile.calls)).c_str());
  const double parts = time_in_parts(profile);
  out += format("  of it in the linked code: %s (%.1f %%), in its parts: %s (%.1f %%)\n",
                time_text(profile.linked_seconds).c_str(), percent(profile.linked_seconds, profile.call_seconds),
                time_text(parts).c_str(), percent(parts, profile.call_seconds));
  return out;
}

std::string compiling_section(const Profile& profile, const ProfileTextOptions& options) {
  std::string out = cat("Compiling: ", time_text(profile.compiling.seconds), "\n");
  const auto line = [&](const Phase& phase, int depth) {
    const std::string name = std::string(std::size_t(2 * depth), ' ') + phase.name;
    out += format("  %-34s %12s  ", name.c_str(), time_text(phase.seconds).c_str()) + phase.note + "\n";
  };
  for (auto& phase : profile.compiling.parts) {
    line(phase, 0);
    std::vector<Phase> rules;
    for (auto& stage : phase.parts) {
      line(stage, 1);
      for (auto& rule : stage.parts)
        if (!rule.note.starts_with("used 0 ")) rules.push_back(rule);
    }
    std::stable_sort(rules.begin(), rules.end(), [](auto& a, auto& b) { return a.seconds > b.seconds; });
    if (rules.size() > options.max_rows) rules.resize(options.max_rows);
    if (!rules.empty()) out += "    rules that were used, the slowest first\n";
    for (auto& rule : rules) line(rule, 2);
  }
  return out;
}

std::string parts_section(const Profile& profile, const ProfileTextOptions& options) {
  if (profile.calls == 0 || profile.limits.flops <= 0) return {};
  const auto parts = slowest_first(profile);
  const double whole = time_in_parts(profile);
  std::string out = "Parts of the code\n";
  out += "   time  per call         GB/s   GFLOP/s  of limit  what\n";
  double left = whole;
  const std::size_t shown = std::min(options.max_rows, parts.size());
  for (std::size_t k = 0; k < shown; ++k) {
    const Part& part = *parts[k];
    left -= part.seconds;
    const double calls = double(std::max<std::int64_t>(part.calls, 1));
    out += format("%5.1f %%  %-12s", percent(part.seconds, whole), time_text(part.seconds / calls).c_str());
    if (part.counted && part.seconds > 0) {
      const LimitShare share = share_of_limits(part, profile.limits);
      const double most = std::max(share.memory, share.arithmetic);
      const char* which = share.arithmetic >= share.memory ? "arithmetic" : share.memory > 1 ? "caches" : "memory";
      out += format("  %8.2f  %8.2f  %5.1f %%", 1e-9 * part.bytes / part.seconds, 1e-9 * part.flops() / part.seconds,
                    100 * most);
      out += cat("  ", part.kind, " (", which, ")");
    } else {
      out += cat(std::string(29, ' '), "  ", part.kind);
    }
    if (part.other_strides) out += ", inputs with other strides";
    out += cat(": ", shortened(first_line(part.text), 80), "\n");
    if (!part.nodes.empty()) out += cat(std::string(22, ' '), nodes_text(part), "\n");
    if (part.steps > 0) out += cat(std::string(22, ' '), steps_text(part), "\n");
  }
  out += rest_line(parts.size(), shown, left, whole);
  out +=
      format("  Limits, measured with %d thread%s: %.1f GB/s read, %.1f GFLOP/s in float64\n", profile.limits.threads,
             profile.limits.threads > 1 ? "s" : "", 1e-9 * profile.limits.read_bandwidth, 1e-9 * profile.limits.flops);
  return out;
}

// A table of the nodes that are timed separately, grouped by a name that several nodes may share.
template <class NameOf>
std::string node_table(const Profile& profile, const ProfileTextOptions& options, const char* title, NameOf name_of) {
  struct Row {
    double seconds = 0;
    std::int64_t calls = 0, nodes = 0;
    std::string steps = {};  // if the row is a single node with steps
  };
  const auto parts = node_parts(profile);
  if (profile.calls == 0 || parts.empty()) return {};
  std::map<std::string, Row> rows;
  const double whole = time_in_parts(profile);
  for (auto* part : parts) {
    Row& row = rows[name_of(*part)];
    row.seconds += part->seconds;
    row.calls += part->calls;
    row.steps = ++row.nodes == 1 && part->steps > 0 ? steps_text(*part) : "";
  }
  std::vector<std::pair<std::string, Row>> order(rows.begin(), rows.end());
  std::stable_sort(order.begin(), order.end(), [](auto& a, auto& b) { return a.second.seconds > b.second.seconds; });
  std::string out = cat(title, "\n   time     sum  total         per call         calls  nodes  name\n");
  double sum = 0, left = 0;
  for (auto* part : parts) left += part->seconds;
  const std::size_t shown = std::min(options.max_rows, order.size());
  for (std::size_t k = 0; k < shown; ++k) {
    auto& [name, row] = order[k];
    sum += row.seconds;
    left -= row.seconds;
    const double calls = double(std::max<std::int64_t>(row.calls, 1));
    out += format("%5.1f %% %5.1f %%  %-12s  %-12s  %8lld  %5lld  ", percent(row.seconds, whole), percent(sum, whole),
                  time_text(row.seconds).c_str(), time_text(row.seconds / calls).c_str(), (long long)row.calls,
                  (long long)row.nodes);
    out += shortened(name, 100) + "\n";
    if (!row.steps.empty()) out += cat(std::string(60, ' '), row.steps, "\n");
  }
  return out + rest_line(order.size(), shown, left, whole);
}

std::string class_section(const Profile& profile, const ProfileTextOptions& options) {
  return node_table(profile, options, "Class", [](const Part& part) { return std::string(part.nodes[0].op().name()); });
}
std::string ops_section(const Profile& profile, const ProfileTextOptions& options) {
  return node_table(profile, options, "Ops", [](const Part& part) { return part.nodes[0].op().label(); });
}

std::string nodes_section(const Profile& profile, const ProfileTextOptions& options) {
  std::map<const ApplyNode*, std::size_t> index;
  for (auto& part : profile.parts)
    if (part.nodes.size() == 1) index.emplace(part.nodes[0].node(), index.size());
  return node_table(profile, options, "Apply", [&](const Part& part) {
    const Apply& node = part.nodes[0];
    const std::string where = node.provenance().where.str();
    return cat(node.op().label(), ", node ", index.at(node.node()), where.empty() ? "" : cat(", ", where));
  });
}

std::string memory_section(const Profile& profile) {
  if (profile.calls == 0) return {};
  return cat("Memory, the most that a call has held\n  results:     ", bytes_text(double(profile.results)),
             "\n  temporaries: ", bytes_text(double(profile.temporaries)), "\n");
}

std::string tips_section(const Profile& profile) {
  if (profile.calls == 0) return {};
  std::string out;
  const double whole = profile.call_seconds, parts = time_in_parts(profile);
  double by_perform = 0, strided = 0;
  for (auto& part : profile.parts) {
    if (part.kind == "perform") by_perform += part.seconds;
    if (part.other_strides) strided += part.seconds;
  }
  if (profile.linker == "vm")
    out += "  - Nodes run one by one in the interpreter; a mode with the linker jit compiles them into loops.\n";
  if (by_perform > 0.1 * whole)
    out += format("  - %.0f %% of the time goes to ops without native code (perform).\n", percent(by_perform, whole));
  if (strided > 0.1 * whole) out += "  - Inputs are not C-contiguous; contiguous ones are read faster.\n";
  if (profile.linked_seconds > 0 && parts < 0.5 * profile.linked_seconds && profile.limits.flops > 0)
    out +=
        "  - Most of the time passes around the code: calls are short. Fewer and larger calls, or `out=`, cost less.\n";
  return out.empty() ? out : "Tips\n" + out;
}

}  // namespace

std::string profile_text(const Profile& profile, const ProfileTextOptions& options) {
  const std::pair<const char*, std::function<std::string()>> sections[] = {
      {"function", [&] { return function_section(profile); }},
      {"compiling", [&] { return compiling_section(profile, options); }},
      {"parts", [&] { return parts_section(profile, options); }},
      {"class", [&] { return class_section(profile, options); }},
      {"ops", [&] { return ops_section(profile, options); }},
      {"nodes", [&] { return nodes_section(profile, options); }},
      {"memory", [&] { return memory_section(profile); }},
      {"tips", [&] { return tips_section(profile); }},
  };
  std::vector<std::string> names, texts;
  for (auto& [name, text] : sections) names.emplace_back(name);
  for (auto& wanted : options.sections)
    if (std::find(names.begin(), names.end(), wanted) == names.end())
      throw ValueError(cat("profile_text: sections are ", join(names, ", "), ", not `", wanted, "`"));
  for (auto& [name, text] : sections) {
    const std::string_view section = name;
    const bool by_node = section == "class" || section == "ops" || section == "nodes";
    const bool is_wanted =
        options.sections.empty()
            ? !by_node || profile.limits.flops <= 0  // few nodes of native code are timed separately
            : std::find(options.sections.begin(), options.sections.end(), section) != options.sections.end();
    if (!is_wanted) continue;
    if (std::string one = text(); !one.empty()) texts.push_back(std::move(one));
  }
  return join(texts, "\n");
}

}  // namespace bitale
