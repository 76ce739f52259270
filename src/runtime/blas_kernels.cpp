// What OpenBLAS reports about itself.
#include <dlfcn.h>

#include "runtime/blas.hpp"

namespace bitale::runtime {

std::string blas_kernels() {
  const std::string& file = blas_library();
  void* library = file.empty() ? nullptr : dlopen(file.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (!library) return {};
  const auto name = reinterpret_cast<const char* (*)()>(dlsym(library, "openblas_get_corename"));
  std::string out = name ? name() : "";
  dlclose(library);
  return out;
}

}  // namespace bitale::runtime
