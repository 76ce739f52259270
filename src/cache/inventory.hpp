// Inventory: the contents of a store's directory, for its maintenance. Listing and removing are safe while other
// processes read and write: an entry that vanishes is created again when it is needed.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

namespace bitale::cache {

struct Entry {
  std::string name;  // its key
  std::int64_t bytes = 0;
  std::time_t used = 0;
  bool intact = false;  // complete, and owned by a user whose code may be run
};

struct Leftover {
  std::string name;
  std::int64_t bytes = 0;
  bool abandoned = false;  // the process that wrote it has ended
};

struct Inventory {
  std::vector<Entry> entries;       // most recently used first
  std::vector<Leftover> temporary;  // entries that are being written, or were when their process was killed
  bool claimed = false;             // some living process holds a claim (claim.hpp)
};

// Empty for a directory that does not exist.
Inventory inventory(const std::string& directory);

struct Removed {
  std::int64_t files = 0, bytes = 0;
};
// Removes every entry and temporary file.
Removed remove_all(const std::string& directory);
// Removes entries that are not intact, and abandoned temporary files.
Removed remove_useless(const std::string& directory);

}  // namespace bitale::cache
