// A chain of rules is one interned text, so that a node's provenance is two words and cheap to copy.
#include "bitale/graph/provenance.hpp"

#include <mutex>
#include <string_view>
#include <unordered_set>

#include "bitale/core/text.hpp"

namespace bitale {

namespace {

constexpr std::string_view link = ", then ";
constexpr std::size_t longest_chain = 8;

std::vector<std::string> names_in(std::string_view chain) {
  std::vector<std::string> out;
  while (true) {
    const std::size_t end = chain.find(link);
    out.emplace_back(chain.substr(0, end));
    if (end == std::string_view::npos) return out;
    chain.remove_prefix(end + link.size());
  }
}

// Never destroyed: nodes in static variables hold bare pointers to the texts.
const char* intern(const std::string& text) {
  static auto& mutex = *new std::mutex;
  static auto& table = *new std::unordered_set<std::string>;
  std::lock_guard lock(mutex);
  return table.insert(text).first->c_str();
}

}  // namespace

std::vector<std::string> rules_of(const Provenance& provenance) {
  return provenance.rule ? names_in(provenance.rule) : std::vector<std::string>();
}

std::string provenance_text(const Provenance& provenance) {
  const std::string where = provenance.where.str();
  const std::string rules = provenance.rule ? provenance.rule : "";
  return cat(rules, rules.empty() || where.empty() ? "" : "; ", where);
}

const char* interned_rule(const std::string& name) { return intern(name); }

const char* chain_rules(const char* earlier, const char* rule) {
  if (!earlier || !rule) return rule ? rule : earlier;
  std::vector<std::string> names = names_in(earlier);
  for (auto& name : names)
    if (name == rule) return earlier;
  if (names.size() == longest_chain) names.erase(names.begin());
  names.emplace_back(rule);
  return intern(join(names, link));
}

}  // namespace bitale
