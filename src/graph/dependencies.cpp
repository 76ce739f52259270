#include "graph/dependencies.hpp"

#include <algorithm>
#include <functional>
#include <string>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"

namespace bitale {

namespace {

// Of all sets together: a gigabyte.
constexpr std::size_t most_elements = std::size_t(1) << 27;

// FNV-1a over words.
std::uint64_t hash_of(std::span<const std::int64_t> elements) {
  std::uint64_t out = 14695981039346656037u;
  for (const std::int64_t each : elements) out = (out ^ std::uint64_t(each)) * 1099511628211u;
  return out;
}

std::map<std::string, Dependencies, std::less<>>& registered() {
  static auto* const table = new std::map<std::string, Dependencies, std::less<>>;  // never destroyed
  return *table;
}

}  // namespace

RegisterDependencies::RegisterDependencies(std::string_view op, Dependencies declared) {
  registered().emplace(op, declared);
}

Dependencies declared_dependencies(const Op& op) {
  const auto found = registered().find(op.name());
  return found == registered().end() ? nullptr : found->second;
}

ElementSets::ElementSets() : bounds_{0, 0} { by_hash_.emplace(hash_of({}), none); }

std::span<const std::int64_t> ElementSets::elements(Set set) const {
  const std::int64_t begin = bounds_[std::size_t(set)], end = bounds_[std::size_t(set) + 1];
  return std::span(elements_).subspan(std::size_t(begin), std::size_t(end - begin));
}

ElementSets::Set ElementSets::stored(std::span<const std::int64_t> given) {
  const std::uint64_t hash = hash_of(given);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto it = first; it != last; ++it)
    if (std::ranges::equal(elements(it->second), given)) return it->second;
  if (elements_.size() + given.size() > most_elements)
    throw ValueError(cat("sparsity: the derivative's elements depend on too many elements of the variable (more than ",
                         most_elements,
                         " in different sets) for a pattern to be found; a dense one takes no sparsity"));
  const auto out = Set(bounds_.size()) - 1;
  elements_.insert(elements_.end(), given.begin(), given.end());
  bounds_.push_back(std::int64_t(elements_.size()));
  by_hash_.emplace(hash, out);
  return out;
}

ElementSets::Set ElementSets::united(Set a, Set b) {
  if (a == b || b == none) return a;
  if (a == none) return b;
  const std::pair<Set, Set> both = std::minmax(a, b);
  if (const auto found = unions_.find(both); found != unions_.end()) return found->second;
  std::vector<std::int64_t> all;
  std::ranges::set_union(elements(a), elements(b), std::back_inserter(all));
  return unions_[both] = stored(all);
}

ElementSets::Set ElementSets::united(std::span<const Set> sets) {
  std::vector<Set> different(sets.begin(), sets.end());
  std::ranges::sort(different);
  different.erase(std::unique(different.begin(), different.end()), different.end());
  if (!different.empty() && different.front() == none) different.erase(different.begin());
  if (different.empty()) return none;
  if (different.size() <= 2) return united(different.front(), different.back());
  std::vector<std::int64_t> all;
  for (const Set each : different) all.insert(all.end(), elements(each).begin(), elements(each).end());
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return stored(all);
}

}  // namespace bitale
