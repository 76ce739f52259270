// Store: contents by key in a directory that processes share. An entry is written to a temporary name and renamed, so
// that it is there entirely or not at all; it carries its key and a checksum, and whatever does not fit them is as if
// it were not there. Reading takes no lock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/digest.hpp"

namespace bitale::cache {

// What an entry is called while it is written: this, the process, and a number.
inline constexpr std::string_view temporary_prefix = "tmp-";

class Store {
 public:
  // `most_bytes`: beyond, the entries that were not used for longest go. The directory is made when first written to.
  Store(std::string directory, std::int64_t most_bytes);

  const std::string& directory() const { return directory_; }
  std::string path(const Digest& key) const;
  // Nothing when there is no entry, it is damaged, or it belongs to another user.
  std::optional<std::string> load(const Digest& key) const;
  // Whether load would give something; that is no use of the entry.
  bool is_intact(const Digest& key) const;
  // When the directory can't be written, says so once in the life of the process; the caller has what it needs.
  void save(const Digest& key, std::string_view contents) const;

 private:
  std::optional<std::string> read(const Digest& key, bool is_use) const;
  bool write(const std::string& file, std::string_view header, std::string_view contents) const;
  void evict(const std::string& spared) const;

  std::string directory_;
  std::int64_t most_bytes_;
};

// Makes the directory and those above it. False when that fails; errno says why.
bool make_directory(const std::string& path);

}  // namespace bitale::cache
