#include "codegen/llvm/api.hpp"

#include <dlfcn.h>
#include <llvm/Config/llvm-config.h>

#include <string>
#include <vector>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "codegen/generate.hpp"
#include "core/address_space.hpp"
#include "core/library_folder.hpp"
#include "core/library_pages.hpp"

namespace bitale::codegen {

namespace {

// The release whose headers declared the functions of LlvmApi; functions of the C API stay in later ones, as a rule.
constexpr unsigned needed_major = LLVM_VERSION_MAJOR;

[[noreturn]] void missing(std::string_view what) {
  throw MissingGenerator(
      cat("compiling needs LLVM ", needed_major, ".1: ", what, "; install the package libllvm", needed_major,
          ", name the library with the flag llvm_library, or run without native code: mode FAST_COMPILE, or "
          "linker_fallback=True"));
}

struct Library {
  void* handle;
  std::string name;
};

// Debian's libLLVM.so.19.1 has 130 MB, the package's own one 42.
constexpr std::size_t address_space = std::size_t(136) << 20;

constexpr std::string_view own_library = "libbitale_llvm.so";

Library open_library() {
  const std::string chosen = config::get("llvm_library"), own = library_of_release(own_library),
                    system_library = cat("libLLVM.so.", needed_major, ".1");
  const std::vector<std::string> files =
      chosen.empty() ? std::vector<std::string>{own, system_library, cat("libLLVM-", needed_major, ".so.1"),
                                                cat("libLLVM-", needed_major, ".so")}
                     : std::vector<std::string>{chosen};
  // Lazy binding: most of the library's functions are never called, and resolving them all takes milliseconds.
  for (auto& file : files)
    if (void* library = dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL))
      return {library, file == own ? std::string(own_library) : file};
  // Of a library that is there, but cannot be mapped, the system says the same in words of its own.
  require_address_space(address_space, "loading LLVM", "run without native code: mode FAST_COMPILE, which is slower");
  missing(chosen.empty() ? cat("neither ", own, " nor the system's ", system_library, " was found")
                         : cat(chosen, " was not found"));
}

struct LoadedLibrary {
  void* library = nullptr;
  LlvmApi api{};
  std::string version;
};

LoadedLibrary load() {
  const auto [library, name] = open_library();
  using GetVersion = void (*)(unsigned* major, unsigned* minor, unsigned* patch);
  unsigned version[3] = {};
  if (auto get_version = reinterpret_cast<GetVersion>(dlsym(library, "LLVMGetVersion")))
    get_version(&version[0], &version[1], &version[2]);
  if (version[0] < needed_major)
    missing(version[0] ? cat("the library found is of version ", version[0], ".", version[1])
                       : std::string("the library found is older, or another one"));
  LoadedLibrary loaded;
  loaded.library = library;
  loaded.version = cat("LLVM ", version[0], ".", version[1], ".", version[2], ", ", name);
  LlvmApi& api = loaded.api;
#define X(name)                                                                  \
  api.name = reinterpret_cast<decltype(api.name)>(dlsym(library, "LLVM" #name)); \
  if (!api.name) missing("the library found has no LLVM" #name);
  BITALE_LLVM_FUNCTIONS(X)
#undef X
  if (name == own_library) give_back_pages_of_release(reinterpret_cast<const void*>(api.ContextCreate));
  return loaded;
}

const LoadedLibrary& loaded_library() {
  static const LoadedLibrary once = load();
  return once;
}

}  // namespace

const LlvmApi& llvm() { return loaded_library().api; }

void* llvm_symbol(const std::string& name) { return dlsym(loaded_library().library, name.c_str()); }

const std::string& generator_version() { return loaded_library().version; }

}  // namespace bitale::codegen
