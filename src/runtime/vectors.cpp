#include "runtime/vectors.hpp"

namespace bitale::runtime {

Vectors vectors() {
#if defined(__x86_64__)
  static const Vectors found = [] {
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                      __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd"))
      return Vectors::avx512;
    return avx2 ? Vectors::avx2 : Vectors::none;
  }();
  return found;
#else
  return Vectors::none;
#endif
}

}  // namespace bitale::runtime
