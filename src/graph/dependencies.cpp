#include "graph/dependencies.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "core/digest.hpp"

namespace bitale {

namespace {

// Of all sets together: a gigabyte.
constexpr std::size_t max_elements = std::size_t(1) << 27;

std::uint64_t hash_of_elements(std::span<const std::int64_t> elements) {
  const Digest digest = digest_of({reinterpret_cast<const char*>(elements.data()), elements.size_bytes()});
  std::uint64_t out = 0;
  std::memcpy(&out, digest.data(), sizeof out);
  return out;
}

}  // namespace

std::span<const std::int64_t> ElementSets::elements(Set set) const {
  const std::int64_t begin = bounds_[std::size_t(set)], end = bounds_[std::size_t(set) + 1];
  return std::span(elements_).subspan(std::size_t(begin), std::size_t(end - begin));
}

ElementSets::Set ElementSets::stored(std::span<const std::int64_t> given) {
  const std::uint64_t hash = hash_of_elements(given);
  const auto has_these = [&](const Stored& each) {
    return each.hash_of_elements == hash && std::ranges::equal(elements(each.set), given);
  };
  if (const Stored* found = by_elements_.find(std::size_t(hash), has_these)) return found->set;
  if (elements_.size() + given.size() > max_elements)
    throw ValueError(cat("sparsity: the derivative's elements depend on too many elements of the variable (more than ",
                         max_elements, " in different sets) for a pattern to be found; a dense one takes no sparsity"));
  const auto out = Set(bounds_.size()) - 1;
  elements_.insert(elements_.end(), given.begin(), given.end());
  bounds_.push_back(std::int64_t(elements_.size()));
  by_elements_.insert({hash, out}, [](const Stored&) { return false; });
  return out;
}

ElementSets::Set ElementSets::united(Set a, Set b) {
  if (a == b || b == none) return a;
  if (a == none) return b;
  if (a > b) std::swap(a, b);
  const auto is_this = [&](const Union& each) { return each.a == a && each.b == b; };
  if (const Union* found = unions_.find(hash_of(a, b), is_this)) return found->both;
  scratch_.clear();
  std::ranges::set_union(elements(a), elements(b), std::back_inserter(scratch_));
  const Set both = stored(scratch_);
  unions_.insert({a, b, both}, is_this);
  return both;
}

ElementSets::Set ElementSets::united(std::span<const Set> sets) {
  std::vector<Set> different(sets.begin(), sets.end());
  std::ranges::sort(different);
  different.erase(std::unique(different.begin(), different.end()), different.end());
  if (!different.empty() && different.front() == none) different.erase(different.begin());
  if (different.empty()) return none;
  if (different.size() <= 2) return united(different.front(), different.back());
  scratch_.clear();
  for (const Set each : different) scratch_.insert(scratch_.end(), elements(each).begin(), elements(each).end());
  std::ranges::sort(scratch_);
  scratch_.erase(std::unique(scratch_.begin(), scratch_.end()), scratch_.end());
  return stored(scratch_);
}

}  // namespace bitale
