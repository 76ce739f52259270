// The number of active replays of this thread.
#include "graph/replay.hpp"

namespace bitale {

namespace {
thread_local int running = 0;
}  // namespace

Replay::Replay() { ++running; }
Replay::~Replay() { --running; }
bool Replay::is_running() { return running != 0; }

}  // namespace bitale
