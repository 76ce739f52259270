#include "codegen/vector_width.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "bitale/core/config.hpp"
#include "cache/store.hpp"
#include "codegen/processor.hpp"

namespace bitale::codegen {

namespace {

// Entries are stored like those of compiled code: they are complete or absent, and checked.
cache::Store records(const std::string& compiledir) { return {compiledir + "/machines", std::int64_t(1) << 20}; }

const Digest& machine_key() {
  static const Digest key = [] {
    Digester digester;
    digester.add("width of vectors, 1");
    for (const std::int64_t word : processor_words()) digester.add(word);
    return digester.digest();
  }();
  return key;
}

// None when there is no record, or when this processor does not have the recorded width.
std::optional<int> recorded(const std::string& compiledir) {
  const std::optional<std::string> text = records(compiledir).load(machine_key());
  for (const int bytes : vector_widths())
    if (text && *text == std::to_string(bytes)) return bytes;
  return {};
}

struct Answers {
  std::mutex mutex;
  std::map<std::string, int> by_directory;
};
Answers& answers() {
  static Answers& it = *new Answers;
  return it;
}

}  // namespace

// Only AVX-512 leaves a choice of widths: some processors run slower while they use the widest vectors.
const std::vector<int>& vector_widths() {
  static const std::vector<int> widths = has_avx_512() ? std::vector<int>{64, 32} : std::vector<int>{widest_vector()};
  return widths;
}

int native_vector_bytes() {
  if (vector_widths().size() == 1) return vector_widths()[0];
  const std::string compiledir = config::get("compiledir");
  Answers& known = answers();
  const std::lock_guard lock(known.mutex);
  const auto found = known.by_directory.find(compiledir);
  if (found != known.by_directory.end()) return found->second;
  return known.by_directory[compiledir] = recorded(compiledir).value_or(vector_widths()[0]);
}

bool is_vector_width_recorded() { return recorded(config::get("compiledir")).has_value(); }

bool record_vector_width(int bytes, bool here) {
  const std::string compiledir = config::get("compiledir");
  records(compiledir).save(machine_key(), std::to_string(bytes));
  if (here) {
    Answers& known = answers();
    const std::lock_guard lock(known.mutex);
    known.by_directory[compiledir] = bytes;
  }
  return recorded(compiledir) == bytes;
}

}  // namespace bitale::codegen
