// Store: contents by key in a directory that processes share. An entry is written to a temporary name and renamed, so
// that it exists entirely or not at all; it contains its key and a checksum, and an entry that does not match them
// counts as absent. Reading takes no lock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/digest.hpp"

namespace bitale::cache {

// The name of an entry while it is written: this prefix, the process, and a number.
inline constexpr std::string_view temporary_prefix = "tmp-";

class Store {
 public:
  // `max_bytes`: beyond, the least recently used entries are removed. The directory is created on the first write.
  Store(std::string directory, std::int64_t max_bytes);

  const std::string& directory() const { return directory_; }
  std::string path(const Digest& key) const;
  // nullopt when there is no entry, it is damaged, or it belongs to another user.
  std::optional<std::string> load(const Digest& key) const;
  // Whether load would return contents; this does not count as a use of the entry.
  bool is_intact(const Digest& key) const;
  // When the directory can't be written, warns once in the life of the process; the caller still has the contents.
  void save(const Digest& key, std::string_view contents) const;

 private:
  std::optional<std::string> read(const Digest& key, bool is_use) const;
  bool write(const std::string& file, std::string_view header, std::string_view contents) const;
  void evict(const std::string& spared) const;

  std::string directory_;
  std::int64_t max_bytes_;
};

// Creates the directory and its parents. False when that fails; errno says why.
bool make_directory(const std::string& path);

}  // namespace bitale::cache
