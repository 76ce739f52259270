// The process's configuration: one locked table, filled from the configuration files and BITALE_FLAGS when first used.
#include "bitale/core/config.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <sstream>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "core/config_table.hpp"

namespace bitale::config {

namespace {

void warn(const std::vector<std::string>& warnings) {
  for (auto& warning : warnings) std::fprintf(stderr, "bitale: warning: %s\n", warning.c_str());
}

void apply_file(Table& table, const std::string& path) {
  std::ifstream file(path);
  if (!file) return;
  std::ostringstream text;
  text << file.rdbuf();
  warn(table.apply(parse_ini(text.str()), path));
}

// BITALERC is a list of files of which later ones win; without it, ~/.bitalerc.
void apply_files(Table& table) {
  const char* list = std::getenv("BITALERC");
  const char* home = std::getenv("HOME");
  if (!list) {
    if (home) apply_file(table, std::string(home) + "/.bitalerc");
    return;
  }
  std::istringstream paths{std::string(list)};
  for (std::string path; std::getline(paths, path, ':');) {
    if (home && path.starts_with("~/")) path = home + path.substr(1);
    if (!path.empty()) apply_file(table, path);
  }
}

struct Shared {
  Shared() {
    apply_files(table);
    if (const char* flags = std::getenv("BITALE_FLAGS")) warn(table.apply(parse_flags_text(flags), "BITALE_FLAGS"));
  }
  std::mutex mutex;
  Table table;
};

// Never destroyed: flags may be read while static variables are destroyed.
Shared& shared() {
  static auto& state = *new Shared;
  return state;
}

}  // namespace

std::vector<Flag> flags() {
  std::lock_guard lock(shared().mutex);
  return shared().table.flags();
}

std::string get(std::string_view name) {
  std::lock_guard lock(shared().mutex);
  return shared().table.get(name);
}

namespace {

std::string get_typed(std::string_view name, std::string_view type) {
  std::lock_guard lock(shared().mutex);
  const std::string& actual = shared().table.type_of(name);
  if (actual != type) throw TypeError(cat("the configuration flag ", name, " is of type ", actual, ", not ", type));
  return shared().table.get(name);
}

template <class T>
T number(const std::string& text) {
  T value{};
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::atomic<std::uint64_t> changes{0};
std::atomic<int> known_test_values{-1};  // negative: not read yet

}  // namespace

bool get_bool(std::string_view name) { return get_typed(name, "bool") == "True"; }
std::int64_t get_int(std::string_view name) { return number<std::int64_t>(get_typed(name, "int")); }
double get_float(std::string_view name) { return number<double>(get_typed(name, "float")); }

void set(std::string_view name, std::string_view value) {
  std::lock_guard lock(shared().mutex);
  shared().table.set(name, value);
  if (name == "compute_test_value") known_test_values = -1;
  ++changes;
}

std::uint64_t change_count() { return changes.load(std::memory_order_acquire); }

TestValues test_values() {
  if (const int known = known_test_values.load(std::memory_order_relaxed); known >= 0) return TestValues(known);
  static constexpr std::string_view words[] = {"off", "ignore", "warn", "raise", "pdb"};
  std::lock_guard lock(shared().mutex);  // so that a value that has just been changed is not cached
  const std::string word = shared().table.get("compute_test_value");
  const int found = int(std::find(std::begin(words), std::end(words), word) - std::begin(words));
  known_test_values = found;
  return TestValues(found);
}

std::string describe() {
  std::string out;
  for (auto& flag : flags()) {
    const std::string kind = flag.type == "enum" ? cat("{", join(flag.choices, ", "), "}") : flag.type;
    out += cat(flag.name, " (", kind, ")\n    Doc:    ", flag.doc, "\n    Value:  ", flag.value);
    if (flag.source != "default") out += cat("  (from ", flag.source, ", default ", flag.default_value, ")");
    out += "\n\n";
  }
  return out;
}

DType float_x() { return parse_dtype(get("floatX")); }

Change::Change(std::string_view name, std::string_view value) : name_(name), before_(get(name)) { set(name, value); }

Change::~Change() {
  try {
    set(name_, before_);
  } catch (const Error&) {
    // Unreachable: the value was allowed when it was read. A destructor must not throw.
  }
}

}  // namespace bitale::config
