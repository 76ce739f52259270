// The choice of a level. What the best one has no kernels for is left to the lowest.
#include "program/kernels/kernels.hpp"

namespace bitale::program::kernels {

namespace baseline {
extern const Kernels all;
}
#if defined(__x86_64__)
namespace avx2 {
extern const Kernels all;
}
namespace avx512 {
extern const Kernels all;
}
#endif

namespace {

const Kernels& best() {
#if defined(__x86_64__)
  static const Kernels& it = __builtin_cpu_supports("x86-64-v4")   ? avx512::all
                             : __builtin_cpu_supports("x86-64-v3") ? avx2::all
                                                                   : baseline::all;
  return it;
#else
  return baseline::all;
#endif
}

template <auto member>
struct Chosen;
template <class Result, class... Arguments, Result (*Kernels::*member)(Arguments...)>
struct Chosen<member> {
  static Result find(Arguments... arguments) {
    const Result found = (best().*member)(arguments...);
    return found ? found : (baseline::all.*member)(arguments...);
  }
};

}  // namespace

const Kernels& of_this_processor() {
  static constexpr Kernels chosen{Chosen<&Kernels::operation>::find,      Chosen<&Kernels::special>::find,
                                  Chosen<&Kernels::polynomial>::find,     Chosen<&Kernels::combine>::find,
                                  Chosen<&Kernels::reduction>::find,      Chosen<&Kernels::fold>::find,
                                  Chosen<&Kernels::arg_reduction>::find,  Chosen<&Kernels::scatter>::find,
                                  Chosen<&Kernels::scatter_by_runs>::find};
  return chosen;
}

}  // namespace bitale::program::kernels
