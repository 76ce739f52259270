// The op registry, filled as op files are loaded.
#include "ops/registry.hpp"

#include <algorithm>
#include <mutex>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"

namespace bitale {

namespace {

struct Registry {
  std::mutex mutex;
  std::vector<OpEntry> entries;
};

Registry& registry() {
  static Registry* const it = new Registry;
  return *it;
}

}  // namespace

RegisterOp::RegisterOp(std::string name, std::string doc, std::vector<Sample> (*samples)(),
                       OpRef (*make)(const Attributes&)) {
  const std::lock_guard lock(registry().mutex);
  auto& entries = registry().entries;
  const auto by_name = [](const OpEntry& entry, const std::string& key) { return entry.name < key; };
  const auto found = std::lower_bound(entries.begin(), entries.end(), name, by_name);
  if (found != entries.end() && found->name == name) throw InternalError(cat("two ops are called ", name));
  entries.insert(found, OpEntry{std::move(name), std::move(doc), samples, make});
}

const std::vector<OpEntry>& op_registry() { return registry().entries; }

OpRef op_from(std::string_view name, const Attributes& attributes) {
  for (auto& entry : op_registry())
    if (entry.name == name) {
      try {
        return entry.make(attributes);
      } catch (Error& error) {
        error.add("op", std::string(name));
        throw;
      }
    }
  throw KeyError(cat("there is no op called ", name));
}

}  // namespace bitale
