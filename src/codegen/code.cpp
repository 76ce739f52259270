#include "codegen/code.hpp"

#include <dlfcn.h>

#include <chrono>
#include <map>
#include <mutex>
#include <optional>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/runtime/functions.hpp"
#include "cache/claim.hpp"
#include "codegen/background.hpp"
#include "codegen/key.hpp"

namespace bitale::codegen {

namespace {

using Shared = std::shared_ptr<const Object>;

// The objects that functions of this process hold, by key.
class Loaded {
 public:
  Shared find(const Digest& key) {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(key);
    return found == objects_.end() ? nullptr : found->second.lock();
  }
  void insert(const Digest& key, const Shared& object) {
    const std::lock_guard lock(mutex_);
    if (objects_.size() >= sweep_at_) {
      std::erase_if(objects_, [](auto& each) { return each.second.expired(); });
      sweep_at_ = 2 * objects_.size() + 64;
    }
    objects_[key] = object;
  }

 private:
  std::mutex mutex_;
  std::map<Digest, std::weak_ptr<const Object>> objects_;
  std::size_t sweep_at_ = 64;
};

Loaded& loaded() {
  static Loaded& it = *new Loaded;
  return it;
}

Shared link(std::string_view file) {
  const auto resolve = [](const std::string& name) {
    // A code generator may itself insert calls of the C library (memset, fmod).
    void* address = runtime::find_symbol(name);
    return address ? address : dlsym(RTLD_DEFAULT, name.c_str());
  };
  return Object::load(file, resolve, entry_name);
}

// Null when the store has no entry, or none that can be loaded.
Shared load(const cache::Store& store, const Digest& key) {
  const auto file = store.load(key);
  if (!file) return nullptr;
  try {
    return link(*file);
  } catch (const ValueError&) {
    return nullptr;
  }
}

struct Generated {
  Shared object;
  std::string file;
  double milliseconds = 0;  // in the generator
};

Shared link_generated(const std::string& file) {
  try {
    return link(file);
  } catch (const ValueError& error) {
    throw InternalError(cat("the code generated for a program can't be loaded: ", error.what()));
  }
}

using Clock = std::chrono::steady_clock;
double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

Generated generate(const Generator& generator, const program::Program& program, const Target& target) {
  Generated out;
  const auto start = Clock::now();
  out.file = generator.generate(program, target);
  out.milliseconds = milliseconds_since(start);
  out.object = link_generated(out.file);
  return out;
}

// Where the code of a Program is stored.
struct CacheEntry {
  cache::Store store;
  Digest key;

  void save(const Generated& made) const {
    store.save(key, made.file);
    loaded().insert(key, made.object);
  }
};

// Code of the first tier, which the second one replaces some time later, unless no function is left that uses it. The
// second one is made once for all functions of the same Program, where it is kept.
std::unique_ptr<MachineCode> in_tiers(const Generator& generator, const program::Program& program, const Target& target,
                                      const std::optional<CacheEntry>& entry) {
  const auto start = Clock::now();
  Tiers tiers = generator.generate_in_tiers(program, target);
  Generated first{link_generated(tiers.quick), std::move(tiers.quick), milliseconds_since(start)};
  auto code = std::make_unique<MachineCode>(first.object, Origin::generated, first.milliseconds);
  if (!tiers.full) {
    if (entry) entry->save(first);
    return code;
  }
  run_later([full = std::move(tiers.full), used = std::weak_ptr(code->tier()), entry] {
    if (used.expired()) return;
    Generated made;
    if (entry) made.object = loaded().find(entry->key);
    if (!made.object) {
      made.file = full();
      made.object = link_generated(made.file);
      if (entry) entry->save(made);
    }
    if (const auto tier = used.lock()) tier->replace(made.object);
  });
  return code;
}

}  // namespace

std::unique_ptr<MachineCode> compile(const program::Program& program, const Target& target, const Generator& generator,
                                     bool cached) {
  if (!cached || !config::get_bool("cache")) {
    if (generator.generate_in_tiers) return in_tiers(generator, program, target, {});
    const Generated made = generate(generator, program, target);
    return std::make_unique<MachineCode>(made.object, Origin::generated, made.milliseconds);
  }

  const Digest key = key_of(program, target, generator.identity());
  if (auto object = loaded().find(key)) return std::make_unique<MachineCode>(std::move(object), Origin::memory);
  const cache::Store store(config::get("compiledir") + "/objects", config::get_int("cache__size") << 20);
  Origin origin = Origin::store;
  double generating = 0;
  Shared object = load(store, key);
  if (!object && generator.generate_in_tiers) return in_tiers(generator, program, target, CacheEntry{store, key});
  if (!object) {
    const cache::Claim claim(store, key);
    object = load(store, key);  // another process may have been quicker
    if (!object) {
      const Generated made = generate(generator, program, target);
      object = made.object;
      origin = Origin::generated;
      generating = made.milliseconds;
      store.save(key, made.file);
    }
  }
  loaded().insert(key, object);
  return std::make_unique<MachineCode>(std::move(object), origin, generating);
}

std::string_view name_of(Origin origin) {
  constexpr std::string_view names[] = {"generated", "store", "memory"};
  return names[std::size_t(origin)];
}

}  // namespace bitale::codegen
