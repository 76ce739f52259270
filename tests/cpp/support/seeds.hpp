// The seeds of a generator of random cases: the default number of the test, or what the environment sets:
// BITALE_TEST_GRAPHS, a number of cases; BITALE_TEST_SECONDS, a time; BITALE_TEST_SEED, the first seed; or
// BITALE_TEST_SAMPLE, a part of the test's own cases (support/sampling.hpp).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>

#include "support/sampling.hpp"

namespace bitale::test {

inline std::optional<std::int64_t> number_from(const char* variable) {
  const char* text = std::getenv(variable);
  return text ? std::optional<std::int64_t>(std::atoll(text)) : std::nullopt;
}

class Seeds {
 public:
  explicit Seeds(std::int64_t default_count)
      : count_(number_from("BITALE_TEST_GRAPHS").value_or(default_count)),
        first_(number_from("BITALE_TEST_SEED").value_or(1)) {
    if (const auto sample = sample_part()) {
      const std::int64_t part = sample->part % sample->parts;
      first_ = 1 + part * default_count / sample->parts;
      count_ = std::max<std::int64_t>(1, 1 + (part + 1) * default_count / sample->parts - first_);
    }
    if (const auto seconds = number_from("BITALE_TEST_SECONDS"))
      until_ = std::chrono::steady_clock::now() + std::chrono::seconds(*seconds);
  }

  struct End {};
  class Iterator {
   public:
    explicit Iterator(const Seeds& seeds) : seeds_(&seeds), seed_(seeds.first_) {}
    std::int64_t operator*() const { return seed_; }
    Iterator& operator++() {
      ++seed_;
      return *this;
    }
    bool operator!=(End) const {
      const std::int64_t done = seed_ - seeds_->first_;
      const bool more = seeds_->until_ ? std::chrono::steady_clock::now() < *seeds_->until_ : done < seeds_->count_;
      if (!more && is_fuzzing()) std::cerr << done << " cases from seed " << seeds_->first_ << "\n";
      return more;
    }

   private:
    const Seeds* seeds_;
    std::int64_t seed_;
  };
  Iterator begin() const { return Iterator(*this); }
  End end() const { return {}; }

  // Whether the environment sets which cases are drawn.
  static bool is_fuzzing() {
    return std::getenv("BITALE_TEST_GRAPHS") || std::getenv("BITALE_TEST_SECONDS") || sample_part();
  }

 private:
  std::int64_t count_, first_;
  std::optional<std::chrono::steady_clock::time_point> until_;
};

}  // namespace bitale::test
