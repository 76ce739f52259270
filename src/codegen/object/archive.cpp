#include "codegen/object/archive.hpp"

#include <ar.h>

#include <charconv>
#include <cstring>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"

namespace bitale::codegen {

namespace {

constexpr std::string_view magic(ARMAG, SARMAG), end_of_header(ARFMAG, 2);
constexpr std::size_t alignment = 2;  // of members

template <std::size_t N>
void put(char (&field)[N], std::string_view text) {
  std::memset(field, ' ', N);
  std::memcpy(field, text.data(), std::min(N, text.size()));
}

}  // namespace

std::string archive_of(std::span<const std::string> files) {
  std::string out(magic);
  for (std::size_t k = 0; k < files.size(); ++k) {
    ar_hdr header;
    put(header.ar_name, cat(k, ".o/"));
    put(header.ar_date, "0");
    put(header.ar_uid, "0");
    put(header.ar_gid, "0");
    put(header.ar_mode, "644");
    put(header.ar_size, cat(files[k].size()));
    put(header.ar_fmag, end_of_header);
    out.append(reinterpret_cast<const char*>(&header), sizeof header);
    out += files[k];
    if (out.size() % alignment) out += '\n';
  }
  return out;
}

std::vector<std::string_view> members_of(std::string_view file) {
  if (!file.starts_with(magic)) return {file};
  const auto require = [](bool ok) {
    if (!ok) throw ValueError("object file: an archive that is damaged");
  };
  std::vector<std::string_view> out;
  for (std::size_t at = magic.size(); at < file.size();) {
    ar_hdr header;
    require(file.size() - at >= sizeof header);
    std::memcpy(&header, file.data() + at, sizeof header);
    at += sizeof header;
    std::size_t bytes = 0;
    const auto [end, error] = std::from_chars(header.ar_size, header.ar_size + sizeof header.ar_size, bytes);
    require(error == std::errc() && std::string_view(header.ar_fmag, sizeof header.ar_fmag) == end_of_header &&
            bytes <= file.size() - at);
    out.push_back(file.substr(at, bytes));
    at += (bytes + alignment - 1) / alignment * alignment;
  }
  require(!out.empty());
  return out;
}

}  // namespace bitale::codegen
