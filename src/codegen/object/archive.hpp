// Several object files as one: an archive in the format of `ar`, which an entry of the cache is when its code was
// generated in pieces.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bitale::codegen {

std::string archive_of(std::span<const std::string> files);

// The files of an archive; of anything else, itself. ValueError for an archive that is damaged.
std::vector<std::string_view> members_of(std::string_view file);

}  // namespace bitale::codegen
