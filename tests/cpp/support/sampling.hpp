// Which part of a test's cases runs: all of them, or with BITALE_TEST_SAMPLE=3/8 the fourth of eight equal parts. The
// parts are fixed, so that what runs today is known to pass, and eight days run all (tests/sampling.py is the same for
// Python).
#pragma once

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

namespace bitale::test {

struct SamplePart {
  std::int64_t part, parts;
};

inline std::optional<SamplePart> sample_part() {
  const char* text = std::getenv("BITALE_TEST_SAMPLE");
  SamplePart out{0, 1};
  if (!text || std::sscanf(text, "%" SCNd64 "/%" SCNd64, &out.part, &out.parts) != 2 || out.parts < 1 || out.part < 0)
    return std::nullopt;
  return out;
}

// The cases that run, in their order; at least one of those that there are.
template <class T>
std::vector<T> part_of(std::vector<T> cases) {
  const auto sample = sample_part();
  if (!sample || cases.size() <= 1) return cases;
  const auto size = std::int64_t(cases.size());
  std::vector<T> out;
  for (std::int64_t i = sample->part % std::min(sample->parts, size); i < size; i += sample->parts)
    out.push_back(std::move(cases[std::size_t(i)]));
  return out;
}

}  // namespace bitale::test
