#include "codegen/target.hpp"

#include <algorithm>
#include <vector>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace bitale::codegen {

namespace {

struct Level {
  Target target;
  Processor processor;
};
// The widths are what a level was made for; of one processor, the lowest first.
const std::vector<Level>& known_levels() {
  static const std::vector<Level> all{{{"x86-64", 16}, Processor::x86_64},
                                      {{"x86-64-v2", 16}, Processor::x86_64},
                                      {{"x86-64-v3", 32}, Processor::x86_64},
                                      {{"x86-64-v4", 64}, Processor::x86_64},
                                      {{"aarch64", 16}, Processor::aarch64}};
  return all;
}

#if defined(__x86_64__)
int widest_vector() {
  __builtin_cpu_init();
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
  return wide ? 64 : __builtin_cpu_supports("avx2") ? 32 : 16;
}

// Model and feature bits as the processor tells them, and which registers the system saves. Asked for once: a virtual
// machine takes its time to answer.
std::vector<std::int64_t> processor_words() {
  std::vector<std::int64_t> words;
  constexpr unsigned leaves[][2] = {{1, 0}, {7, 0}, {7, 1}, {0x80000001, 0}};
  for (auto [leaf, part] : leaves) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    __get_cpuid_count(leaf, part, &a, &b, &c, &d);
    if (leaf == 1) b = 0;  // which core this is
    for (const unsigned word : {a, b, c, d}) words.push_back(std::int64_t(word));
  }
  unsigned low = 0, high = 0;
  if (__builtin_cpu_supports("avx")) __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  words.push_back(std::int64_t(low));
  return words;
}

// How many of its levels this processor reaches.
std::size_t reached_levels() {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("popcnt")) return 1;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi2")) return 2;
  return widest_vector() == 64 && __builtin_cpu_supports("avx512cd") ? 4 : 3;
}
#elif defined(__aarch64__)
int widest_vector() { return 16; }

// Feature bits as the system tells them.
std::vector<std::int64_t> processor_words() {
  return {std::int64_t(getauxval(AT_HWCAP)), std::int64_t(getauxval(AT_HWCAP2))};
}

std::size_t reached_levels() { return 1; }
#else
int widest_vector() { return 16; }
std::vector<std::int64_t> processor_words() { return {}; }
std::size_t reached_levels() { return 0; }
#endif

// "a, b, c"
std::string names_of(const std::vector<Target>& targets) {
  std::vector<std::string> names;
  for (auto& each : targets) names.push_back(each.level);
  return join(names, ", ");
}

const Target* find(const std::vector<Target>& targets, std::string_view level) {
  const auto found = std::find_if(targets.begin(), targets.end(), [&](auto& each) { return each.level == level; });
  return found == targets.end() ? nullptr : &*found;
}

const std::vector<Target>& targets() {
  static const std::vector<Target> all = [] {
    std::vector<Target> out{{"native", widest_vector()}};
    for (auto& [target, processor] : known_levels())
      if (processor == this_processor() && out.size() <= reached_levels()) out.push_back(target);
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
  if (level != "native") return;
  static const std::vector<std::int64_t> words = processor_words();
  for (const std::int64_t word : words) digester.add(word);
}

const Target& target_named(std::string_view level) {
  if (const Target* found = find(targets(), level)) return *found;
  throw ValueError(
      cat("no code can be generated for the target `", level, "` here: this processor runs ", names_of(targets())));
}

Target foreign_target(std::string_view level) {
  std::vector<Target> all{targets()[0]};
  for (auto& [target, processor] : known_levels()) all.push_back(target);
  if (const Target* found = find(all, level)) return *found;
  throw ValueError(cat("there is no target `", level, "`; targets are ", names_of(all)));
}

const Target& this_target() { return target_named(config::get("target")); }

}  // namespace bitale::codegen
