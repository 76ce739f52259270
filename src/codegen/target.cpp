#include "codegen/target.hpp"

#include <algorithm>
#include <vector>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "codegen/processor.hpp"
#include "codegen/vector_width.hpp"

namespace bitale::codegen {

namespace {

struct Level {
  Target target;
  Processor processor;
};
// The widths are those that a level was designed for. The levels of one processor are in ascending order. For x86-64-v3
// LLVM loads the lanes of a gather one by one, since some of its processors have slow gathers, but computes their
// addresses in vectors.
const std::vector<Level>& known_levels() {
  static const std::vector<Level> all{{{"x86-64", 16}, Processor::x86_64},
                                      {{"x86-64-v2", 16}, Processor::x86_64},
                                      {{"x86-64-v3", 32, false, true}, Processor::x86_64},
                                      {{"x86-64-v4", 64, true}, Processor::x86_64},
                                      {{"aarch64", 16}, Processor::aarch64}};
  return all;
}

// A target and its name, which is a value of the flag `target`.
struct Named {
  std::string name;
  Target target;
};
using Targets = std::vector<Named>;

// The targets for this very processor, except `native`, which is one of them.
Targets natives() {
  Targets out;
  for (int bytes = 16; bytes <= widest_vector(); bytes *= 2)
    out.push_back({cat("native-", 8 * bytes), {"native", bytes, has_avx_512(), has_slow_gathers()}});
  return out;
}

std::string names_of(const Targets& targets) {
  std::vector<std::string> names{"native"};
  for (auto& each : targets) names.push_back(each.name);
  return join(names, ", ");
}

const Target* find(const Targets& targets, std::string_view name) {
  const std::string wanted = name == "native" ? cat("native-", 8 * native_vector_bytes()) : std::string(name);
  const auto found = std::find_if(targets.begin(), targets.end(), [&](auto& each) { return each.name == wanted; });
  return found == targets.end() ? nullptr : &found->target;
}

// The targets that this processor can run.
const Targets& targets() {
  static const Targets all = [] {
    Targets out;
    for (auto& [target, processor] : known_levels())
      if (processor == this_processor() && out.size() < reached_levels()) out.push_back({target.level, target});
    for (auto& each : natives()) out.push_back(each);
    for (auto& each : out) each.target.checks_memory = config::get_bool("memory__check");
    return out;
  }();
  return all;
}

}  // namespace

Processor this_processor() {
#if defined(__x86_64__)
  return Processor::x86_64;
#elif defined(__aarch64__)
  return Processor::aarch64;
#else
  return Processor::other;
#endif
}

Processor Target::processor() const {
  for (auto& [target, processor] : known_levels())
    if (target.level == level) return processor;
  return this_processor();
}

void Target::add_to(Digester& digester) const {
  digester.add(level);
  digester.add(vector_bytes);
  digester.add(slow_gathers);
  digester.add(checks_memory);
  if (level != "native") return;
  for (const std::int64_t word : processor_words()) digester.add(word);
}

const Target& target_named(std::string_view name) {
  if (const Target* found = find(targets(), name)) return *found;
  throw ValueError(
      cat("no code can be generated for the target `", name, "` here: this processor runs ", names_of(targets())));
}

Target foreign_target(std::string_view name) {
  Targets all;
  for (auto& [target, processor] : known_levels()) all.push_back({target.level, target});
  for (auto& each : natives()) all.push_back(each);
  if (const Target* found = find(all, name)) return *found;
  throw ValueError(cat("there is no target `", name, "`; targets are ", names_of(all)));
}

const Target& this_target() { return target_named(config::get("target")); }

}  // namespace bitale::codegen
