// Waiting for other threads. A host whose threads hold a lock while they run (Python's interpreter lock) must release
// it meanwhile: the event that the thread waits for may need that lock. The host registers a hook for this, once.
#pragma once

#include "bitale/core/language.hpp"

#include <utility>

namespace bitale {

// Calls wait(context), without the host's lock if the calling thread holds it.
using BlockingHook = void (*)(void (*wait)(void*) noexcept, void* context);
void set_blocking_hook(BlockingHook hook);

namespace blocking {
void run(void (*wait)(void*) noexcept, void* context);
}

// Runs `wait`, which must not throw, through the host's hook.
template <class Wait>
void while_blocked(Wait wait) {
  blocking::run([](void* context) noexcept { (*static_cast<Wait*>(context))(); }, &wait);
}

}  // namespace bitale
