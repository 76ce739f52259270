#include "codegen/target.hpp"

#include <algorithm>
#include <vector>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace bitale::codegen {

namespace {

#if defined(__x86_64__)
int widest_vector() {
  __builtin_cpu_init();
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
  return wide ? 64 : __builtin_cpu_supports("avx2") ? 32 : 16;
}

// Model and feature bits as the processor tells them, and which registers the system saves.
void add_processor(Digester& digester) {
  constexpr unsigned leaves[][2] = {{1, 0}, {7, 0}, {7, 1}, {0x80000001, 0}};
  for (auto [leaf, part] : leaves) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    __get_cpuid_count(leaf, part, &a, &b, &c, &d);
    if (leaf == 1) b = 0;  // which core this is
    for (const unsigned word : {a, b, c, d}) digester.add(std::int64_t(word));
  }
  unsigned low = 0, high = 0;
  if (__builtin_cpu_supports("avx")) __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  digester.add(std::int64_t(low));
}

// Those this processor reaches, lowest first. The widths are what a level was made for.
std::vector<Target> levels() {
  __builtin_cpu_init();
  std::vector<Target> out{{"x86-64", 16}};
  if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt")) out.push_back({"x86-64-v2", 16});
  if (out.size() == 2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2"))
    out.push_back({"x86-64-v3", 32});
  if (out.size() == 3 && widest_vector() == 64 && __builtin_cpu_supports("avx512cd")) out.push_back({"x86-64-v4", 64});
  return out;
}
#else
int widest_vector() { return 16; }
void add_processor(Digester&) {}
std::vector<Target> levels() { return {}; }
#endif

const std::vector<Target>& targets() {
  static const std::vector<Target> all = [] {
    std::vector<Target> out = levels();
    out.insert(out.begin(), {"native", widest_vector()});
    return out;
  }();
  return all;
}

}  // namespace

void Target::add_to(Digester& digester) const {
  digester.add(level);
  digester.add(vector_bytes);
  if (level == "native") add_processor(digester);
}

const Target& target_named(std::string_view level) {
  const auto found = std::find_if(targets().begin(), targets().end(), [&](auto& each) { return each.level == level; });
  if (found != targets().end()) return *found;
  std::vector<std::string> names;
  for (auto& each : targets()) names.push_back(each.level);
  throw ValueError(
      cat("no code can be generated for the target `", level, "` here: this processor runs ", join(names, ", ")));
}

const Target& this_target() { return target_named(config::get("target")); }

}  // namespace bitale::codegen
