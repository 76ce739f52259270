// Profiles that are printed when the process ends: each function with a profile holds an entry.
#pragma once

#include <functional>
#include <string>

namespace bitale {

class ProfileEntry {
 public:
  // `text` returns the text to print; it is called when printing, or when the entry is destroyed. "": nothing is
  // printed.
  explicit ProfileEntry(std::function<std::string()> text);
  ~ProfileEntry();
  ProfileEntry(const ProfileEntry&) = delete;
  ProfileEntry& operator=(const ProfileEntry&) = delete;

 private:
  std::function<std::string()> text_;
  friend void print_profiles();
};

}  // namespace bitale
