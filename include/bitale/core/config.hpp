// Configuration flags. Each is declared once (src/core/config.cpp) with its default and meaning; names are PyTensor's
// where it has them. Sources, strongest first: a run-time change, BITALE_FLAGS ("floatX=float32,mode=FAST_COMPILE"),
// the files of BITALERC (default ~/.bitalerc, INI, section [global]), the default. Thread-safe.
#pragma once

#include "bitale/core/language.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bitale/core/dtype.hpp"

namespace bitale::config {

struct Flag {
  std::string name;
  std::string type;                  // "enum", "str", "int", "float", "bool"
  std::vector<std::string> choices;  // of an enum
  std::string default_value;
  std::string doc;
  bool is_mutable = true;  // may change at run time
  std::string value = {};
  std::string source = {};  // "default", "BITALE_FLAGS", the file's name, "set"
};

// All flags with their present values, in order of name.
std::vector<Flag> flags();
// KeyError with a suggestion for an unknown flag, ValueError when BITALE_FLAGS or a file gave a value that is not
// allowed.
std::string get(std::string_view name);
bool get_bool(std::string_view name);
std::int64_t get_int(std::string_view name);
double get_float(std::string_view name);
// KeyError for an unknown flag, ValueError for a value that is not allowed, TypeError for an immutable flag.
void set(std::string_view name, std::string_view value);
// Text of all flags with documentation, as `print(config)` shows it.
std::string describe();

// The number of changes of flags so far. Frequent readers of a flag cache its value until this number changes.
std::uint64_t change_count();

DType float_x();

// The flag compute_test_value, which is read for every new node.
enum class TestValues : int { off, ignore, warn, raise, pdb };
TestValues test_values();

// Changes a flag for the lifetime of the object.
class Change {
 public:
  Change(std::string_view name, std::string_view value);
  ~Change();
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;

 private:
  std::string name_, before_;
};

}  // namespace bitale::config
