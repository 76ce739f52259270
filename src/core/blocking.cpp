#include "bitale/core/blocking.hpp"

#include <atomic>

namespace bitale {

namespace {
std::atomic<BlockingHook> registered{nullptr};
}

void set_blocking_hook(BlockingHook hook) { registered.store(hook); }

void blocking::run(void (*wait)(void*) noexcept, void* context) {
  if (const BlockingHook hook = registered.load())
    hook(wait, context);
  else
    wait(context);
}

}  // namespace bitale
