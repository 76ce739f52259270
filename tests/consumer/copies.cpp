// A second copy of the library in the process, as with a plugin that brings its own: neither may use what the other has
// constructed, nor destroy it when the process ends.
#include <bitale/bitale.hpp>

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>

namespace bt = bitale;

namespace {

int find_library(dl_phdr_info* info, std::size_t, void* path) {
  if (std::strstr(info->dlpi_name, "/libbitale.so")) *static_cast<std::string*>(path) = info->dlpi_name;
  return 0;
}

}  // namespace

int main() {
  std::string library;
  dl_iterate_phdr(find_library, &library);
  const auto copy = std::filesystem::temp_directory_path() / ("bitale-copy-" + std::to_string(getpid()) + ".so");
  std::filesystem::copy_file(library, copy);
  void* const second = dlopen(copy.c_str(), RTLD_NOW);
  std::filesystem::remove(copy);
  if (!second) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  const char* const name = "_ZN6bitale12OPT_FAST_RUNE";
  const bool has_own_names = dlsym(second, name) != nullptr;
  auto x = bt::vector("x");
  const double sum = bt::function({x}, bt::sum(bt::exp(x)))({bt::Array{0., 0.}}).item();
  std::printf("%g\n", sum);
  return has_own_names && sum == 2 ? 0 : 1;
}
