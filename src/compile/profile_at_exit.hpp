// Profiles that are to be printed when the process ends: each function with a profile holds an entry.
#pragma once

#include <functional>
#include <string>

namespace bitale {

class ProfileEntry {
 public:
  // `text` says what there is to print; it is asked when printing, or when the entry goes. "": nothing.
  explicit ProfileEntry(std::function<std::string()> text);
  ~ProfileEntry();
  ProfileEntry(const ProfileEntry&) = delete;
  ProfileEntry& operator=(const ProfileEntry&) = delete;

 private:
  std::function<std::string()> text_;
  friend void print_profiles();
};

}  // namespace bitale
