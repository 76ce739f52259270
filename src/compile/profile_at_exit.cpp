#include "compile/profile_at_exit.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "bitale/compile/profile.hpp"
#include "bitale/core/config.hpp"

namespace bitale {

namespace {

struct Entries {
  std::mutex mutex;
  std::vector<ProfileEntry*> live;
  std::vector<std::string> gone;  // texts of destroyed entries
};

// Outlives any static object that may hold a function.
Entries& entries() {
  static Entries* const it = [] {
    std::atexit([] {
      try {
        print_profiles();
      } catch (...) {  // the error can't be reported any more
      }
    });
    return new Entries;
  }();
  return *it;
}

void write(const std::string& text) {
  const std::string to = config::get("profiling__destination");
  if (to != "stdout" && to != "stderr") {
    if (std::FILE* file = std::fopen(to.c_str(), "a")) {
      std::fputs(text.c_str(), file);
      std::fclose(file);
      return;
    }
    std::fprintf(stderr, "bitale: warning: profiling__destination: can't write to %s\n", to.c_str());
  }
  std::fputs(text.c_str(), to == "stdout" ? stdout : stderr);
}

}  // namespace

ProfileEntry::ProfileEntry(std::function<std::string()> text) : text_(std::move(text)) {
  Entries& all = entries();
  const std::lock_guard lock(all.mutex);
  all.live.push_back(this);
}

ProfileEntry::~ProfileEntry() {
  Entries& all = entries();
  const std::lock_guard lock(all.mutex);
  if (std::erase(all.live, this) == 0) return;  // printed already
  try {
    if (std::string text = text_(); !text.empty()) all.gone.push_back(std::move(text));
  } catch (...) {  // a destructor must not throw for a profile
  }
}

void print_profiles() {
  Entries& all = entries();
  std::string text;
  {
    const std::lock_guard lock(all.mutex);
    for (auto& each : all.gone) text += each;
    for (auto* entry : all.live) text += entry->text_();
    all.gone.clear();
    all.live.clear();
  }
  if (!text.empty()) write(text);
}

}  // namespace bitale
