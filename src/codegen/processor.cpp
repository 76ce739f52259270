#include "codegen/processor.hpp"

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
#endif
  return out;
}

}  // namespace bitale::codegen
