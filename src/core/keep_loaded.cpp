#include "core/keep_loaded.hpp"

#include <dlfcn.h>

// Where the linker puts this library in memory.
extern "C" {
extern const char __ehdr_start __attribute__((visibility("hidden")));
extern const char _end __attribute__((visibility("hidden")));
}

namespace bitale {

void keep_loaded(const void* address) {
  if (address >= &__ehdr_start && address < &_end) return;
  Dl_info info{};
  if (!dladdr(address, &info) || !info.dli_fname) return;
  // The handle is not closed: a reference would do, but only this flag holds against unbalanced calls of dlclose.
  dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

}  // namespace bitale
