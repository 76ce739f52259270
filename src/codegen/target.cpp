#include "codegen/target.hpp"

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
#else
int widest_vector() { return 16; }
void add_processor(Digester&) {}
#endif

}  // namespace

void Target::add_to(Digester& digester) const {
  digester.add(vector_bytes);
  add_processor(digester);
}

const Target& this_target() {
  static const Target target{widest_vector()};
  return target;
}

}  // namespace bitale::codegen
