#include "core/library_folder.hpp"

#include <dlfcn.h>

namespace bitale {

std::string library_folder() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<const void*>(&library_folder), &info) || !info.dli_fname) return {};
  const std::string file = info.dli_fname;
  return file.substr(0, file.rfind('/') + 1);
}

}  // namespace bitale
