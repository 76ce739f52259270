// Declaration of every flag, and the rules for reading values.
#include "core/config_table.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <limits>
#include <optional>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"

namespace bitale::config {

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string first_compiler() {
  std::string path = environment("PATH");
  for (const char* name : {"g++", "c++", "clang++"}) {
    for (std::size_t begin = 0; begin <= path.size();) {
      const std::size_t end = std::min(path.find(':', begin), path.size());
      std::error_code ignored;
      if (end > begin && std::filesystem::exists(path.substr(begin, end - begin) + "/" + name, ignored)) return name;
      begin = end + 1;
    }
  }
  return "";
}

using ListChoices = std::vector<std::string> (*)();
std::map<std::string, ListChoices, std::less<>>& listed_elsewhere() {
  static auto* const table = new std::map<std::string, ListChoices, std::less<>>;  // never destroyed
  return *table;
}

constexpr bool start_only = false;

// name, type, choices, default, meaning, whether it may change at run time
const std::vector<Flag>& declarations() {
  static const std::vector<Flag> flags{
      {"floatX",
       "enum",
       {"float64", "float32", "float16"},
       "float64",
       "Dtype of variables made without one. float16 is stored in 16 bits and computed in float32."},
      {"warn_float64",
       "enum",
       {"ignore", "warn", "raise", "pdb"},
       "ignore",
       "What to do when a variable of dtype float64 is made, for programs that should compute in float32. Constants "
       "and "
       "shared variables do not count."},
      {"cast_policy",
       "enum",
       {"custom", "pytensor", "numpy+floatX"},
       "custom",
       "How Python numbers get a dtype: pytensor takes the smallest integer that holds an int and the smallest float, "
       "up to floatX, that holds a float exactly; custom does the same, but takes int64 where an operation has no "
       "operand "
       "but such integers, since nothing else says how many bits are wanted; numpy+floatX takes int64 and floatX."},

      {"mode", "enum", {}, "FAST_RUN", "How function() compiles when no mode is given."},
      {"linker",
       "enum",
       {},
       "auto",
       "What runs a compiled graph: native code by LLVM (jit; tiered: calls are interpreted until that is "
       "worthwhile and ready) or by the system's C compiler (c), native code for each "
       "node (opwise), each op's perform (vm), or both, compared (dual). auto leaves the choice to the mode."},
      {"allow_gc",
       "bool",
       {},
       "True",
       "Linkers that run node by node let go of a value as soon as no node needs it. Off: memory is kept for the next "
       "call."},
      {"NanGuardMode__nan_is_error", "bool", {}, "True", "Whether NanGuardMode lets no nan pass."},
      {"NanGuardMode__inf_is_error", "bool", {}, "True", "Whether NanGuardMode lets no infinity pass."},
      {"NanGuardMode__big_is_error", "bool", {}, "True", "Whether NanGuardMode lets nothing beyond 1e10 pass."},
      {"NanGuardMode__action",
       "enum",
       {"raise", "warn", "pdb"},
       "raise",
       "What NanGuardMode does with a value that may not pass: raise an error, warn, or start Python's debugger."},
      {"linker_fallback",
       "bool",
       {},
       "False",
       "When a linker lacks what it needs (LLVM), warn and use the next one (vm), instead of raising an error."},
      {"llvm_library",
       "str",
       {},
       "",
       "The LLVM library that generates native code. Default: libbitale_llvm.so in the folder of Bitale's own, or else "
       "the "
       "system's libLLVM of the release with whose headers Bitale was built."},
      {"target",
       "enum",
       {"native", "native-128", "native-256", "native-512", "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64"},
       "native",
       "Instructions that native code may use: all of this processor's, in vectors as wide as is best or of so many "
       "bits; or those of a level of the x86-64 ABI (128, 128, 256 and 512 bits) or of AArch64 (128 bits), so that "
       "different machines share a compiledir."},
      {"optimizer",
       "enum",
       {"o4", "o3", "o2", "o1", "unsafe", "fast_run", "fast_compile", "merge", "None"},
       "o4",
       "Which rewrites the default modes apply."},
      {"optimizer_including", "str", {}, "", "Tags of rewrites to add, separated by colons."},
      {"optimizer_excluding", "str", {}, "", "Tags or names of rewrites to leave out, separated by colons."},
      {"optimizer_requiring", "str", {}, "", "Tags that every applied rewrite must have, separated by colons."},
      {"lowering__excluding",
       "str",
       {},
       "",
       "A pass of the lowering to leave out, to measure what it is worth: any but the last, which plans memory."},
      {"optimizer_verbose", "bool", {}, "False", "Print each rewrite as it is applied."},
      {"optimizer_verbose_ignore",
       "str",
       {},
       "",
       "Rewrites that optimizer_verbose does not print, separated by commas."},
      {"optdb__max_use_ratio", "float", {}, "8.0", "A rewrite applies at most this many times the size of the graph."},
      {"on_opt_error", "enum", {"warn", "raise", "ignore"}, "warn", "What to do when a rewrite fails."},
      {"on_unused_input",
       "enum",
       {"raise", "warn", "ignore"},
       "raise",
       "What function() does with an input that no output depends on."},
      {"random__shared_state",
       "enum",
       {"raise", "warn", "ignore"},
       "raise",
       "What function() does when two different draws begin from one state of a random generator."},

      {"unpickle_function", "bool", {}, "True", "Off: compiled functions in a pickle are read as None."},

      {"DebugMode__check_py", "bool", {}, "True", "DebugMode runs each perform several times and checks its memory."},
      {"DebugMode__check_c", "bool", {}, "True", "DebugMode runs each node's native code as well."},
      {"DebugMode__check_finite", "bool", {}, "True", "DebugMode takes nan and inf for errors."},
      {"DebugMode__check_preallocated_output",
       "str",
       {},
       "",
       "Memory for results that DebugMode tries, separated by colons: initial, previous, c_contiguous, f_contiguous, "
       "strided, wrong_size, ALL."},
      {"DebugMode__check_preallocated_output_ndim",
       "int",
       {},
       "4",
       "Dimensions along which DebugMode varies strides and lengths of memory for results."},
      {"DebugMode__patience",
       "int",
       {},
       "10",
       "How often DebugMode rewrites a graph, to see that it goes the same way."},
      {"DebugMode__warn_input_not_reused",
       "bool",
       {},
       "True",
       "DebugMode warns of ops that declare to overwrite an input and don't."},

      {"base_compiledir", "str", {}, "~/.bitale", "Directory that holds the compile directories.", start_only},
      {"compiledir", "str", {}, "", "Directory of cached native code. Default: base_compiledir/compiledir_<platform>."},
      {"cache",
       "bool",
       {},
       "True",
       "Keep compiled code in compiledir, and use what is there. Off: everything is compiled anew, nothing is "
       "written."},
      {"cache__size",
       "int",
       {},
       "512",
       "MiB of compiled code that are kept; beyond, what was not used for longest is removed."},
      {"cxx",
       "str",
       {},
       "",
       "The C++ compiler of the C linker, where cc names none. Default: the first of g++, c++ and clang++ found in "
       "PATH."},
      {"cc", "str", {}, "", "The C compiler of the C linker. Default: cxx, told to compile C."},
      {"gcc__cxxflags", "str", {}, "", "More flags for the compiler of the C linker, separated by spaces."},
      {"num_threads",
       "int",
       {},
       "1",
       "Threads that one call of a function may use, from 1, where function() is not told. Results don't depend on "
       "it."},
      {"memory__kept",
       "int",
       {},
       "256",
       "MiB of freed arrays, of 64 KiB and more each, that are kept for the next results; what was freed first goes."},
      {"memory__guard",
       "bool",
       {},
       "False",
       "Each array and temporary ends where a page begins that may not be touched, so that code that reads or writes "
       "beyond an end crashes there. For tests: slow, and twice the memory.",
       start_only},
      {"memory__check",
       "bool",
       {},
       "False",
       "Every load and store of code that LLVM generates is tested by AddressSanitizer, whose runtime must be in the "
       "process. For tests.",
       start_only},
      {"blas__library",
       "str",
       {},
       "",
       "The library of matrix products, with the cblas_ interface; none: plain loops. Default: the system's OpenBLAS, "
       "CBLAS or BLAS.",
       start_only},
      {"stream_from",
       "int",
       {},
       "0",
       "Bytes from which on a loop writes its results past the caches. 0: more than the caches hold."},
      {"allow_gc", "bool", {}, "True", "Free intermediate values during a call, not only at its end."},

      {"exception_verbosity",
       "enum",
       {"low", "medium", "high"},
       "low",
       "How much an error of a running function tells."},
      {"traceback__limit",
       "int",
       {},
       "8",
       "How many lines of Python are kept to say where a variable was made: the one that made it, and its callers as "
       "far as they are the user's. -1: all of them; 0: none."},
      {"progress_after",
       "float",
       {},
       "2.0",
       "Seconds after which a compilation shows its stage in a line of the terminal or notebook. inf: never."},
      {"profile", "bool", {}, "False", "Measure what compiling and calls of each function take, and print it at exit."},
      {"profiling__destination", "str", {}, "stderr", "Where profiles are printed at exit: stderr, stdout or a file."},
      {"profiling__n_ops", "int", {}, "20", "Rows of each table of a profile that is printed at exit."},
      {"compute_test_value",
       "enum",
       {"off", "ignore", "warn", "raise", "pdb"},
       "off",
       "Compute each node as it is built, on the variables' tag.test_value; the words say what happens where such a "
       "value "
       "is missing: nothing, a warning, an error, or a breakpoint."},
      {"print_test_value", "bool", {}, "False", "repr() of a variable shows its test value, where it has one."},
  };
  return flags;
}

// The ranges of numeric flags that do not allow all numbers.
struct Range {
  std::string_view flag;
  std::int64_t least, most;
};
constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max(), mebibytes = any >> 20;
constexpr Range ranges[] = {
    {"cache__size", 0, mebibytes},
    {"memory__kept", 0, mebibytes},
    {"num_threads", 1, 1024},
    {"stream_from", 0, any},
    {"progress_after", 0, any},
    {"optdb__max_use_ratio", 0, any},
    {"traceback__limit", -1, any},
    {"DebugMode__patience", 1, any},
    {"DebugMode__check_preallocated_output_ndim", 0, any},
};

std::string platform() {
#if defined(__x86_64__)
  return "linux-x86_64";
#elif defined(__aarch64__)
  return "linux-aarch64";
#else
  return "other";
#endif
}

// The flags that name a compile directory or a file of profiles may start with "~/".
std::string expanded(std::string_view name, std::string value) {
  const bool is_path = name.ends_with("compiledir") || name == "profiling__destination";
  if (is_path && (value == "~" || value.starts_with("~/"))) {
    const std::string home = environment("HOME");
    value = (home.empty() ? "." : home) + value.substr(1);
  }
  return value;
}

std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = char(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool is_one_of(const std::string& text, std::initializer_list<const char*> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

std::string range_text(const Range& range) {
  return range.most == any ? cat(", at least ", range.least) : cat(" from ", range.least, " to ", range.most);
}

template <class T>
std::optional<T> parsed(std::string_view text) {
  T value;
  auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

// Whether the text is a number of that type, in the flag's range.
template <class T>
bool is_allowed(std::string_view text, const Range* range) {
  const auto value = parsed<T>(text);
  if (!value || !range) return value.has_value();
  return *value >= T(range->least) && (range->most == any || *value <= T(range->most));
}

// The value in canonical form. ValueError saying what is allowed.
std::string normalized(const Flag& flag, std::string_view value) {
  auto refuse = [&](std::string_view expected) {
    throw ValueError(
        cat("invalid value \"", value, "\" for the configuration flag ", flag.name, ": expected ", expected));
  };
  if (flag.type == "enum" && std::find(flag.choices.begin(), flag.choices.end(), value) == flag.choices.end()) {
    const std::string near = closest(value, flag.choices);
    refuse(cat("one of ", join(flag.choices, ", "), near.empty() ? "" : cat("; did you mean \"", near, "\"?")));
  }
  const Range* range =
      std::find_if(std::begin(ranges), std::end(ranges), [&](auto& each) { return each.flag == flag.name; });
  if (range == std::end(ranges)) range = nullptr;
  const std::string bounds = range ? range_text(*range) : "";
  if (flag.type == "int" && !is_allowed<std::int64_t>(value, range)) refuse(cat("an integer", bounds));
  if (flag.type == "float" && !is_allowed<double>(value, range)) refuse(cat("a number", bounds));
  if (flag.type == "bool") {
    const std::string word = lowered(value);
    if (is_one_of(word, {"true", "1", "yes", "on"})) return "True";
    if (is_one_of(word, {"false", "0", "no", "off"})) return "False";
    refuse("True or False");
  }
  return expanded(flag.name, std::string(value));
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

std::string_view unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

// "key = value". A key alone gets an empty value, which only "str" flags accept.
void add_setting(Settings& out, std::string_view text, std::string_view section = {}) {
  const std::size_t equals = text.find('=');
  const std::string_view key = trimmed(text.substr(0, equals));
  const std::string_view value = equals == text.npos ? std::string_view() : unquoted(trimmed(text.substr(equals + 1)));
  if (key.empty() && value.empty()) return;
  out.emplace_back(section.empty() ? std::string(key) : cat(section, "__", key), std::string(value));
}

}  // namespace

Settings parse_flags_text(std::string_view text) {
  Settings out;
  std::size_t begin = 0;
  char quote = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (i < text.size() && quote) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == ',') {
      add_setting(out, text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  return out;
}

Settings parse_ini(std::string_view text) {
  Settings out;
  std::string section;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[' && line.back() == ']') {
      section = trimmed(line.substr(1, line.size() - 2));
      if (section == "global") section.clear();
    } else {
      add_setting(out, line, section);
    }
  }
  return out;
}

RegisterChoices::RegisterChoices(std::string_view flag, std::vector<std::string> (*choices)()) {
  listed_elsewhere().emplace(flag, choices);
}

Table::Table() {
  for (Flag flag : declarations()) {
    if (const auto list = listed_elsewhere().find(flag.name); list != listed_elsewhere().end())
      flag.choices = list->second();
    if (flag.name == "cxx") flag.default_value = first_compiler();
    flag.default_value = expanded(flag.name, flag.default_value);
    flag.value = flag.default_value;
    flag.source = "default";
    entries_.emplace(flag.name, Entry{flag, {}});
  }
}

std::vector<std::string> Table::apply(const Settings& settings, const std::string& source) {
  std::vector<std::string> warnings;
  for (auto& [key, value] : settings) {
    auto found = entries_.find(key);
    if (found == entries_.end()) {
      warnings.push_back(cat(source, ": ", unknown(key)));
      continue;
    }
    Entry& entry = found->second;
    entry.flag.source = source;
    entry.flag.value = value;
    entry.error.clear();
    try {
      entry.flag.value = normalized(entry.flag, value);
    } catch (const ValueError& error) {
      entry.error = cat(error.what(), " (from ", source, ")");
    }
  }
  return warnings;
}

std::string Table::unknown(std::string_view name) const {
  std::vector<std::string> names;
  for (auto& [known, entry] : entries_) names.push_back(known);
  const std::string near = closest(name, names);
  return cat("unknown configuration flag \"", name, "\"", near.empty() ? "" : cat("; did you mean \"", near, "\"?"));
}

const Table::Entry& Table::at(std::string_view name) const {
  auto found = entries_.find(name);
  if (found == entries_.end()) throw KeyError(unknown(name));
  return found->second;
}

std::string Table::get(std::string_view name) const {
  const Entry& entry = at(name);
  if (!entry.error.empty()) throw ValueError(entry.error);
  // Depends on another flag, so it is computed on request.
  if (name == "compiledir" && entry.flag.value.empty()) return get("base_compiledir") + "/compiledir_" + platform();
  return entry.flag.value;
}

void Table::set(std::string_view name, std::string_view value) {
  auto& entry = const_cast<Entry&>(at(name));
  if (!entry.flag.is_mutable)
    throw TypeError(
        cat("the configuration flag ", name, " can't change while the process runs; set it in BITALE_FLAGS"));
  entry.flag.value = normalized(entry.flag, value);
  entry.flag.source = "set";
  entry.error.clear();
}

std::vector<Flag> Table::flags() const {
  std::vector<Flag> out;
  for (auto& [name, entry] : entries_) {
    out.push_back(entry.flag);
    if (entry.error.empty()) out.back().value = get(name);
  }
  return out;
}

}  // namespace bitale::config
