// Several object files in one: an archive in the format of `ar`. An entry of the cache is such an archive when its code
// was generated in pieces.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bitale::codegen {

std::string archive_of(std::span<const std::string> files);

// The files of an archive; any other file is returned as the only one. Throws ValueError for a damaged archive.
std::vector<std::string_view> members_of(std::string_view file);

}  // namespace bitale::codegen
