#include "core/library_folder.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include "bitale/core/text.hpp"

namespace bitale {

std::string library_folder() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<const void*>(&library_folder), &info) || !info.dli_fname) return {};
  const std::string file = info.dli_fname;
  return file.substr(0, file.rfind('/') + 1);
}

std::string library_of_release(std::string_view name) {
  const std::string folder = library_folder(), own = cat(folder, BITALE_OWN_FOLDER, "/", name);
  return access(own.c_str(), F_OK) == 0 ? own : cat(folder, name);
}

}  // namespace bitale
