// The op registry, filled as op files are loaded.
#include "bitale/ops/registry.hpp"

#include <algorithm>
#include <mutex>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "core/keep_loaded.hpp"

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

std::vector<OpEntry>::const_iterator position_of(const std::vector<OpEntry>& entries, std::string_view name) {
  return std::ranges::lower_bound(entries, name, {}, [](auto& entry) { return std::string_view(entry.name); });
}

}  // namespace

RegisterOp::RegisterOp(std::string name, std::string doc, std::vector<Sample> (*samples)(),
                       OpRef (*make)(const Attributes&)) {
  keep_loaded(reinterpret_cast<const void*>(make));
  const std::lock_guard lock(registry().mutex);
  auto& entries = registry().entries;
  const auto found = position_of(entries, name);
  if (found != entries.end() && found->name == name) throw InternalError(cat("two ops are called ", name));
  entries.insert(found, OpEntry{std::move(name), std::move(doc), samples, make});
}

std::vector<OpEntry> op_registry() {
  const std::lock_guard lock(registry().mutex);
  return registry().entries;
}

OpRef op_from(std::string_view name, const Attributes& attributes) {
  OpRef (*make)(const Attributes&) = nullptr;
  {
    const std::lock_guard lock(registry().mutex);
    auto& entries = registry().entries;
    const auto found = position_of(entries, name);
    if (found != entries.end() && found->name == name) make = found->make;
  }
  if (!make) throw KeyError(cat("there is no op called ", name));
  try {
    return make(attributes);
  } catch (Error& error) {
    error.add("op", std::string(name));
    throw;
  }
}

}  // namespace bitale
