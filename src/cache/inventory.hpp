// Inventory: what lies in a store's directory, for those who look after it. Listing and removing are safe while other
// processes read and write: an entry that vanishes is made again by whoever wants it.
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
  bool intact = false;  // whole, and of a user whose code may be run
};

struct Leftover {
  std::string name;
  std::int64_t bytes = 0;
  bool abandoned = false;  // the process that wrote it is gone
};

struct Inventory {
  std::vector<Entry> entries;       // the latest used first
  std::vector<Leftover> temporary;  // entries that are being written, or were when their process was killed
  bool claimed = false;             // some living process holds a claim (claim.hpp)
};

// Of a directory that isn't there: nothing.
Inventory inventory(const std::string& directory);

struct Removed {
  std::int64_t files = 0, bytes = 0;
};
// Every entry and temporary file.
Removed remove_all(const std::string& directory);
// Entries that are not intact, and abandoned temporary files.
Removed remove_useless(const std::string& directory);

}  // namespace bitale::cache
