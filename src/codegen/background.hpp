// Work in threads of its own. Work that can't be interrupted, such as LLVM's passes: the calling thread waits and polls
// for interruptions meanwhile; an interrupted caller leaves the work to itself, which ends some time later, and nobody
// gets what it has made. And work that nobody waits for, such as better code for functions that already run.
#pragma once

#include <functional>
#include <string>

namespace bitale::codegen {

// What `work` returns or throws, or what the host throws to interrupt the call. The work must own all that it uses.
std::string in_background(std::function<std::string()> work);

// Runs the work some time, one after the other with other such work. What it throws is lost, and so is work that has
// not begun when the process exits, or in a child process.
void run_later(std::function<void()> work);
// To be called in a thread that may cause such work, as early as possible: if it is the main thread, the process ends
// that work before it begins to exit.
void end_background_work_at_exit();

// Returns when no work is left.
void wait_for_background_work();
// Drops what has not begun, and returns when nothing runs. A host calls it before the process begins to exit: LLVM's
// global objects are destroyed then, and work that still runs must not see that.
void end_background_work();

}  // namespace bitale::codegen
