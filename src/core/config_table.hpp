// The flags with their values, independent of the process: built from the texts of the sources, without locking.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bitale/core/config.hpp"

namespace bitale::config {

using Settings = std::vector<std::pair<std::string, std::string>>;  // key, value, in order

// "a=1,b='x,y'": commas inside quotes don't separate.
Settings parse_flags_text(std::string_view text);
// INI: "key = value" lines, "# comment" lines, [section]; in a section other than [global], key means section__key.
Settings parse_ini(std::string_view text);

// The choices of an enum flag that another part of the library lists: names of modes and linkers.
struct RegisterChoices {
  RegisterChoices(std::string_view flag, std::vector<std::string> (*choices)());
};

class Table {
 public:
  // The defaults.
  Table();

  // Takes over settings. Returns one warning per unknown key. A value that is not allowed is kept, and raises when the
  // flag is first read, so that a bad flag only affects code that needs it.
  std::vector<std::string> apply(const Settings& settings, const std::string& source);

  std::string get(std::string_view name) const;
  void set(std::string_view name, std::string_view value);
  const std::string& type_of(std::string_view name) const { return at(name).flag.type; }
  std::vector<Flag> flags() const;

 private:
  struct Entry {
    Flag flag;
    std::string error;  // why the value is not allowed
  };
  const Entry& at(std::string_view name) const;
  std::string unknown(std::string_view name) const;

  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace bitale::config
