// The folder of this library: other libraries that are opened on first use are stored next to it.
#pragma once

#include <string>
#include <string_view>

namespace bitale {

// With a trailing slash; empty where the system can't tell.
std::string library_folder();
// A library of this release: in the folder's own folder of this version, where Debian's packages have it (those of
// several versions are installed at the same time), else in the folder itself.
std::string library_of_release(std::string_view name);

}  // namespace bitale
