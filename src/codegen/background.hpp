// Work that can't be interrupted, such as LLVM's passes, in a thread of its own: the calling thread waits and polls for
// interruptions meanwhile. An interrupted caller leaves the work to itself: it ends some time later, and nobody gets
// what it has made.
#pragma once

#include <functional>
#include <string>

namespace bitale::codegen {

// What `work` returns or throws, or what the host throws to interrupt the call. The work must own all that it uses.
std::string in_background(std::function<std::string()> work);

// Returns when no work is left. A host calls it before the process begins to exit: LLVM's global objects are destroyed
// then, and work that still runs must not see that.
void wait_for_background_work();

}  // namespace bitale::codegen
