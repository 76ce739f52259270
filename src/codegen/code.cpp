#include "codegen/code.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/interruption.hpp"
#include "bitale/core/text.hpp"
#include "bitale/runtime/functions.hpp"
#include "cache/claim.hpp"
#include "codegen/background.hpp"
#include "codegen/interpreted/plan.hpp"
#include "codegen/key.hpp"
#include "codegen/schedule.hpp"

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

}  // namespace

// A Program that is interpreted, and what makes its code. Code that is used once or twice is never made: it begins to
// be when the interpreter has taken as long as making it is expected to take.
class Interpreted {
 public:
  using Make = std::function<std::shared_ptr<const Object>()>;
  // Without `make` there will be no code.
  Interpreted(std::unique_ptr<const interpreted::Plan> plan, Make make)
      : plan_(std::move(plan)), make_(std::move(make)) {
    expected_ = milliseconds_of_a_module + milliseconds_of_an_operation * double(plan_->operation_count());
  }
  void set_tier(std::weak_ptr<MachineCode::Tier> tier) { tier_ = std::move(tier); }

  // A call that takes long is abandoned when there is code, which then runs it from its beginning.
  std::int32_t run(runtime::Frame* frame) const {
    struct Watch final : interpreted::Plan::Watch {
      explicit Watch(const Interpreted& of) : of(of) {}
      bool stops() override {
        of.note(milliseconds_since(std::exchange(start, Clock::now())));
        const auto tier = of.tier_.lock();
        return tier && tier->entry();
      }
      const Interpreted& of;
      Clock::time_point start = Clock::now();
    } watch(*this);
    const std::int32_t status = plan_->run(frame, watch);
    if (status == interpreted::Plan::abandoned) return tier_.lock()->entry()(frame);
    note(milliseconds_since(watch.start));
    return status;
  }

 private:
  // LLVM took 1.45 times as long for the gradients of posteriordb's 108 models (median, 30 November 2026).
  static constexpr double milliseconds_of_a_module = 10, milliseconds_of_an_operation = 0.01;

  void note(double milliseconds) const {
    const double spent = spent_.load(std::memory_order_relaxed) + milliseconds;
    spent_.store(spent, std::memory_order_relaxed);
    if (spent >= expected_ && make_) begin();
  }
  // In a child process, where no thread of its parent goes on, it begins again.
  void begin() const {
    const pid_t process = getpid();
    if (begun_in_.exchange(process) == process) return;
    run_later([tier = tier_, make = make_] {
      if (tier.expired()) return;
      const NoInterruption here;
      const auto object = make();
      if (const auto used = tier.lock()) used->replace(object);
    });
  }

  const std::unique_ptr<const interpreted::Plan> plan_;
  const Make make_;
  std::weak_ptr<MachineCode::Tier> tier_;
  double expected_ = 0;  // milliseconds
  mutable std::atomic<double> spent_{0};
  mutable std::atomic<pid_t> begun_in_{0};
};

MachineCode::Tier::Tier(std::shared_ptr<const Object> object) { replace(std::move(object)); }
MachineCode::Tier::Tier(std::unique_ptr<const Interpreted> first) : first_(std::move(first)) {}
MachineCode::Tier::~Tier() = default;

void MachineCode::Tier::replace(std::shared_ptr<const Object> object) {
  object_ = std::move(object);
  entry_.store(reinterpret_cast<runtime::Entry>(object_->entry()), std::memory_order_release);
}

std::int32_t MachineCode::Tier::interpret(runtime::Frame* frame) const { return first_->run(frame); }

namespace {

std::unique_ptr<MachineCode> interpreted_by(std::unique_ptr<const interpreted::Plan> plan, Interpreted::Make make) {
  auto first = std::make_unique<Interpreted>(std::move(plan), std::move(make));
  Interpreted& it = *first;
  const auto tier = std::make_shared<MachineCode::Tier>(std::move(first));
  it.set_tier(tier);
  return std::make_unique<MachineCode>(tier);
}

// Until there is code. Null where the Program can't be interpreted, or where code is better made at once.
std::unique_ptr<MachineCode> interpret_first(const Generator& generator, const program::Program& program,
                                             const Target& target, std::optional<CacheEntry> entry) {
  if (target.checks_memory) return nullptr;
  end_background_work_at_exit();
  const auto own = std::make_shared<const program::Program>(scheduled(program, target.vector_bytes));
  auto plan = interpreted::Plan::make(*own);
  if (!plan || plan->is_better_compiled()) return nullptr;
  // Code is made once for all functions of the same Program, where it is kept.
  return interpreted_by(std::move(plan), [own, target, &generator, entry = std::move(entry)] {
    if (entry)
      if (Shared object = loaded().find(entry->key)) return object;
    const Generated made = generate(generator, *own, target);
    if (entry) entry->save(made);
    return made.object;
  });
}

std::unique_ptr<MachineCode> interpret_always(const program::Program& program, const Target& target) {
  constexpr std::string_view advice =
      "this library was built without LLVM (BITALE_LLVM=OFF); the linkers c, which needs a "
      "C compiler, and vm, which is slower, run such functions";
  if (target.checks_memory) throw MissingGenerator(cat("only generated code checks its memory: ", advice));
  auto plan = interpreted::Plan::make(scheduled(program, target.vector_bytes));
  if (!plan) throw MissingGenerator(cat("the function has a form that can't be interpreted: ", advice));
  return interpreted_by(std::move(plan), {});
}

}  // namespace

std::unique_ptr<MachineCode> compile(const program::Program& program, const Target& target, const Generator& generator,
                                     bool cached) {
  if (!generator.generate) return interpret_always(program, target);
  if (!cached || !config::get_bool("cache")) {
    if (generator.interprets_first)
      if (auto code = interpret_first(generator, program, target, {})) return code;
    const Generated made = generate(generator, program, target);
    return std::make_unique<MachineCode>(made.object, Origin::generated, made.milliseconds);
  }

  const Digest key = key_of(program, target, generator.identity());
  if (auto object = loaded().find(key)) return std::make_unique<MachineCode>(std::move(object), Origin::memory);
  const cache::Store store(config::get("compiledir") + "/objects", config::get_int("cache__size") << 20);
  Origin origin = Origin::store;
  double generating = 0;
  Shared object = load(store, key);
  if (!object && generator.interprets_first)
    if (auto code = interpret_first(generator, program, target, CacheEntry{store, key})) return code;
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
  constexpr std::string_view names[] = {"generated", "store", "memory", "interpreted"};
  return names[std::size_t(origin)];
}

}  // namespace bitale::codegen
