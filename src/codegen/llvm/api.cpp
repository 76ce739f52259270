#include "codegen/llvm/api.hpp"

#include <dlfcn.h>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"

namespace bitale::codegen {

namespace {

void* open_library() {
  constexpr const char* names[] = {"libLLVM.so.19.1", "libLLVM-19.so.1", "libLLVM-19.so"};
  // Lazy binding: most of the library's functions are never called, and resolving them all takes milliseconds.
  for (const char* name : names)
    if (void* library = dlopen(name, RTLD_LAZY | RTLD_LOCAL)) return library;
  throw NotImplementedError(
      "compiling needs LLVM 19.1 (libLLVM.so.19.1), which was not found; install the package libllvm19, or use "
      "mode FAST_COMPILE");
}

LlvmApi load() {
  void* library = open_library();
  LlvmApi api{};
#define X(name)                                                                  \
  api.name = reinterpret_cast<decltype(api.name)>(dlsym(library, "LLVM" #name)); \
  if (!api.name) throw NotImplementedError("the LLVM library found has no LLVM" #name "; version 19.1 is needed");
  BITALE_LLVM_FUNCTIONS(X)
#undef X
  return api;
}

}  // namespace

const LlvmApi& llvm() {
  static const LlvmApi api = load();
  return api;
}

}  // namespace bitale::codegen
