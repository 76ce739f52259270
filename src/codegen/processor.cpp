#include "codegen/processor.hpp"

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace bitale::codegen {

std::vector<std::string> processor_features() {
  std::vector<std::string> out;
#if defined(__x86_64__)
  __builtin_cpu_init();
#define BITALE_FEATURE(name) \
  if (__builtin_cpu_supports(name)) out.emplace_back(name)
  BITALE_FEATURE("sse4.2");
  BITALE_FEATURE("avx");
  BITALE_FEATURE("avx2");
  BITALE_FEATURE("fma");
  BITALE_FEATURE("bmi2");
  BITALE_FEATURE("avx512f");
  BITALE_FEATURE("avx512vl");
  BITALE_FEATURE("avx512dq");
  BITALE_FEATURE("avx512bw");
#undef BITALE_FEATURE
#elif defined(__aarch64__)
  struct Feature {
    const char* name;
    unsigned long bit;  // of AT_HWCAP
  };
  for (auto& [name, bit] :
       {Feature{"neon", HWCAP_ASIMD}, Feature{"atomics", HWCAP_ATOMICS}, Feature{"fp16", HWCAP_ASIMDHP},
        Feature{"dotprod", HWCAP_ASIMDDP}, Feature{"sve", HWCAP_SVE}})
    if (getauxval(AT_HWCAP) & bit) out.emplace_back(name);
#endif
  return out;
}

}  // namespace bitale::codegen
