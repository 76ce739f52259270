// Waiting for other threads. A host whose threads hold a lock of its own while they run (Python's interpreter lock)
// must let go of it meanwhile: what the thread waits for may need that lock. The host registers how, once.
#pragma once

#include <utility>

namespace bitale {

// Calls wait(context), without the host's lock if the calling thread holds it.
using BlockingHook = void (*)(void (*wait)(void*) noexcept, void* context);
void set_blocking_hook(BlockingHook hook);

namespace blocking {
void run(void (*wait)(void*) noexcept, void* context);
}

// Runs `wait`, which must not throw, as the host wants it.
template <class Wait>
void while_blocked(Wait wait) {
  blocking::run([](void* context) noexcept { (*static_cast<Wait*>(context))(); }, &wait);
}

}  // namespace bitale
